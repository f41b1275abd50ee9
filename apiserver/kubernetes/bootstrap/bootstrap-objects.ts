import { Backoff } from '../../../shared/concurrency/backoff';
import { systemClock } from '../../../shared/concurrency/clock';
import { pause } from '../../../shared/concurrency/pause';
import { timeout } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import type { HealthCheck } from '../../engine/observability/health/health-check';
import type { Backend } from '../../engine/storage/backend';
import type { Registry } from '../../engine/registry/registry';
import type { WriteContext } from '../../engine/registry/write-context';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { CustomResources } from '../custom-resources/custom-resources';
import type { ServiceAllocation } from '../kinds/service-allocation/service-allocation';
import { retryUntilAvailable } from '../../engine/storage/retry-until-available';
import type { AddressUpkeep } from './address-repair';
import { checkRecords } from './store-records';
import { createFirstObjects } from './first-objects';
import { createFirstNamespaces } from './namespaces';
import type { PolicyHook } from './policy-hook';
import type { StartHooks } from './start-hooks';

/** The parts of the control plane that the objects need. */
interface BootstrapPlane {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly store: WriteContext;
  readonly custom: CustomResources;
  readonly serviceAllocation: ServiceAllocation;
  readonly serviceAddresses?: AddressUpkeep | undefined;
}

export interface BootstrapObjectsParts {
  readonly plane: BootstrapPlane;
  readonly backend: Backend;
  /** The prefix of the objects: `/registry`. */
  readonly prefix: string;
  readonly policyHook: PolicyHook;
  readonly hooks: StartHooks;
  readonly log: Log;
  /** Whether the store is known to have all of them when the server starts. */
  readonly areThere?: boolean | undefined;
}

/** The objects that every cluster has from its first start, created if missing. */
export interface BootstrapObjects {
  /** Creates the objects once, for a store that may be empty. Rejects if it fails. */
  ensure(signal: AbortSignal): Promise<void>;
  /**
   * Runs again after every cache reload, because the store may have been replaced; until the signal aborts. Retries until it succeeds.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns whether everything was created since the last cache reload. */
  readonly isDone: () => boolean;
  /** Fails after a cache reload until all objects are ensured. */
  readonly check: HealthCheck;
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

export function createBootstrapObjects(parts: BootstrapObjectsParts): BootstrapObjects {
  const { plane, log } = parts;
  /** Counts the cache reloads, and records the last one after which everything was ensured. */
  let fills = 0;
  let ensuredFill = 0;
  let wake = (): void => undefined;
  return {
    async ensure(signal) {
      await plane.custom.start(signal);
      parts.hooks.done('definitionInformers', 'definitionsRead', 'openApi');
      watchFills(parts, () => {
        fills += 1;
        wake();
      });
      await ensureBootstrapObjects(parts, signal, parts.areThere);
    },
    async run(signal) {
      const backoff = new Backoff({ initialMs: RETRY_MIN_MS, maxMs: RETRY_MAX_MS });
      while (!signal.aborted) {
        if (ensuredFill === fills) await nextCall((called) => (wake = called), signal);
        if (signal.aborted) return;
        const fill = fills;
        try {
          await ensureBootstrapObjects(parts, signal);
          ensuredFill = fill;
          backoff.reset();
          log.info({ revision: plane.cache.revision }, 'the first objects of the store exist');
        } catch (error) {
          if (signal.aborted) return;
          log.error({ error: String(error) }, 'failed to create the first objects of the store; retrying');
          await pause(backoff.next(), signal);
        }
      }
    },
    isDone: () => ensuredFill === fills,
    check: {
      name: 'first-objects',
      paths: ['readyz'],
      check: async () =>
        Promise.resolve(
          ensuredFill < fills ? 'the store was reloaded; its first objects are being created' : undefined,
        ),
    },
  };
}

async function ensureBootstrapObjects(
  { plane, backend, prefix, policyHook, hooks, log }: BootstrapObjectsParts,
  signal: AbortSignal,
  areThere = false,
): Promise<void> {
  const { store, registry } = plane;
  const retrying = async (step: () => Promise<unknown>): Promise<unknown> =>
    retryUntilAvailable(step, { log, clock: systemClock }, signal);
  await retrying(async () => checkRecords(backend, prefix, signal));
  if (plane.serviceAddresses !== undefined)
    await retrying(async () => plane.serviceAddresses?.ensureDefault(signal));
  // Existing Services must claim their addresses before a client can request them.
  await retrying(async () => plane.serviceAllocation.repair(signal));
  if (!areThere) await retrying(async () => createFirstNamespaces(store, registry(), signal));
  hooks.done('bootstrapController');
  if (!areThere) await retrying(async () => createFirstObjects(store, registry(), signal));
  hooks.done('priorityClasses');
  if (!areThere) await policyHook.run(signal);
  // A replica must not report ready before its own cache has the roles and the flow control configuration.
  await retrying(async () => waitForCache(plane, signal));
  hooks.done('policy');
}

/** Waits until the watch cache has every write that was acknowledged before the call. Rejects with Timeout (504) when that takes too long. */
async function waitForCache({ cache, store }: BootstrapPlane, signal: AbortSignal): Promise<void> {
  const needs = { of: [], timeoutMs: store.cacheWaitMs, refill: 'wait' } as const;
  if ((await cache.freshen(needs, signal)) === 'behind')
    throw timeout('the watch cache is behind the store', 1);
}

/** The namespaces are reloaded together with all other caches. */
function watchFills({ plane: { cache, registry } }: BootstrapObjectsParts, filled: () => void): void {
  const namespaces = registry().endpoint(GROUP.core, 'v1', 'namespaces');
  if (namespaces === undefined) throw new Error('namespaces are not served');
  cache.resource(namespaces.stored.keyPrefix).follow({ changed: () => undefined, filled });
}

/** Resolves with the first call of the function passed to `hand`, or when the signal aborts. */
async function nextCall(hand: (called: () => void) => void, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const called = (): void => {
      signal.removeEventListener('abort', called);
      resolve();
    };
    hand(called);
    signal.addEventListener('abort', called, { once: true });
  });
}
