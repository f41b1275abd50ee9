import { randomUUID } from 'node:crypto';
import { AUDIT_ANNOTATION } from '../../../shared/names';
import type { Log } from '../../../shared/log/log';
import type { AuditTrail, JsonBody, ObjectIdentity, WantedObjects } from '../request/audit-trail';
import { requestUri, withoutSecrets } from '../request/request-uri';
import type { Exchange, UserInfo } from '../request/exchange';
import type {
  EventFields,
  Level,
  ObjectReference,
  RecordedLevel,
  RequestFacts,
  ResponseStatus,
  Stage,
  UserFacts,
} from './event';
import { AuditEvent } from './event';
import { bodyWithin, oneLine } from './json-body';
import type { Decision } from './policy';
import { sourceIps } from './source-ips';

export interface RecordOptions {
  readonly log: Log;
  /** Longer objects are left out and annotated. */
  readonly objectBytesMax: number;
}

const ID_CHARS_MAX = 1_024;
const USER_AGENT_CHARS_MAX = 1_024;
const TRUNCATED = '...TRUNCATED';
const ANNOTATIONS_MAX = 64;
const ANNOTATION_CHARS_MAX = 4_096;

/** The audit record of one request in progress. */
export class AuditRecord implements AuditTrail {
  readonly #options: RecordOptions;
  readonly #exchange: Exchange;
  readonly #startedAt = performance.now();
  #id = '';
  #decision: Decision | undefined;
  #request: { readonly facts: RequestFacts; readonly json: string } | undefined;
  #objectRef: ObjectReference | undefined;
  #annotations: Record<string, string> | undefined;
  #requestObject: Buffer | undefined;
  #responseJson: (() => JsonBody | Promise<JsonBody>) | undefined;
  #status: Pick<ResponseStatus, 'status' | 'reason'> | undefined;

  constructor(exchange: Exchange, options: RecordOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  get id(): string {
    if (this.#id !== '') return this.#id;
    const given = String(this.#exchange.headers['audit-id'] ?? '').slice(0, ID_CHARS_MAX);
    this.#id = given === '' ? randomUUID() : given;
    return this.#id;
  }

  /** Undefined until `begin`. */
  get level(): Level | undefined {
    return this.#decision?.level;
  }

  /** Records user and request attributes as they are now. */
  begin(decision: Decision): void {
    this.#decision = decision;
    if (decision.level === 'None') return;
    const facts = factsOf(this.#exchange);
    this.#request = { facts, json: JSON.stringify(facts) };
    this.#objectRef = referenceOf(this.#exchange);
  }

  omits(stage: Stage): boolean {
    return this.#decision?.omitStages.has(stage) === true;
  }

  annotate(key: string, value: string, from?: 'Request'): void {
    if (from === 'Request' && this.level !== 'Request' && this.level !== 'RequestResponse') return;
    const annotations = (this.#annotations ??= {});
    const known = annotations[key];
    if (known !== undefined) {
      if (known === value) return;
      this.#options.log.warn(
        { audit: this.id, key, known, value },
        'audit annotation is already set; the new value is ignored',
      );
      return;
    }
    if (Object.keys(annotations).length >= ANNOTATIONS_MAX) {
      this.#options.log.warn(
        { audit: this.id, key },
        'too many audit annotations for one request; the annotation is dropped',
      );
      return;
    }
    annotations[key] = value.slice(0, ANNOTATION_CHARS_MAX);
  }

  impersonated(user: UserInfo): void {
    if (this.#request === undefined) return;
    const { requestURI, verb, user: requester, ...rest } = this.#request.facts;
    const facts = { requestURI, verb, user: requester, impersonatedUser: userOf(user), ...rest };
    this.#request = { facts, json: JSON.stringify(facts) };
  }

  requestObject(identity: ObjectIdentity | undefined, json: () => Buffer): void {
    if (this.#objectRef !== undefined && identity !== undefined) {
      this.#objectRef = completed(this.#objectRef, identity);
    }
    if (this.wants.request) {
      this.#requestObject = this.#within(oneLine(json()));
    }
  }

  responseObject(json: () => JsonBody | Promise<JsonBody>): void {
    if (this.wants.response) this.#responseJson = json;
  }

  get wants(): WantedObjects {
    const response = this.#wants('RequestResponse');
    return { request: response || this.#wants('Request'), response };
  }

  responseStatus({ status, reason }: Pick<ResponseStatus, 'status' | 'reason'>): void {
    this.#status = {
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** Returns the response object, which may have to be collected first; undefined if the level does not record it. */
  responseJson(): Promise<Buffer | undefined> | undefined {
    const make = this.#responseJson;
    if (make === undefined) return undefined;
    this.#responseJson = undefined;
    return this.#collect(make);
  }

  /** Returns the response status with the code. */
  statusOf(code: number): ResponseStatus {
    return { ...this.#status, code };
  }

  event(stage: Stage, responseStatus?: ResponseStatus, responseObject?: Buffer): AuditEvent {
    const { receivedAt } = this.#exchange;
    if (this.#request === undefined) throw new Error('audit event created before the policy decision');
    const fields: EventFields = {
      level: this.#decision?.level as RecordedLevel,
      auditId: this.id,
      stage,
      request: this.#request.facts,
      requestJson: this.#request.json,
      objectRef: this.#objectRef,
      responseStatus,
      requestObject: this.#requestObject,
      responseObject,
      receivedAtMs: receivedAt,
      stageAtMs: stage === 'RequestReceived' ? receivedAt : this.#nowMs(),
      annotations: this.#annotations === undefined ? undefined : { ...this.#annotations },
    };
    return new AuditEvent(fields);
  }

  /** Only resource requests have objects. */
  #wants(level: RecordedLevel): boolean {
    return this.#decision?.level === level && this.#exchange.info.isResourceRequest;
  }

  /** Microsecond precision for short requests; long ones use the system clock. */
  #nowMs(): number {
    const elapsedMs = performance.now() - this.#startedAt;
    return elapsedMs < PRECISE_MS_MAX ? this.#exchange.receivedAt + elapsedMs : Date.now();
  }

  async #collect(make: () => JsonBody | Promise<JsonBody>): Promise<Buffer | undefined> {
    try {
      const whole = await bodyWithin(await make(), this.#options.objectBytesMax);
      return this.#within(whole === undefined ? undefined : oneLine(whole));
    } catch (error) {
      this.#options.log.warn({ audit: this.id, error }, 'failed to audit the response of a request');
      return undefined;
    }
  }

  #within(bytes: Buffer | undefined): Buffer | undefined {
    if (bytes !== undefined && bytes.length <= this.#options.objectBytesMax) return bytes;
    this.annotate(AUDIT_ANNOTATION.truncated, 'true');
    return undefined;
  }
}

const PRECISE_MS_MAX = 10_000;

function factsOf(exchange: Exchange): RequestFacts {
  const { headers, info, user, remoteAddress } = exchange;
  const ips = sourceIps(headers, remoteAddress);
  const agent = headers['user-agent'] ?? '';
  return {
    requestURI: withoutSecrets(requestUri(exchange)),
    verb: info.verb,
    user: userOf(user),
    ...(ips.length === 0 ? {} : { sourceIPs: ips }),
    ...(agent === '' ? {} : { userAgent: shortened(agent) }),
  };
}

function shortened(agent: string): string {
  return agent.length > USER_AGENT_CHARS_MAX ? agent.slice(0, USER_AGENT_CHARS_MAX) + TRUNCATED : agent;
}

function userOf({ name, uid, groups, extra }: UserInfo): UserFacts {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function referenceOf({ info }: Exchange): ObjectReference | undefined {
  if (!info.isResourceRequest) return undefined;
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  return { resource, namespace, name, uid: '', apiGroup, apiVersion, resourceVersion: '', subresource };
}

/** Completes the reference with the identity of the object. */
function completed(reference: ObjectReference, identity: ObjectIdentity): ObjectReference {
  return {
    ...reference,
    namespace: reference.namespace || (identity.namespace ?? ''),
    name: reference.name || (identity.name ?? ''),
    uid: identity.uid ?? '',
    resourceVersion: identity.resourceVersion ?? '',
  };
}
