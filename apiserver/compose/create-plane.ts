import { allowsOutsideOf } from '../../shared/client/allowed-addresses';
import type { Clock } from '../../shared/concurrency/clock';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import { ClientRequests } from '../../shared/metrics/rest-client';
import type { AnswersOf } from '../engine/remote/shared-answers';
import type { CacheLimits } from '../engine/watch-cache/limits';
import { DEFAULT_LIMITS } from '../engine/watch-cache/limits';
import type { Connector } from '../engine/proxy/connector';
import type { OpenedStore } from '../engine/storage/open';
import type { VerbContext } from '../engine/handlers/context';
import type { Authentication } from './authentication';
import { createAuthorization } from './authorization';
import type { ControlPlane, ControlPlaneOptions } from './control-plane';
import { createControlPlane } from './control-plane';
import { operationServices } from './operation-services';
import type { ServerOptions } from './options/server-options';

const SECOND_MS = 1_000;
/** Share of the limit of bytes in flight. */
const WATCH_QUEUES_SHARE = 1 / 16;

export interface PlaneParts extends Pick<ControlPlaneOptions, 'backend' | 'fills' | 'requests' | 'decoded'> {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: webhook responses are not shared with other replicas. */
  readonly answersOf?: AnswersOf | undefined;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** Builds the control plane of the command line. Throws KubeconfigError for an unusable webhook file. */
export function planeOfOptions(options: ServerOptions, parts: PlaneParts): ControlPlane {
  const { clock, log, shutdownSignal, answersOf, ...over } = parts;
  const { requests = createClientRequests(options) } = parts;
  return createControlPlane({
    ...over,
    requests,
    log,
    prefix: options.store.prefix,
    clock,
    eventTtlSeconds: options.eventTtlSeconds,
    runtimeConfig: options.runtimeConfig,
    serverSideApply: options.featureGates.ServerSideApply,
    subresourceOwners: options.dialect === 'kubernetes',
    kindSettings: options.kindSettings,
    limits: cacheLimitsOf(options),
    services: options.services,
    ...defined({ encrypted: encryptedPrefixes(options) }),
    admission: options.admission,
    accessControl: createAuthorization(options, {
      clock,
      log,
      shutdownSignal,
      answersOf,
      requests,
    }),
  });
}

/** Creates the counter of a server's own requests, which also says which addresses they may reach. */
export function createClientRequests({ connect }: Pick<ServerOptions, 'connect'>): ClientRequests {
  return new ClientRequests(allowsOutsideOf(connect.egressDenyCidrs));
}

function encryptedPrefixes({ encryption }: ServerOptions): ReadonlySet<string> | undefined {
  return encryption === undefined ? undefined : new Set(encryption.resources.keys());
}

/** A list can be continued as long as the store is guaranteed to keep its revision. */
function cacheLimitsOf({
  watchCache,
  store: { compactionIntervalMs },
  flow,
}: ServerOptions): Partial<CacheLimits> {
  return {
    ...watchCache,
    watcherQueuesBytesMax: Math.min(DEFAULT_LIMITS.watcherQueuesBytesMax, flow.bytesMax * WATCH_QUEUES_SHARE),
    ...(compactionIntervalMs === 0 ? {} : { continueAgeMaxMs: compactionIntervalMs }),
  };
}

export interface VerbParts {
  readonly plane: ControlPlane;
  readonly authentication: Authentication;
  readonly opened: Pick<OpenedStore, 'backend' | 'names'>;
  /** Absent: no request is proxied to another server. */
  readonly connector?: Connector;
}

/** Builds the context of the verbs. */
export function verbContextOf({ requests, featureGates }: ServerOptions, parts: VerbParts): VerbContext {
  const { plane, authentication, opened, connector } = parts;
  return {
    registry: plane.registry,
    confirmRegistry: async (signal) => plane.custom.confirm(signal),
    store: plane.store,
    features: {
      listChunking: featureGates.APIListChunking,
      remainingItemCount: featureGates.RemainingItemCount,
      responseCompression: featureGates.APIResponseCompression,
      dryRun: featureGates.DryRun,
      warningHeaders: featureGates.WarningHeaders,
      storageVersionHash: featureGates.StorageVersionHash,
      aggregatedDiscovery: featureGates.AggregatedDiscoveryEndpoint,
      aggregatedDiscoveryBeta: !featureGates.AggregatedDiscoveryRemoveBetaType,
      selfLinks: !featureGates.RemoveSelfLink,
    },
    services: operationServices({ authentication, access: plane.access, opened }),
    openWatches: plane.openWatches,
    ...defined({ connector }),
    minRequestTimeoutMs: requests.minWatchTimeoutSeconds * SECOND_MS,
  };
}
