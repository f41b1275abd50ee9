import type { AvailabilityCounts } from '../kubernetes/aggregation/availability';
import { newAvailabilityCounts } from '../kubernetes/aggregation/availability';
import type { ConnectCounts } from '../engine/proxy/connect-counts';
import { newConnectCounts } from '../engine/proxy/connect-counts';
import type { Connector } from '../engine/proxy/connector';
import type { Aggregation } from './aggregation';
import { createAggregation } from './aggregation';
import type { ConnectorParts } from './connector';
import { createConnector, keptCertificate } from './connector';
import type { ControlPlane } from './control-plane';
import type { ServerOptions } from './options/server-options';

/** The clients of other servers, and their metrics. */
export interface Backends {
  readonly connector: Connector;
  readonly aggregation: Aggregation;
  readonly connects: ConnectCounts;
  readonly aggregated: AvailabilityCounts;
}

/** Throws an Error that names an unusable file. */
export async function createBackends(
  { connect, flow, featureGates }: Pick<ServerOptions, 'connect' | 'flow' | 'featureGates'>,
  {
    plane,
    log,
    ownPort,
    shutdownSignal,
  }: { readonly plane: ControlPlane } & Pick<ConnectorParts, 'log' | 'ownPort' | 'shutdownSignal'>,
): Promise<Backends> {
  const connects = newConnectCounts(flow.bytesMax);
  const aggregated = newAvailabilityCounts();
  const { allows } = plane.requests;
  const parts = { counts: connects, log, ownPort, shutdownSignal };
  const connector = await createConnector(connect, { ...parts, allows });
  const client = await keptCertificate(connect.proxyClient, { log, shutdownSignal });
  const aggregation = createAggregation({
    plane,
    counts: connects,
    availability: aggregated,
    client: () => client() ?? {},
    allows,
    byEndpoints: connect.aggregatorRouting,
    discovers: featureGates.AggregatedDiscoveryEndpoint,
    log,
  });
  return { connector, aggregation, connects, aggregated };
}
