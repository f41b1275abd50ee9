import type { Build } from '../../shared/build';
import { defined } from '../../shared/defined';
import { statusErrorOf } from '../engine/server/error-handler';
import type { OwnCertificate, PresentedCertificate } from './metrics/add-certificate-metrics';
import type { LargeRequestCounts } from './metrics/add-large-request-metrics';
import type { MetricsEndpoints, MetricsEndpointsOptions } from './metrics/metrics-endpoints';
import { createMetricsEndpoints } from './metrics/metrics-endpoints';
import type { Authentication } from './authentication';
import type { ControlPlane } from './control-plane';
import type { ServerOptions } from './options/server-options';
import type { StoreOptions } from '../engine/storage/open';

/** The process-level inputs of the metrics. */
export interface MeasuredProcess {
  readonly options: ServerOptions;
  readonly build: Build;
  /** Whether the metrics of the process belong to this server. */
  readonly isOnlyServer: boolean;
  /** Undefined: the certificate is in memory. */
  readonly servingFile: string | undefined;
}

export interface MeasuredParts extends Required<
  Pick<
    MetricsEndpointsOptions,
    'audit' | 'flow' | 'connections' | 'aggregated' | 'connects' | 'loop' | 'store'
  >
> {
  /** Undefined: large requests are not offloaded. */
  readonly largeRequests: LargeRequestCounts | undefined;
  readonly plane: ControlPlane;
  readonly authentication: Authentication;
}

/** Builds the metrics of a server. */
export function createProcessMetrics(
  { options, build, servingFile, isOnlyServer }: MeasuredProcess,
  { plane, authentication, largeRequests, ...parts }: MeasuredParts,
): MetricsEndpoints {
  const { registry, cache, admissionMetrics, webhookMetrics, requests, graphTimes, queues } = plane;
  return createMetricsEndpoints({
    ...parts,
    ...defined({ largeRequests }),
    registry,
    cache,
    statusOf: statusErrorOf,
    admission: admissionMetrics,
    webhooks: webhookMetrics,
    clientRequests: requests,
    graphTimes,
    queues,
    authentication: authentication.counts,
    tokens: authentication.accountTokens.counts,
    certificates: [
      ...(servingFile === undefined ? [] : [{ name: 'serving', file: servingFile }]),
      ...othersOf(options),
      ...membersOf(options.store),
    ],
    processMetrics: isOnlyServer,
    build,
    choice: options.metrics,
  });
}

function othersOf({ store, authentication }: ServerOptions): readonly OwnCertificate[] {
  const named: readonly (readonly [name: string, file: string | undefined])[] = [
    ...etcdFiles(store),
    ['client-ca', authentication.clientCaFile],
    ['requestheader-client-ca', authentication.requestHeader?.caFile],
  ];
  return named.flatMap(([name, file]) => (file === undefined ? [] : [{ name, file }]));
}

function etcdFiles(store: StoreOptions): readonly (readonly [name: string, file: string | undefined])[] {
  if (store.backend !== 'etcd3') return [];
  return [
    ['etcd-client', store.client?.certFile],
    ['etcd-ca', store.caFile],
  ];
}

/** The certificates of the members of etcd, which no process of this project reads from a file. */
function membersOf(store: StoreOptions): readonly PresentedCertificate[] {
  if (store.backend !== 'etcd3') return [];
  return store.endpoints
    .filter((server) => server.startsWith('https:'))
    .map((server) => ({ name: `etcd-server ${new URL(server).host}`, server, client: store.client }));
}
