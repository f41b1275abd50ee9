import type { Answer, ApiClient, Body, RequestOptions } from '../../support/client';
import type { ObjectOperation, ObjectState, Outcome, RunRecord } from '../record/operation';
import type { DrawnRequest } from './draw';
import { collectionOf, objectPathOf } from './draw';

/** The time that a client waits for a frozen replica before it uses another one. */
const REQUEST_TIMEOUT_MS = 1_500;
const FIELD_MANAGER = 'robustness';

/** One client that sends random requests and records the responses. */
export class ObjectClient {
  readonly #replicas: readonly ApiClient[];
  readonly #record: RunRecord;
  /** The newest version that this client received from any replica. */
  #newest = 0;

  constructor(replicas: readonly ApiClient[], record: RunRecord) {
    this.#replicas = replicas;
    this.#record = record;
  }

  get newest(): number {
    return this.#newest;
  }

  /** Resolves when the answer is recorded; never rejects. */
  async send(drawn: DrawnRequest): Promise<Outcome> {
    if (drawn.verb === 'get') return this.#get(drawn).then(({ outcome }) => outcome);
    if (drawn.verb === 'deletecollection') return this.#deleteCollection(drawn);
    const isGuarded =
      drawn.verb === 'guarded update' || (drawn.verb === 'update' && drawn.resource.isReplaceable === false);
    if (!isGuarded) return this.#write({ ...drawn }, requestOf(drawn));
    const { outcome, body, state } = await this.#get({ ...drawn, freshness: 'most recent' });
    if (outcome !== 'done' || body === undefined || state === undefined) return outcome;
    const request = requestOf({ ...drawn, verb: 'guarded update' }, body);
    return this.#write({ ...drawn, verb: 'guarded update' }, request, state);
  }

  async #get(drawn: DrawnRequest): Promise<{
    readonly outcome: Outcome;
    readonly body?: Body;
    readonly state?: ObjectState;
  }> {
    const invokedMs = performance.now();
    const { freshness } = drawn;
    // After a read at an old version any later state is valid, which `linearizable` cannot express: only the age is checked.
    const query =
      freshness === 'not older than' && this.#newest > 0 ? `?resourceVersion=${String(this.#newest)}` : '';
    const asked = this.#newest;
    const answer = await this.#ask(drawn.replica, { path: `${objectPathOf(drawn)}${query}` });
    const outcome = outcomeOf(answer);
    const state = outcome === 'done' && answer !== undefined ? stateOf(answer.body) : undefined;
    if (query === '') {
      this.#note(drawn, { invokedMs, outcome, verb: 'get', turn: '' }, state);
    } else if (state !== undefined) {
      this.#record.ages.push({ key: drawn.key, replica: drawn.replica, asked, invokedMs, ...state });
    }
    return { outcome, ...(state === undefined || answer === undefined ? {} : { body: answer.body, state }) };
  }

  async #write(drawn: DrawnRequest, request: RequestOptions, expected?: ObjectState): Promise<Outcome> {
    const invokedMs = performance.now();
    const answer = await this.#ask(drawn.replica, request);
    const outcome = outcomeOf(answer);
    const isDeletion = drawn.verb === 'delete';
    const version = isDeletion ? undefined : Number(answer?.body.metadata?.resourceVersion);
    const turn = isDeletion ? '' : drawn.turn;
    const rest = {
      invokedMs,
      outcome,
      verb: drawn.verb,
      turn,
      ...(expected === undefined ? {} : { expected }),
    };
    this.#note(drawn, rest, outcome === 'done' && version !== undefined ? { version, turn } : undefined);
    return outcome;
  }

  /** It may have deleted each of its objects; objects of other clients are not included. */
  async #deleteCollection(drawn: DrawnRequest): Promise<Outcome> {
    const invokedMs = performance.now();
    const answer = await this.#ask(drawn.replica, {
      method: 'DELETE',
      path: `${collectionOf(drawn)}?labelSelector=${encodeURIComponent(`half=${drawn.half},name=${drawn.name}`)}`,
      body: { gracePeriodSeconds: 0 },
    });
    const outcome = outcomeOf(answer);
    this.#note(drawn, { invokedMs, outcome, verb: 'deletecollection', turn: '' });
    return outcome;
  }

  #note(
    { key, replica }: DrawnRequest,
    rest: Pick<ObjectOperation, 'invokedMs' | 'outcome' | 'verb' | 'turn' | 'expected'>,
    state?: ObjectState,
  ): void {
    const returnedMs = rest.outcome === 'unknown' ? Infinity : performance.now();
    const isRead = rest.verb === 'get';
    this.#record.objects.push({
      key,
      replica,
      returnedMs,
      ...rest,
      ...(state === undefined ? {} : { version: state.version, ...(isRead ? { seen: state.turn } : {}) }),
    });
    if (state !== undefined) this.#newest = Math.max(this.#newest, state.version);
  }

  async #ask(replica: number, request: RequestOptions): Promise<Answer | undefined> {
    const client = this.#replicas[replica];
    if (client === undefined) throw new Error(`There is no replica ${String(replica)}.`);
    return client.request({ timeoutMs: REQUEST_TIMEOUT_MS, ...request }).catch(() => undefined);
  }
}

/** The outcome in the answer; undefined without an answer. */
export function outcomeOf(answer: Answer | undefined): Outcome {
  if (answer === undefined || answer.status >= 500 || answer.status === 429) return 'unknown';
  if (answer.status < 300) return 'done';
  if (answer.status === 404) return 'absent';
  if (answer.status !== 409) return 'refused';
  return answer.body.reason === 'AlreadyExists' ? 'present' : 'conflict';
}

function stateOf({ metadata }: Body): ObjectState {
  const { turn = '' } = metadata?.annotations ?? {};
  return { turn, version: Number(metadata?.resourceVersion) };
}

function requestOf(drawn: DrawnRequest, now?: Body): RequestOptions {
  const { verb, resource, name, half, turn } = drawn;
  const { group, version, kind } = resource;
  const metadata = { name, labels: { half, name }, annotations: { turn } };
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const body = { apiVersion, kind, metadata, ...resource.content(turn) };
  const path = objectPathOf(drawn);
  const marks = { metadata: { labels: metadata.labels, annotations: metadata.annotations } };
  switch (verb) {
    case 'create':
      return { method: 'POST', path: collectionOf(drawn), body };
    case 'update':
      return { method: 'PUT', path, body };
    case 'guarded update':
      return { method: 'PUT', path, body: { ...now, metadata: { ...now?.metadata, ...metadata } } };
    case 'merge patch':
      return patch(path, 'merge-patch+json', marks);
    case 'strategic patch':
      return patch(path, 'strategic-merge-patch+json', marks);
    case 'JSON patch':
      return patch(path, 'json-patch+json', [
        { op: 'replace', path: '/metadata/annotations/turn', value: turn },
        { op: 'replace', path: '/metadata/labels/half', value: half },
      ]);
    case 'apply':
      return patch(`${path}?fieldManager=${FIELD_MANAGER}&force=true`, 'apply-patch+yaml', body);
    case 'status':
      return patch(`${path}/status`, 'merge-patch+json', marks);
    case 'delete':
      return { method: 'DELETE', path, body: { gracePeriodSeconds: 0 } };
    case 'deletecollection':
    case 'get':
      break;
  }
  throw new Error(`${verb} is no write of one object.`);
}

function patch(path: string, type: string, body: unknown): RequestOptions {
  return { method: 'PATCH', path, body, headers: { 'content-type': `application/${type}` } };
}
