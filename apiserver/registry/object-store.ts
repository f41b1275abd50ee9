import type { Backend, Guard } from '../storage/backend';
import type { Transformer } from '../storage/transformer';
import type { ClusterCache } from '../cache/cluster-cache';
import type { UserInfo } from '../exchange/exchange';
import type { Clock } from '../../shared/concurrency/clock';
import { Pace } from '../../shared/concurrency/pace';
import type { RandomInt } from '../../shared/meta/generate-name';
import { conflict, timeout } from '../../shared/errors/status-error';
import type { Reserved, Reserver } from './reservation';
import type { Admission, AdmissionAttributes, AdmissionOperation } from './admission';
import type { ApiObject } from '../../shared/object/object';
import type { Endpoint, StoredResource } from './resource';
import { relativeKey } from './resource';
import {
  asDefined,
  currentOfEntry,
  currentOfRecord,
  currentOfWritten,
  encodeForStorage,
  isOfEntry,
} from './stored-form';
import type { KindSettings, WriteInfo } from './strategy';
import { DEFAULT_KIND_SETTINGS } from './strategy';
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
  /** What kinds may ask for beyond their own key; a kind whose reserver is absent gets nothing. */
  readonly reservers?: ReadonlyMap<Reserved, Reserver>;
  /** Undefined: events stay. */
  readonly eventTtlSeconds: number | undefined;
  /** How long a consistent read waits for the cache before it asks the store itself. */
  readonly cacheWaitMs: number;
  /** Off: managedFields are not tracked, and every create and update takes away those that the object has. */
  readonly serverSideApply: boolean;
  /** By default those of kube-apiserver. */
  readonly kindSettings?: KindSettings;
}

/** What a write is aimed at, and who asks. */
export interface WriteRequest {
  readonly endpoint: Endpoint;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** The name that the path holds: that of a new object is in the object alone. Absent where there is no path. */
  readonly nameInPath?: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Whose fields in managedFields the change becomes; absent: nobody's, managedFields stay as they are in the object. */
  readonly manager?: string;
  /** Tells the client something in a Warning header. */
  readonly warn?: (text: string) => void;
  /** What the request's `fieldManager` parameter says; absent where it says nothing. */
  readonly fieldManager?: string;
  /** Notes something in the audit event of the request, or only in one of a level from this on. */
  readonly annotate?: (key: string, value: string, from?: 'Request') => void;
}

/** The object at least as fresh as a read index taken now: from the cache as soon as that has caught up, else from the store. */
export async function readFresh(
  context: StoreContext,
  endpoint: Endpoint,
  key: string,
  signal: AbortSignal,
): Promise<Current | undefined> {
  const { cache, cacheWaitMs: timeoutMs } = context;
  const of = [cache.resource(endpoint.stored.keyPrefix)];
  if ((await cache.freshen({ of, timeoutMs, refill: 'behind' }, signal)) === 'fresh') {
    return currentFromCache(context, endpoint, key);
  }
  const { record } = await context.backend.get(absoluteKey(context, endpoint, key), signal);
  return record === undefined ? undefined : currentOfRecord(context.transformer, record);
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Waits until admission cannot judge by anything older than `revision`; throws Timeout (504) when that takes too long. What admission looks
 * at is up to its plugins, whose reader refuses what is being read anew.
 */
async function catchUp(
  { cache, cacheWaitMs: timeoutMs }: StoreContext,
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  if ((await cache.freshen({ of: [], revision, timeoutMs, refill: 'wait' }, signal)) === 'fresh') return;
  throw timeout('the cache of this server is behind the store', RETRY_AFTER_SECONDS);
}

/** The object as the cache has it now. */
export function currentFromCache(
  context: StoreContext,
  endpoint: Pick<Endpoint, 'stored'>,
  key: string,
): Current | undefined {
  const { stored } = endpoint;
  const { recent } = context.cache;
  const entry = context.cache.resource(stored.keyPrefix).get(key);
  if (entry === undefined) return undefined;
  const absolute = absoluteKey(context, endpoint, key);
  const known = recent.get(absolute);
  if (known !== undefined && isOfEntry(known, entry)) return known;
  const current = currentOfEntry(stored, entry);
  recent.read(absolute, current);
  return current;
}

/** How long the cache may take to hear of a write. Far too short for a store to be put back and come to the same revision again. */
const CACHE_LAG_MS = 1_000;

/** The same, but what this server wrote itself a moment ago counts before the cache has heard of it. */
export function lastSeen(
  context: StoreContext,
  endpoint: Pick<Endpoint, 'stored'>,
  key: string,
): Current | undefined {
  const absolute = absoluteKey(context, endpoint, key);
  const written = context.cache.recent.writtenSince(absolute, context.clock.now() - CACHE_LAG_MS);
  const { revision } = context.cache.resource(endpoint.stored.keyPrefix);
  return written !== undefined && written.revision > revision
    ? written
    : currentFromCache(context, endpoint, key);
}

export function absoluteKey(context: StoreContext, endpoint: Pick<Endpoint, 'stored'>, key: string): string {
  return `${context.prefix}/${endpoint.stored.keyPrefix}${key}`;
}

/** The kind as a refusal names it. */
export function kindInErrors({ kind, group, strategy }: StoredResource): {
  readonly group: string;
  readonly kind: string;
} {
  return { group: strategy.groupInErrors ?? group, kind };
}

/** What the hooks of the kind may know of the request. */
export function writeInfo(context: StoreContext, { endpoint, user }: WriteRequest): WriteInfo {
  const { clock, kindSettings = DEFAULT_KIND_SETTINGS } = context;
  return { via: endpoint.row, user, nowMs: clock.now(), settings: kindSettings };
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
  const absolute = absoluteKey(context, endpoint, key);
  const defined = (current: Current | undefined): Current | undefined =>
    current === undefined ? undefined : asDefined(stored, current);
  return {
    backend: context.backend,
    transformer: context.transformer,
    key: absolute,
    ttlSeconds: stored.strategy.expires === true ? context.eventTtlSeconds : undefined,
    dryRun,
    assumeAbsent: options.assumeAbsent,
    cached: () => defined(lastSeen(context, endpoint, key)),
    fresh: async (signal) => defined(await readFresh(context, endpoint, key, signal)),
    catchUp: (revision, signal) => catchUp(context, revision, signal),
    decode: (record) => asDefined(stored, currentOfRecord(context.transformer, record)),
    encode: (object) => encodeForStorage(stored, object),
    announce: (encoded) => {
      context.cache.recent.announce(absolute, encoded);
    },
    remember: (written) => {
      const { recent } = context.cache;
      if (written === undefined) recent.delete(absolute);
      else recent.written(absolute, currentOfWritten(written), context.clock.now());
    },
    ...reserveOf(context, request),
    exhausted: () =>
      conflict(endpoint.row, name, 'too many other writers changed it at the same time; please try again'),
  };
}

function reserveOf(
  { reservers }: StoreContext,
  { endpoint, namespace, name }: WriteRequest,
): Pick<WriteTarget, 'reserve'> {
  const { reserves } = endpoint.stored.strategy;
  const reserver = reserves === undefined ? undefined : reservers?.get(reserves);
  if (reserver === undefined) return {};
  return { reserve: (write, signal) => reserver({ ...write, namespace, name }, signal) };
}

/** An object that may be stored, and what must not change before it is. */
export interface Admitted {
  readonly object: ApiObject;
  readonly guards?: readonly Guard[];
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
): Promise<Admitted> {
  const guards = new Map<string, Guard>();
  const relyOn = (guard: Guard): void => {
    guards.set(guard.key, guard);
  };
  relyOnDefinition(context, request, { operation: write.operation, relyOn });
  const attributes: AdmissionAttributes = { ...request, ...pick(write), write: request, relyOn };
  const mutated = (await context.admission.mutate(attributes, signal)) ?? write.object;
  const pace = new Pace();
  const prepared = write.prepare(mutated);
  if (pace.isDue) await pace.rest();
  write.validate(prepared);
  if (pace.isDue) await pace.rest();
  await context.admission.validate({ ...attributes, object: prepared }, signal);
  return { object: prepared, ...(guards.size === 0 ? {} : { guards: [...guards.values()] }) };
}

function relyOnDefinition(
  { prefix }: StoreContext,
  { endpoint }: WriteRequest,
  write: { readonly operation: AdmissionOperation; readonly relyOn: (guard: Guard) => void },
): void {
  if (write.operation !== 'CREATE' && write.operation !== 'UPDATE') return;
  const base = endpoint.stored.strategy.reliesOn?.(write.operation);
  if (base !== undefined) write.relyOn({ key: `${prefix}/${base.key}`, revision: base.revision });
}

function pick(write: {
  readonly operation: AdmissionOperation;
  readonly object: ApiObject;
  readonly oldObject: ApiObject | undefined;
}): Pick<AdmissionAttributes, 'operation' | 'object' | 'oldObject'> {
  return { operation: write.operation, object: write.object, oldObject: write.oldObject };
}
