import type { Lease } from '../../../shared/api/types/coordination-v1';
import { pause } from '../../../shared/concurrency/pause';
import type { Log } from '../../../shared/log/log';
import { API_SERVER_MANAGER, GROUP, LABEL, NAMESPACE } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import { updateObject } from '../../engine/registry/update';
import { ownRequest } from './own-request';
import { reconcileLoop } from './reconcile-loop';

/** Options of the identity lease of a replica. */
export interface IdentityOptions {
  readonly durationSeconds: number;
  readonly renewMs: number;
}

export interface IdentityLeaseParts extends IdentityOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /** The unique id of this replica. */
  readonly id: string;
  /** Called each time that the lease is renewed in the store. */
  readonly onRenewed: () => void;
  readonly log: Log;
}

/** The Lease that identifies this replica as live. */
export interface IdentityLease {
  /** Runs one round: creates or renews the lease. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round in each renewal interval until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

/** Returns the id of a new replica; `uuid` makes it unique. */
export function replicaId(uuid: string): string {
  return `${API_SERVER_MANAGER}-${uuid}`;
}

export function createIdentityLease(parts: IdentityLeaseParts): IdentityLease {
  const { store, registry, id, durationSeconds, renewMs, log } = parts;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const endpoint = registry().endpoint(GROUP.coordination, 'v1', 'leases');
    if (endpoint === undefined) return;
    const address = { name: id, namespace: NAMESPACE.system };
    const renewTime = microTime(store.clock.now());
    const change = (current: ApiObject | undefined): Lease => {
      const { metadata, spec } = (current ?? {
        metadata: address,
        spec: { holderIdentity: id, leaseDurationSeconds: durationSeconds },
      }) as Lease;
      const labels = { ...metadata.labels, [LABEL.component]: API_SERVER_MANAGER };
      return { ...current, metadata: { ...metadata, labels }, spec: { ...spec, renewTime } };
    };
    // A deleted lease is created again.
    const update = { change, options: { creates: 'always' } } as const;
    await updateObject(store, ownRequest(endpoint, address), update, signal);
    parts.onRenewed();
  };
  return {
    reconcile,
    async run(signal) {
      const failure = 'failed to renew the lease of this replica';
      const untilNext = async (): Promise<void> => pause(renewMs, signal);
      await reconcileLoop({ reconcile, untilNext, log, failure }, signal);
    },
  };
}

function microTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}000Z`;
}
