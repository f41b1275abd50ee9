import { randomUUID } from 'node:crypto';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import type { Stage } from '../engine/request/exchange';
import { createExpiredIdentities } from '../kubernetes/bootstrap/expired-identities';
import { createIdentityLease, replicaId } from '../kubernetes/bootstrap/identity-lease';
import type { StartHooks } from '../kubernetes/bootstrap/start-hooks';
import { createStorageVersions } from '../kubernetes/bootstrap/storage-versions';
import type { ControlPlane } from './control-plane';
import type { ServerOptions } from './options/server-options';
import { createStorageVersionStage } from './storage-version-stage';

const SECOND_MS = 1_000;

/** How a replica makes itself known to others: that it is alive, and what it stores in which version. */
export interface ReplicaIdentity {
  /** Holds writes back until it is known in which version they will be stored. */
  readonly stage?: Stage;
  /** Goes on in the background until the signal aborts. To be called once the first namespaces are there. */
  run(signal: AbortSignal): void;
}

/** Undefined for a replica that others need not know. */
export function createReplicaIdentity(
  { identity, featureGates }: Pick<ServerOptions, 'identity' | 'featureGates'>,
  { plane, hooks, log }: { readonly plane: ControlPlane; readonly hooks: StartHooks; readonly log: Log },
): ReplicaIdentity | undefined {
  if (identity === undefined) return undefined;
  const { store, registry } = plane;
  const id = replicaId(randomUUID());
  const parts = { store, registry, log };
  // What is said by a replica that nobody knows to be alive is removed.
  let onRenewed = (): void => undefined;
  const lease = createIdentityLease({ ...parts, ...identity, id, onRenewed: () => onRenewed() });
  const expired = createExpiredIdentities({ ...parts, periodMs: identity.durationSeconds * SECOND_MS });
  const onComplete = (): void => hooks.done('storageVersions');
  const versions = featureGates.StorageVersionAPI
    ? createStorageVersions({ store, registry: registry(), id, onComplete, log })
    : undefined;
  if (featureGates.StorageVersionAPI && versions === undefined) {
    log.error({}, 'nothing is told of storage versions: their API is not served (--runtime-config)');
    onComplete();
  }
  return {
    ...defined({ stage: versions && createStorageVersionStage(versions) }),
    run(signal) {
      onRenewed = () => {
        onRenewed = () => undefined;
        void versions?.run(signal);
      };
      void lease.run(signal);
      void expired.run(signal);
      hooks.done('identityLease', 'expiredIdentities');
    },
  };
}
