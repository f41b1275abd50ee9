import { randomInt } from 'node:crypto';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import { clusterReadings } from '../kubernetes/cluster/cluster-reader';
import { AggregatedServices } from '../kubernetes/aggregation/aggregated-services';
import { Aggregator } from '../kubernetes/aggregation/aggregator';
import type { AvailabilityCounts } from '../kubernetes/aggregation/availability';
import { runAvailabilityChecks } from '../kubernetes/aggregation/availability';
import type { ClientTls } from '../../shared/client/connect-tls';
import type { ConnectCounts } from '../engine/proxy/connect-counts';
import { keepDocuments } from '../kubernetes/openapi/aggregated/keep-documents';
import { OtherDocuments } from '../kubernetes/openapi/aggregated/other-documents';
import type { ControlPlane } from './control-plane';

export interface AggregationParts {
  readonly plane: Pick<ControlPlane, 'registry' | 'store' | 'cache'>;
  readonly counts: ConnectCounts;
  readonly availability: AvailabilityCounts;
  readonly client: () => ClientTls;
  readonly byEndpoints: boolean;
  readonly log: Log;
  /** The interval at which documents are read again, in milliseconds; a minute if not given. */
  readonly documentsMs?: number;
}

export interface Aggregation {
  readonly aggregator: Aggregator;
  readonly documents: OtherDocuments;
  /** Checks the extension API servers and reads their documents, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the aggregation layer, which forwards requests to extension API servers. */
export function createAggregation({
  plane,
  availability,
  log,
  documentsMs,
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
  return {
    aggregator,
    documents,
    run: async (signal) => {
      await Promise.all([
        runAvailabilityChecks({ aggregator, newReading, store, registry, counts: availability, log }, signal),
        keepDocuments({ aggregator, documents, log, ...defined({ refreshMs: documentsMs }) }, signal),
      ]);
    },
  };
}
