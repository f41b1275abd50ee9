import { randomInt, randomUUID } from 'node:crypto';
import { isInForce } from '../../shared/api/changes';
import type { DecodedValues } from '../engine/watch-cache/state/entry-codec';
import type { Clock } from '../../shared/concurrency/clock';
import type { SharedLimit } from '../../shared/concurrency/shared-limit';
import { QueueTimes } from '../../shared/concurrency/queue-times';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import { GROUP } from '../../shared/names';
import { AdmissionMetrics } from '../kubernetes/admission/admission-metrics';
import { requireCreate } from '../engine/authz/create-permission';
import { refuseEscalation } from '../kubernetes/auth/rbac/escalation';
import { Policies } from '../kubernetes/auth/rbac/policies';
import { OpenWatches } from '../engine/authz/open-watches';
import type { AccessControl, Authorizer } from '../engine/request/access';
import { CustomResources } from '../kubernetes/custom-resources/custom-resources';
import { DefinitionController } from '../kubernetes/custom-resources/definition-controller';
import { createAdmission } from '../kubernetes/admission/chain';
import type { Reading } from '../kubernetes/cluster/cluster-reader';
import { clusterReadings } from '../kubernetes/cluster/cluster-reader';
import type { PluginChoice, PluginContext } from '../kubernetes/admission/plugins';
import type { ProvideNamespace } from '../kubernetes/admission/plugins/namespace-existence';
import { choosePlugins, webhookConfiguration } from '../kubernetes/admission/plugins';
import type { CallLimits } from '../kubernetes/admission/webhooks/call';
import { DEFAULT_CALL_LIMITS } from '../kubernetes/admission/webhooks/call';
import { credentialsOf } from '../kubernetes/admission/webhooks/credentials';
import { GraphTimes } from '../kubernetes/auth/node/graph-times';
import type { GraphSources } from '../kubernetes/auth/node/node-graph';
import { ClientRequests } from '../../shared/metrics/rest-client';
import { WebhookMetrics } from '../kubernetes/admission/webhooks/webhook-metrics';
import { quotaRecords } from '../kubernetes/admission/resource-quota/quota-records';
import { isConfigurationResource } from './configuration-resources';
import type { ServiceRanges } from './service-allocation';
import { createAllocation } from './service-allocation';
import { ConversionCalls } from './conversion-calls';
import type { AddressUpkeep } from '../kubernetes/bootstrap/address-repair';
import { createMissing } from '../kubernetes/bootstrap/create-missing';
import type { Admission } from '../engine/registry/admission';
import type { ServiceAllocation } from '../kubernetes/kinds/service-allocation/service-allocation';
import { isOn } from '../kubernetes/kinds/field-gates';
import type { ReadContext } from '../engine/registry/read-context';
import type { WriteContext } from '../engine/registry/write-context';
import type { Registry } from '../engine/registry/registry';
import { createRegistry } from '../engine/registry/registry';
import type { RuntimeConfig } from '../engine/registry/runtime-config';
import { DEFAULT_RUNTIME_CONFIG } from '../engine/registry/runtime-config';
import { servedDefinitions } from '../kubernetes/kinds/served';
import type { KindSettings } from '../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../engine/registry/strategy';
import type { Backend } from '../engine/storage/backend';
import type { CacheFills } from '../engine/watch-cache/cluster-cache';
import { ClusterCache } from '../engine/watch-cache/cluster-cache';
import type { CacheLimits } from '../engine/watch-cache/limits';

/** Time after which a consistent read that waits for the cache reads from the store instead. */
const CACHE_WAIT_MS = 3_000;
const NOTHING: ReadonlySet<string> = new Set();

export interface ControlPlaneOptions {
  readonly backend: Backend;
  /** For example `/registry`, without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 means that events never expire. */
  readonly eventTtlSeconds: number;
  /** The served versions; by default all except alpha versions. */
  readonly runtimeConfig?: RuntimeConfig;
  /** Whether server-side apply is enabled and managedFields are tracked; by default true. */
  readonly serverSideApply?: boolean;
  /** Whether managers own fields through subresources; by default false. */
  readonly subresourceOwners?: boolean;
  readonly limits?: Partial<CacheLimits>;
  /** By default everything is cached. */
  readonly fills?: CacheFills;
  /** What was decoded from values that the backend returns again; absent if it returns new bytes each time. */
  readonly decoded?: DecodedValues | undefined;
  /** Time after which a consistent read that waits for the cache reads from the store instead; default: 3 s. */
  readonly cacheWaitMs?: number;
  /** The resources that the backend encrypts, as key prefixes below that of the store (`core/secrets/`). By default none. */
  readonly encrypted?: ReadonlySet<string>;
  /** By default those of kube-apiserver. */
  readonly kindSettings?: KindSettings;
  /** The address and port ranges of Services; by default the ranges of the flags. */
  readonly services?: ServiceRanges;
  /** By default the default plugins of kube-apiserver. */
  readonly admission?: AdmissionOptions;
  /** Who may do what; `policies` are the roles and bindings of the cluster, `sources` what else may be looked at. */
  readonly accessControl: (policies: Policies, sources: GraphSources) => AccessControl;
  /** Counts the requests of this server to webhooks; by default by a counter of its own. */
  readonly requests?: ClientRequests;
}

export interface AdmissionOptions
  extends PluginChoice, Pick<PluginContext, 'configurations' | 'tolerationSeconds'> {
  /** Limits of webhook calls; by default the defaults of the flags. */
  readonly webhookCalls?: CallLimits;
}

/** Registry, cache and admission over one backend: the whole server except its listeners. */
export interface ControlPlane {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly store: WriteContext;
  /** The resources served besides the built-in ones. */
  readonly custom: CustomResources;
  readonly definitions: DefinitionController;
  /** The access control of requests, reviews and plugins. */
  readonly access: AccessControl;
  readonly openWatches: OpenWatches;
  readonly serviceAllocation: ServiceAllocation;
  /** Keeps the objects of Services' addresses; absent at levels without them. */
  readonly serviceAddresses: AddressUpkeep | undefined;
  readonly admissionMetrics: AdmissionMetrics;
  readonly webhookMetrics: WebhookMetrics;
  /** The requests of this server to webhooks of every kind. */
  readonly requests: ClientRequests;
  readonly graphTimes: GraphTimes;
  readonly queues: QueueTimes;
  /** The limits of admission that replicas can share. */
  readonly divided: readonly SharedLimit[];
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { kindSettings = DEFAULT_KIND_SETTINGS, runtimeConfig = DEFAULT_RUNTIME_CONFIG } = options;
  const registry = createRegistry(servedDefinitions(runtimeConfig, kindSettings), 1);
  const { backend, prefix, clock, log, cacheWaitMs = CACHE_WAIT_MS, encrypted = NOTHING } = options;
  const cache = new ClusterCache({
    backend,
    prefix,
    resources: registry.stored,
    log,
    clock,
    ...defined({ limits: options.limits, fills: options.fills, decoded: options.decoded }),
  });
  const { requests = new ClientRequests() } = options;
  const metrics = { plugins: new AdmissionMetrics(), webhooks: new WebhookMetrics(), requests };
  const read: ReadContext = { backend, cache, prefix, clock, encrypted, cacheWaitMs };
  const newReading = clusterReadings(registry, read);
  const custom = convertedResources(options, { registry, cache, newReading, metrics });
  const allocation = createAllocation(options, { registry, read, newReading, store: () => store });
  const graphTimes = new GraphTimes();
  const sources = { stored: registry.stored, cache, times: graphTimes };
  const policies = new Policies(sources);
  const access = options.accessControl(policies, sources);
  const { authorize } = access;
  // A namespace that a plugin creates passes admission like any other.
  const provideNamespace: ProvideNamespace = async (name, signal) =>
    createNamespace(store, registry, { name, signal });
  const divided: SharedLimit[] = [];
  const admission = admissionOf(options, {
    registerSharedLimit: (limit) => void divided.push(limit),
    registry,
    custom,
    authorize,
    metrics,
    read,
    newReading,
    provideNamespace,
  });
  const store: WriteContext = {
    ...read,
    newUid: randomUUID,
    randomInt: (bound) => randomInt(bound),
    admission,
    refuseEscalation: refuseEscalation({ authorize, policies }),
    requireCreate: requireCreate(authorize),
    appliesAtOnce: isConfigurationResource,
    reservers: new Map([['service addresses', allocation.serviceAllocation.reserve]]),
    eventTtlSeconds: options.eventTtlSeconds === 0 ? undefined : options.eventTtlSeconds,
    serverSideApply: options.serverSideApply ?? true,
    subresourceOwners: options.subresourceOwners ?? false,
    kindSettings,
  };
  const queues = new QueueTimes();
  return {
    registry: () => custom.registry,
    cache,
    store,
    custom,
    definitions: new DefinitionController({ store, builtIn: registry, custom, log, queues }),
    access,
    openWatches: openWatches(policies, log),
    ...allocation,
    admissionMetrics: metrics.plugins,
    webhookMetrics: metrics.webhooks,
    requests,
    graphTimes,
    queues,
    divided,
  };
}

function openWatches(policies: Policies, log: Log): OpenWatches {
  const generation = async (signal: AbortSignal): Promise<number> => {
    await policies.whenReady(signal);
    return policies.generation;
  };
  return new OpenWatches({ generation, log });
}

/** Builds the custom resources. Their conversion webhooks are called in the same way as admission webhooks. */
function convertedResources(
  { admission = DEFAULT_ADMISSION, clock, log }: ControlPlaneOptions,
  {
    registry,
    cache,
    newReading,
    metrics,
  }: {
    readonly registry: Registry;
    readonly cache: ClusterCache;
    readonly newReading: () => Reading;
    readonly metrics: CallMetrics;
  },
): CustomResources {
  const { webhookCalls: limits = DEFAULT_CALL_LIMITS } = admission;
  const credentials = credentialsOf(webhookConfiguration(admission.configurations));
  const calls = new ConversionCalls({
    caller: { credentials, limits, clock, log, requests: metrics.requests },
    metrics: metrics.webhooks,
    newReading,
  });
  const custom = new CustomResources({ builtIn: registry, cache, log, callConversion: calls.call });
  custom.follow((name) => {
    if (custom.definition(name)?.convertsByWebhook !== true) calls.forget(name);
  });
  return custom;
}

interface CallMetrics {
  readonly webhooks: WebhookMetrics;
  readonly requests: ClientRequests;
}

interface AdmissionSources extends Pick<PluginContext, 'registerSharedLimit'> {
  readonly registry: Registry;
  readonly custom: CustomResources;
  readonly authorize: Authorizer;
  readonly metrics: CallMetrics & { readonly plugins: AdmissionMetrics };
  readonly read: ReadContext;
  readonly newReading: () => Reading;
  readonly provideNamespace: ProvideNamespace;
}

/** Combines the enabled plugins. */
function admissionOf(
  { admission = DEFAULT_ADMISSION, kindSettings = DEFAULT_KIND_SETTINGS, clock, log }: ControlPlaneOptions,
  {
    registry,
    custom,
    authorize,
    metrics,
    read,
    newReading,
    provideNamespace,
    registerSharedLimit,
  }: AdmissionSources,
): Admission {
  return createAdmission({
    plugins: choosePlugins(admission, {
      authorize,
      clock,
      randomInt: (bound) => randomInt(bound),
      tolerationSeconds: admission.tolerationSeconds,
      configurations: admission.configurations,
      quotas: quotaRecords(registry, read),
      webhooks: {
        stored: registry.stored,
        cache: read.cache,
        newReading,
        limits: admission.webhookCalls ?? DEFAULT_CALL_LIMITS,
        metrics: metrics.webhooks,
        expressions: metrics.plugins.expressions,
        authorize,
        requests: metrics.requests,
        clock,
        log,
      },
      podSecurityMetrics: metrics.plugins.podSecurity,
      policies: {
        stored: registry.stored,
        cache: read.cache,
        read,
        newReading,
        authorize,
        metrics: metrics.plugins.expressions,
        endpointOfKind: ({ group, version, kind }) =>
          custom.registry.endpointsOf(group, version).find(({ row }) => row.kind === kind),
        log,
      },
      provideNamespace,
      registerSharedLimit,
      features: {
        validatingPolicies: isOn(kindSettings, 'ValidatingAdmissionPolicy'),
        mutatingPolicies: isOn(kindSettings, 'MutatingAdmissionPolicy'),
        preemptionPolicy: isOn(kindSettings, 'NonPreemptingPriority'),
        podOverhead: isOn(kindSettings, 'PodOverhead'),
        boundTokens: isOn(kindSettings, 'BoundServiceAccountTokenVolume'),
        inUseProtection: {
          claimsAndVolumes: isOn(kindSettings, 'StorageObjectInUseProtection'),
          classes: isInForce('protectedAttributesClasses') && isOn(kindSettings, 'VolumeAttributesClass'),
        },
        volumesGrow: isOn(kindSettings, 'ExpandPersistentVolumes'),
      },
      resourceOfKind: ({ group, version, kind }) =>
        custom.registry.endpointsOf(group, version).find(({ row }) => row.kind === kind)?.row,
    }),
    newReading,
    metrics: metrics.plugins,
  });
}

/** The default of kube-apiserver. */
export const DEFAULT_ADMISSION: AdmissionOptions = {
  enable: [],
  disable: [],
  tolerationSeconds: { notReady: 300, unreachable: 300 },
  configurations: new Map(),
};

async function createNamespace(
  store: WriteContext,
  registry: Registry,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<void> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'namespaces');
  if (endpoint === undefined) throw new Error('namespaces are not served');
  await createMissing(store, endpoint, { metadata: { name } }, signal);
}
