import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../shared/concurrency/clock';
import type { Log } from '../shared/log/log';
import { GROUP } from '../shared/names';
import { AdmissionMetrics } from './admission/admission-metrics';
import type { Authorizer } from './exchange/access';
import { createAdmission } from './admission/chain';
import { clusterReadings } from './admission/cluster-reader';
import type { PluginChoice, PluginContext } from './admission/plugins';
import { choosePlugins } from './admission/plugins';
import { createMissing } from './bootstrap/create-missing';
import type { AllocatedService, ServiceAllocation } from './registry/allocation/service-allocation';
import { createServiceAllocation } from './registry/allocation/service-allocation';
import type { AddressRange, ValueRange } from './registry/allocation/value-range';
import { parseAddressRange, parsePortRange } from './registry/allocation/value-range';
import type { StoreContext } from './registry/object-store';
import type { Registry } from './registry/registry';
import { RecentObjects } from './registry/recent-objects';
import { createRegistry } from './registry/registry';
import type { RuntimeConfig } from './registry/runtime-config';
import { DEFAULT_RUNTIME_CONFIG } from './registry/runtime-config';
import { servedDefinitions } from './registry/served';
import type { KindSettings } from './registry/strategy';
import { DEFAULT_KIND_SETTINGS } from './registry/strategy';
import { currentOfEntry } from './registry/stored-form';
import { record } from './registry/validation/accessors';
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
  /** Which versions are served; by default all that are not alpha. */
  readonly runtimeConfig?: RuntimeConfig;
  /** Whether configurations can be applied and managedFields are kept; by default they are. */
  readonly serverSideApply?: boolean;
  readonly limits?: Partial<CacheLimits>;
  /** By default those of kube-apiserver. */
  readonly kindSettings?: KindSettings;
  /** What Services get their addresses and ports from; by default the ranges of the flags. */
  readonly services?: ServiceRanges;
  /** By default the plugins of kube-apiserver's defaults. */
  readonly admission?: AdmissionOptions;
  /** Who may do what, for the plugins that ask. */
  readonly authorize: Authorizer;
}

export interface AdmissionOptions
  extends PluginChoice, Pick<PluginContext, 'configurations' | 'tolerationSeconds'> {}

export interface ServiceRanges {
  readonly addresses: AddressRange;
  readonly nodePorts: ValueRange;
}

/** Registry, cache and admission over one backend: everything of a server but its doors. */
export interface ControlPlane {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly store: StoreContext;
  readonly serviceAllocation: ServiceAllocation;
  readonly admissionMetrics: AdmissionMetrics;
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { kindSettings = DEFAULT_KIND_SETTINGS, runtimeConfig = DEFAULT_RUNTIME_CONFIG } = options;
  const registry = createRegistry(servedDefinitions(runtimeConfig, kindSettings), 1);
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
  const serviceAllocation = createServiceAllocation({
    backend,
    storePrefix: prefix,
    ...(options.services ?? defaultServiceRanges()),
    randomInt: (bound) => randomInt(bound),
    log,
    services: servicesIn(registry, () => store),
  });
  const admission = options.admission ?? DEFAULT_ADMISSION;
  const admissionMetrics = new AdmissionMetrics();
  const store: StoreContext = {
    backend,
    cache,
    transformer: identityTransformer,
    recent: new RecentObjects(),
    prefix,
    clock,
    newUid: randomUUID,
    randomInt: (bound) => randomInt(bound),
    admission: createAdmission({
      plugins: choosePlugins(admission, {
        authorize: options.authorize,
        clock,
        randomInt: (bound) => randomInt(bound),
        tolerationSeconds: admission.tolerationSeconds,
        configurations: admission.configurations,
        provideNamespace: async (name, signal) => provideNamespace(store, registry, { name, signal }),
        resourceOfKind: ({ group, version, kind }) =>
          registry.endpointsOf(group, version).find(({ row }) => row.kind === kind)?.row,
      }),
      newReading: clusterReadings(registry, () => store),
      metrics: admissionMetrics,
    }),
    reservers: new Map([['service addresses', serviceAllocation.reserve]]),
    eventTtlSeconds: options.eventTtlSeconds === 0 ? undefined : options.eventTtlSeconds,
    cacheWaitMs: CACHE_WAIT_MS,
    serverSideApply: options.serverSideApply ?? true,
    kindSettings,
  };
  return { registry: () => registry, cache, store, serviceAllocation, admissionMetrics };
}

/** The ranges of kube-apiserver. */
export const DEFAULT_SERVICE_ADDRESSES = '10.0.0.0/24';
export const DEFAULT_NODE_PORTS = '30000-32767';

/** That of kube-apiserver. */
export const DEFAULT_ADMISSION: AdmissionOptions = {
  enable: [],
  disable: [],
  tolerationSeconds: { notReady: 300, unreachable: 300 },
  configurations: new Map(),
};

function defaultServiceRanges(): ServiceRanges {
  const addresses = parseAddressRange(DEFAULT_SERVICE_ADDRESSES);
  const nodePorts = parsePortRange(DEFAULT_NODE_PORTS);
  if (!addresses.ok || nodePorts === undefined)
    throw new Error('the default ranges of Services are malformed');
  return { addresses: addresses.range, nodePorts };
}

async function provideNamespace(
  store: StoreContext,
  registry: Registry,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<void> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'namespaces');
  if (endpoint === undefined) throw new Error('namespaces are not served');
  await createMissing(store, endpoint, { metadata: { name } }, signal);
}

/** All Services from the cache, once it has come to the revision asked for. */
function servicesIn(
  registry: Registry,
  store: () => StoreContext,
): (revision: number, signal: AbortSignal) => Promise<readonly AllocatedService[]> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'services');
  if (endpoint === undefined) throw new Error('services are not served');
  const { stored } = endpoint;
  return async (revision, signal) => {
    const { cache } = store();
    if (!(await cache.waitForRevision(revision, { timeoutMs: CACHE_WAIT_MS, signal }))) {
      throw new Error('the watch cache is behind the store');
    }
    return [...cache.resource(stored.keyPrefix).snapshot().entries()].map((entry) => ({
      namespace: entry.namespace,
      name: entry.name,
      uid: entry.uid,
      spec: record(currentOfEntry(stored, entry).object['spec']),
    }));
  };
}
