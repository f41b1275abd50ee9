import type { Lease } from '../../../shared/api/types/coordination-v1';
import { pause } from '../../../shared/concurrency/pause';
import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { parseTime } from '../../../shared/meta/time';
import { API_SERVER_MANAGER, GROUP, LABEL, NAMESPACE } from '../../../shared/names';
import { deleteObject } from '../../engine/registry/delete';
import type { Registry } from '../../engine/registry/registry';
import { currentOfEntry } from '../../engine/registry/stored-form';
import type { WriteContext } from '../../engine/registry/write-context';
import { ownRequest } from './own-request';
import { reconcileLoop } from './reconcile-loop';

export interface ExpiredIdentitiesParts {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /** The interval between rounds, in ms. */
  readonly periodMs: number;
  readonly log: Log;
}

/** Deletes the leases of replicas that have expired. */
export interface ExpiredIdentities {
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs rounds until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

export function createExpiredIdentities({
  store,
  registry,
  periodMs,
  log,
}: ExpiredIdentitiesParts): ExpiredIdentities {
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const endpoint = registry().endpoint(GROUP.coordination, 'v1', 'leases');
    if (endpoint === undefined) return;
    const { stored } = endpoint;
    const now = store.clock.now();
    for (const entry of store.cache.resource(stored.keyPrefix).snapshot().entries()) {
      const isOurs =
        entry.namespace === NAMESPACE.system && entry.labels[LABEL.component] === API_SERVER_MANAGER;
      if (!isOurs || !isExpired(currentOfEntry(stored, entry).object, now)) continue;
      const { uid, name, namespace, revision } = entry;
      // A lease that is renewed concurrently is kept.
      const options = { dryRun: false, preconditions: { uid, resourceVersion: String(revision) } };
      await unlessChanged(deleteObject(store, ownRequest(endpoint, { name, namespace }), options, signal));
    }
  };
  return {
    reconcile,
    async run(signal) {
      const failure = 'failed to remove the leases of replicas that are gone';
      const untilNext = async (): Promise<void> => pause(periodMs, signal);
      await reconcileLoop({ reconcile, untilNext, log, failure }, signal);
    },
  };
}

/** A lease without a renewal time or duration counts as expired. */
function isExpired({ spec = {} }: Partial<Lease>, now: number): boolean {
  const renewed = parseTime(spec.renewTime ?? '');
  const { leaseDurationSeconds: seconds } = spec;
  if (renewed === undefined || seconds === undefined || seconds === null) return true;
  return renewed + seconds * SECOND_MS < now;
}

const SECOND_MS = 1_000;

/** Ignores NotFound and Conflict: another replica may have deleted the lease, or its holder has renewed it. */
async function unlessChanged(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}
