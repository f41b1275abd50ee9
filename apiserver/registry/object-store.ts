import type { Backend } from '../storage/backend';
import type { Transformer } from '../storage/transformer';
import type { ClusterCache } from '../watch/cluster-cache';
import type { UserInfo } from '../exchange/exchange';
import type { Clock } from '../../shared/concurrency/clock';
import type { RandomInt } from '../../shared/meta/generate-name';
import { conflict } from '../../shared/errors/status-error';
import type { Admission, AdmissionAttributes, AdmissionOperation } from './admission';
import type { ApiObject } from '../../shared/meta/object';
import type { Endpoint } from './resource';
import { relativeKey } from './resource';
import { currentOfEntry, currentOfRecord, encodeForStorage } from './stored-form';
import type { Current, WriteTarget } from './write';

/** Everything a read or write needs of the process. */
export interface StoreContext {
  readonly backend: Backend;
  readonly cache: ClusterCache;
  readonly transformer: Transformer;
  /** `/registry`, without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly randomInt: RandomInt;
  readonly admission: Admission;
  /** Undefined: events stay. */
  readonly eventTtlSeconds: number | undefined;
  /** How long a consistent read waits for the cache before it asks the store itself. */
  readonly cacheWaitMs: number;
}

/** What a write is aimed at, and who asks. */
export interface WriteRequest {
  readonly endpoint: Endpoint;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** The object at least as fresh as a read index taken now: from the cache as soon as that has caught up, else from the store. */
export async function readFresh(
  context: StoreContext,
  endpoint: Endpoint,
  key: string,
  signal: AbortSignal,
): Promise<Current | undefined> {
  const revision = await context.cache.readIndex(signal);
  const inTime = await context.cache.waitForRevision(revision, { timeoutMs: context.cacheWaitMs, signal });
  if (inTime && context.cache.resource(endpoint.stored.keyPrefix).isReady) {
    return currentFromCache(context, endpoint, key);
  }
  const { record } = await context.backend.get(absoluteKey(context, endpoint, key), signal);
  return record === undefined ? undefined : currentOfRecord(context.transformer, record);
}

export function currentFromCache(
  context: StoreContext,
  endpoint: Endpoint,
  key: string,
): Current | undefined {
  const { stored } = endpoint;
  const entry = context.cache.resource(stored.keyPrefix).get(key);
  return entry === undefined ? undefined : currentOfEntry(stored, entry);
}

export function absoluteKey(context: StoreContext, endpoint: Endpoint, key: string): string {
  return `${context.prefix}/${endpoint.stored.keyPrefix}${key}`;
}

/** The target of one write, for the optimistic loop. */
export function writeTarget(
  context: StoreContext,
  request: WriteRequest,
  options: { readonly assumeAbsent: boolean },
): WriteTarget {
  const { endpoint, namespace, name, dryRun } = request;
  const { stored } = endpoint;
  const key = relativeKey(stored, namespace, name);
  return {
    backend: context.backend,
    transformer: context.transformer,
    key: absoluteKey(context, endpoint, key),
    ttlSeconds: stored.strategy.expires === true ? context.eventTtlSeconds : undefined,
    dryRun,
    assumeAbsent: options.assumeAbsent,
    cached: () => currentFromCache(context, endpoint, key),
    fresh: (signal) => readFresh(context, endpoint, key, signal),
    decode: (record) => currentOfRecord(context.transformer, record),
    encode: (object) => encodeForStorage(stored, object),
    exhausted: () =>
      conflict(endpoint.row, name, 'too many other writers changed it at the same time; please try again'),
  };
}

/** Mutating admission, then what `prepare` makes of the object, then `validate`, then validating admission. */
export async function admit(
  context: StoreContext,
  request: WriteRequest,
  write: {
    readonly operation: AdmissionOperation;
    readonly object: ApiObject;
    readonly oldObject: ApiObject | undefined;
    prepare(object: ApiObject): ApiObject;
    validate(object: ApiObject): void;
  },
  signal: AbortSignal,
): Promise<ApiObject> {
  const attributes: AdmissionAttributes = { ...request, ...pick(write) };
  const mutated = (await context.admission.mutate(attributes, signal)) ?? write.object;
  const prepared = write.prepare(mutated);
  write.validate(prepared);
  await context.admission.validate({ ...attributes, object: prepared }, signal);
  return prepared;
}

function pick(write: {
  readonly operation: AdmissionOperation;
  readonly object: ApiObject;
  readonly oldObject: ApiObject | undefined;
}): Pick<AdmissionAttributes, 'operation' | 'object' | 'oldObject'> {
  return { operation: write.operation, object: write.object, oldObject: write.oldObject };
}
