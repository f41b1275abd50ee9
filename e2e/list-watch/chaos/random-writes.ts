import type { Answer, ApiClient } from '../../support/client';
import type { Random } from './seeded-random';
import type { WrittenResource } from './views';
import { HALVES, NAMESPACES, pathOf, RESOURCES } from './views';

export interface RandomWritesOptions {
  /** Each write uses one of these clients. */
  readonly clients: readonly ApiClient[];
  readonly random: Random;
  /** The number of writes to acknowledge. */
  readonly acknowledged: number;
  readonly concurrency: number;
  /** Called after each acknowledged write with their number so far. */
  readonly onAcknowledged?: (count: number) => void;
}

/** The result of the writers. */
export interface WriteReport {
  /** Versions of acknowledged writes other than deletions, by resource. */
  readonly versions: ReadonlyMap<string, readonly number[]>;
  /** The uids of acknowledged deletions, by resource. Two concurrent deletions of a pod are both acknowledged, as in v1.21. */
  readonly deletions: ReadonlyMap<string, ReadonlySet<string>>;
  /** Acknowledged writes by verb. */
  readonly acknowledged: Readonly<Record<string, number>>;
  /** Refused writes: the object existed, or was missing, or had changed. */
  readonly refused: number;
  /** Writes of unknown outcome: a broken connection, a timeout, 5xx. */
  readonly unknown: number;
}

const OBJECTS_PER_PLACE = 20;
/** Writers leave a frozen replica after this time. */
const WRITE_TIMEOUT_MS = 1_500;
/** The number of consecutive failures that means a permanent fault. */
const FAILURES_MAX = 20_000;
const FAILURE_PAUSE_MS = 20;

interface Place {
  readonly resource: WrittenResource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly body: object;
}

type WriteVerb = 'create' | 'update' | 'guarded update' | 'merge patch' | 'JSON patch' | 'apply' | 'delete';

const VERBS: readonly (readonly [number, WriteVerb])[] = [
  [30, 'create'],
  [15, 'update'],
  [5, 'guarded update'],
  [15, 'merge patch'],
  [8, 'JSON patch'],
  [7, 'apply'],
  [20, 'delete'],
];

/** Creates, updates, patches and deletes in random order until enough writes are acknowledged. Failed writes are not retried. */
export async function writeAtRandom(options: RandomWritesOptions): Promise<WriteReport> {
  const { clients, random, concurrency } = options;
  const versions = new Map<string, number[]>(RESOURCES.map(({ resource }) => [resource, []]));
  const deletions = new Map(RESOURCES.map(({ resource }) => [resource, new Set<string>()]));
  const acknowledged: Record<string, number> = {};
  /** Objects that probably exist, so that most writes succeed. */
  const present = new Set<string>();
  let [done, refused, unknown, failures, turn] = [0, 0, 0, 0, 0];

  const one = async (): Promise<void> => {
    turn++;
    const place = anywhere(random, String(turn));
    const key = `${place.resource.resource}/${place.namespace ?? ''}/${place.name}`;
    const drawn = random.weighted(VERBS);
    const verb =
      present.has(key) === (drawn === 'create') && random.below(20) > 0 ? opposite(random, drawn) : drawn;
    const api = clients[random.below(clients.length)] ?? fail('No client to write through.');
    const answer = await send(api, verb, place).catch(() => undefined);
    if (answer === undefined || answer.status >= 500 || answer.status === 429) {
      unknown++;
      if (++failures > FAILURES_MAX)
        fail(`Nothing was acknowledged in ${String(failures)} writes: ${answer?.text ?? ''}`);
      await new Promise((resolve) => setTimeout(resolve, FAILURE_PAUSE_MS));
      return;
    }
    if (answer.status === 404 || verb === 'delete') present.delete(key);
    else present.add(key);
    if (answer.status === 404 || answer.status === 409) {
      refused++;
      return;
    }
    if (answer.status >= 300) fail(`${verb} of ${key} was answered ${String(answer.status)}: ${answer.text}`);
    failures = 0;
    done++;
    options.onAcknowledged?.(done);
    acknowledged[verb] = (acknowledged[verb] ?? 0) + 1;
    const { resource } = place.resource;
    if (verb === 'delete')
      deletions.get(resource)?.add(uidOf(answer) ?? fail(`A deletion of ${key} names no uid.`));
    else versions.get(resource)?.push(Number(answer.body.metadata?.resourceVersion));
  };
  const writer = async (): Promise<void> => {
    while (done < options.acknowledged) await one();
  };
  await Promise.all(Array.from({ length: concurrency }, writer));
  return { versions, deletions, acknowledged, refused, unknown };
}

/** The uid of an object, or of the object of a Status. */
function uidOf({ body }: Answer): string | undefined {
  return body.metadata?.uid ?? body.details?.uid;
}

function anywhere(random: Random, turn: string): Place {
  const resource = RESOURCES[random.below(RESOURCES.length)] ?? fail('There are no resources.');
  const namespace = resource.isNamespaced ? NAMESPACES[random.below(NAMESPACES.length)] : undefined;
  const name = `o${String(random.below(OBJECTS_PER_PLACE))}`;
  const { group, version, kind } = resource;
  const body = {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name, labels: { half: HALVES[random.below(HALVES.length)] }, annotations: { turn } },
    ...resource.content(turn),
  };
  return { resource, namespace, name, body };
}

/** A create of an existing object becomes another verb, and another verb on a missing object becomes a create. */
function opposite(random: Random, verb: WriteVerb): WriteVerb {
  return verb === 'create' ? random.weighted(VERBS.slice(1)) : 'create';
}

interface Attempt {
  readonly api: ApiClient;
  readonly collection: string;
  readonly path: string;
  readonly body: object;
  /** The resourceVersion of the body. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

const ATTEMPTS: Readonly<Record<WriteVerb, (attempt: Attempt) => Promise<Answer>>> = {
  create: async ({ api, collection, body }) =>
    api.request({ method: 'POST', path: collection, body, timeoutMs: WRITE_TIMEOUT_MS }),
  update: async ({ api, path, body }) =>
    api.request({ method: 'PUT', path, body, timeoutMs: WRITE_TIMEOUT_MS }),
  'guarded update': async ({ api, path, metadata }) => {
    const now = await api.request({ path, timeoutMs: WRITE_TIMEOUT_MS });
    if (now.status !== 200) return now;
    const guarded = { ...now.body, metadata: { ...now.body.metadata, ...metadata } };
    return api.request({ method: 'PUT', path, body: guarded, timeoutMs: WRITE_TIMEOUT_MS });
  },
  'merge patch': async (attempt) => patch(attempt, 'merge-patch+json', { metadata: attempt.metadata }),
  'JSON patch': async (attempt) =>
    patch(attempt, 'json-patch+json', [
      { op: 'add', path: '/metadata/annotations', value: attempt.metadata['annotations'] },
      { op: 'replace', path: '/metadata/labels', value: attempt.metadata['labels'] },
    ]),
  apply: async (attempt) =>
    patch(
      { ...attempt, path: `${attempt.path}?fieldManager=chaos&force=true` },
      'apply-patch+yaml',
      attempt.body,
    ),
  delete: async ({ api, path }) =>
    api.request({
      method: 'DELETE',
      path,
      body: { gracePeriodSeconds: 0 },
      timeoutMs: WRITE_TIMEOUT_MS,
    }),
};

async function patch({ api, path }: Attempt, type: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': `application/${type}` };
  return api.request({ method: 'PATCH', path, body, headers, timeoutMs: WRITE_TIMEOUT_MS });
}

async function send(
  api: ApiClient,
  verb: WriteVerb,
  { resource, namespace, name, body }: Place,
): Promise<Answer> {
  const { metadata } = body as { readonly metadata: Readonly<Record<string, unknown>> };
  const chosen = verb === 'update' && resource.isReplaceable === false ? 'guarded update' : verb;
  const collection = pathOf(resource, namespace);
  return ATTEMPTS[chosen]({ api, collection, path: pathOf(resource, namespace, name), body, metadata });
}

function fail(message: string): never {
  throw new Error(message);
}
