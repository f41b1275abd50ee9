import { conflict, timeout } from '../../../shared/errors/status-error';
import { absoluteKey, currentWithin, lastSeen, readFresh, readStored } from './current';
import type { LoopBounds } from '../request/loop-bounds';
import { converting } from './conversion-needed';
import type { ReadContext } from './read-context';
import type { StoredResource } from './resource';
import { API_SERVER_USER } from './api-server-user';
import { relativeKey } from './resource';
import { asDefined, asKnown, currentOfWritten, encodeForStorage, NewerFieldsLostError } from './stored-form';
import type { Current, WriteTarget } from './write';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';

/** Creates the target of a write for the optimistic loop. */
export function writeTarget(
  context: WriteContext,
  request: WriteRequest,
  options: { readonly assumeAbsent: boolean },
): WriteTarget {
  const { endpoint, namespace, name, dryRun, bounds } = request;
  const bounded = bounds === undefined ? context : within(context, bounds);
  const { stored } = endpoint;
  const key = relativeKey(stored, namespace, name);
  const absolute = absoluteKey(context, endpoint, key);
  const read = context.encrypted.has(stored.keyPrefix) ? readStored : readFresh;
  const defined = (
    current: Current | undefined,
    signal: AbortSignal,
  ): Current | undefined | Promise<Current> =>
    current === undefined ? undefined : converting(() => readable(stored, current), signal);
  return {
    backend: context.backend,
    key: absolute,
    ttlSeconds: stored.strategy.expires === true ? context.eventTtlSeconds : undefined,
    dryRun,
    assumeAbsent: options.assumeAbsent,
    isUncached: context.cache.fillsOnDemand && !context.cache.resource(stored.keyPrefix).isReady,
    cached: (signal) => defined(lastSeen(bounded, endpoint, key), signal),
    fresh: async (signal) => defined(await read(bounded, endpoint, key, signal), signal),
    catchUp: (revision, signal) => catchUp(context, revision, signal),
    decode: (record, signal) => {
      const current = currentWithin(bounded, endpoint, record);
      return converting(() => readable(stored, current), signal);
    },
    // Admission may have changed the object in any way: this encoding proves again that it is canonical (ADR
    // 30).
    encode: (object, signal, over) =>
      converting(() => {
        try {
          return encodeForStorage(stored, object, over);
        } catch (error) {
          throw error instanceof NewerFieldsLostError ? conflict(endpoint.row, name, error.message) : error;
        }
      }, signal),
    announce: (encoded) => {
      context.cache.recent.announce(absolute, encoded);
    },
    remember: (written) => {
      const { recent } = context.cache;
      if (written === undefined) recent.delete(absolute);
      else recent.written(absolute, currentOfWritten(written), context.clock.now());
    },
    ...(context.appliesAtOnce?.(stored) === true && mustSettle(context, request)
      ? { settle: async (revision, signal) => settle(context, revision, signal) }
      : {}),
    exhausted: () =>
      conflict(endpoint.row, name, 'too many other writers changed it at the same time; please try again'),
  };
}

function readable(stored: StoredResource, current: Current): Current {
  return asKnown(stored, asDefined(stored, current));
}

/**
 * Contexts by their bounds, of which there are few: copying one for each write would cost as much as a step.
 */
const contextsWithin = new WeakMap<WriteContext, Map<LoopBounds, WriteContext>>();

function within(context: WriteContext, bounds: LoopBounds): WriteContext {
  const known = contextsWithin.get(context)?.get(bounds);
  if (known !== undefined) return known;
  const bounded = { ...context, bounds };
  const all = contextsWithin.get(context) ?? new Map<LoopBounds, WriteContext>();
  contextsWithin.set(context, all.set(bounds, bounded));
  return bounded;
}

/** Bootstrap waits once for all of its objects. A cache that fills on demand does not follow these resources. */
function mustSettle({ cache }: ReadContext, { user }: WriteRequest): boolean {
  return user !== API_SERVER_USER && !cache.fillsOnDemand;
}

/** A stalled feed delays the acknowledgement of a write by at most this time. */
const SETTLE_MS_MAX = 1_000;

/** Waits until the cache has the revision. Never rejects: the write has succeeded, even if its effect is late. */
async function settle({ cache }: ReadContext, revision: number, signal: AbortSignal): Promise<void> {
  await cache.waitForRevision(revision, { timeoutMs: SETTLE_MS_MAX, signal }).catch(() => false);
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Waits until admission cannot see anything older than `revision`; throws Timeout (504) when that takes too
 * long. The reader of the plugins refuses to read a cache that is being rebuilt.
 */
async function catchUp(
  { cache, cacheWaitMs: timeoutMs }: ReadContext,
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  if ((await cache.freshen({ of: [], revision, timeoutMs, refill: 'wait' }, signal)) === 'fresh') return;
  throw timeout('the cache of this server is behind the store', RETRY_AFTER_SECONDS);
}
