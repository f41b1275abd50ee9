import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../shared/concurrency/clock';
import type { Log } from '../shared/log/log';
import { GROUP } from '../shared/names';
import type { ApiObject } from '../shared/meta/object';
import { createAdmission } from './admission/chain';
import { admitNamespaceLifecycle } from './admission/namespace-lifecycle';
import type { StoreContext } from './registry/object-store';
import { currentFromCache, readFresh } from './registry/object-store';
import type { Registry } from './registry/registry';
import { createRegistry } from './registry/registry';
import { servedDefinitions } from './registry/served';
import type { Backend } from './storage/backend';
import { identityTransformer } from './storage/transformer';
import { ClusterCache } from './watch/cluster-cache';
import type { CacheLimits } from './watch/limits';

/** How long a consistent read waits for the cache before the store itself is asked. */
const CACHE_WAIT_MS = 3_000;

export interface ControlPlaneOptions {
  readonly backend: Backend;
  /** `/registry`: without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 keeps events for ever. */
  readonly eventTtlSeconds: number;
  readonly limits?: Partial<CacheLimits>;
}

/** Registry, cache and admission over one backend: everything of a server but its doors. */
export interface ControlPlane {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly store: StoreContext;
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const registry = createRegistry(servedDefinitions(), 1);
  const { backend, prefix, clock, log } = options;
  const cache = new ClusterCache({
    backend,
    transformer: identityTransformer,
    prefix,
    resources: registry.stored,
    log,
    clock,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const store: StoreContext = {
    backend,
    cache,
    transformer: identityTransformer,
    prefix,
    clock,
    newUid: randomUUID,
    randomInt: (bound) => randomInt(bound),
    admission: createAdmission([
      {
        name: 'NamespaceLifecycle',
        async mutate(attributes, signal) {
          await admitNamespaceLifecycle(
            attributes,
            namespaceReader(registry, () => store),
            signal,
          );
          return attributes.object;
        },
      },
    ]),
    eventTtlSeconds: options.eventTtlSeconds === 0 ? undefined : options.eventTtlSeconds,
    cacheWaitMs: CACHE_WAIT_MS,
  };
  return { registry: () => registry, cache, store };
}

function namespaceReader(
  registry: Registry,
  store: () => StoreContext,
): Parameters<typeof admitNamespaceLifecycle>[1] {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'namespaces');
  if (endpoint === undefined) throw new Error('namespaces are not served');
  return {
    cached: (name): ApiObject | undefined => currentFromCache(store(), endpoint, name)?.object,
    fresh: async (name, signal) => (await readFresh(store(), endpoint, name, signal))?.object,
  };
}
