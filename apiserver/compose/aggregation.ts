import { randomInt } from 'node:crypto';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import { clusterReadings } from '../kubernetes/cluster/cluster-reader';
import { AggregatedServices } from '../kubernetes/aggregation/aggregated-services';
import { Aggregator } from '../kubernetes/aggregation/aggregator';
import type { AvailabilityCounts } from '../kubernetes/aggregation/availability';
import { runAvailabilityChecks } from '../kubernetes/aggregation/availability';
import type { AllowsAddress } from '../../shared/meta/ip-address';
import type { ClientTls } from '../../shared/client/connect-tls';
import type { ConnectCounts } from '../engine/proxy/connect-counts';
import { keepDiscovery, OtherDiscovery } from '../kubernetes/discovery/aggregated/keep-discovery';
import { keepDocuments } from '../kubernetes/openapi/aggregated/keep-documents';
import { OtherDocuments } from '../kubernetes/openapi/aggregated/other-documents';
import type { ControlPlane } from './control-plane';

export interface AggregationParts {
  readonly plane: Pick<ControlPlane, 'registry' | 'store' | 'cache'>;
  readonly counts: ConnectCounts;
  readonly availability: AvailabilityCounts;
  readonly client: () => ClientTls;
  /** Which addresses may be connected to; absent: all. */
  readonly allows?: AllowsAddress | undefined;
  readonly byEndpoints: boolean;
  /** Whether the resources of extension API servers are part of aggregated discovery. */
  readonly discovers: boolean;
  readonly log: Log;
  /** The interval at which documents are read again, in milliseconds; a minute if not given. */
  readonly documentsMs?: number;
}

export interface Aggregation {
  readonly aggregator: Aggregator;
  readonly documents: OtherDocuments;
  readonly discovery: OtherDiscovery;
  /** Checks the extension API servers and reads their documents, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the aggregation layer, which forwards requests to extension API servers. */
export function createAggregation({
  plane,
  availability,
  log,
  documentsMs,
  discovers,
  ...parts
}: AggregationParts): Aggregation {
  const { registry, store, cache } = plane;
  const newReading = clusterReadings(registry(), store);
  const aggregator = new Aggregator({
    ...parts,
    services: new AggregatedServices(registry().stored, cache),
    newReading,
    randomInt: (bound) => randomInt(bound),
  });
  const documents = new OtherDocuments();
  const discovery = new OtherDiscovery();
  const reads = { aggregator, log, ...defined({ refreshMs: documentsMs }) };
  return {
    aggregator,
    documents,
    discovery,
    run: async (signal) => {
      await Promise.all([
        runAvailabilityChecks({ aggregator, newReading, store, registry, counts: availability, log }, signal),
        keepDocuments({ ...reads, documents }, signal),
        ...(discovers ? [keepDiscovery({ ...reads, discovery }, signal)] : []),
      ]);
    },
  };
}
