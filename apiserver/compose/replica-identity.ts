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

/** Publishes the identity of a replica: its lease and its storage versions. */
export interface ReplicaIdentity {
  /** Rejects writes until the storage versions are registered. */
  readonly stage?: Stage;
  /** Runs in the background until the signal aborts. The first namespaces must exist. */
  run(signal: AbortSignal): void;
}

/** Returns undefined for a replica without a published identity. */
export function createReplicaIdentity(
  { identity, featureGates }: Pick<ServerOptions, 'identity' | 'featureGates'>,
  { plane, hooks, log }: { readonly plane: ControlPlane; readonly hooks: StartHooks; readonly log: Log },
): ReplicaIdentity | undefined {
  if (identity === undefined) return undefined;
  const { store, registry } = plane;
  const id = replicaId(randomUUID());
  const parts = { store, registry, log };
  // The storage versions of a replica without a live lease are garbage collected, so the lease comes first.
  let onRenewed = (): void => undefined;
  const lease = createIdentityLease({ ...parts, ...identity, id, onRenewed: () => onRenewed() });
  const expired = createExpiredIdentities({ ...parts, periodMs: identity.durationSeconds * SECOND_MS });
  const onComplete = (): void => hooks.done('storageVersions');
  const versions = featureGates.StorageVersionAPI
    ? createStorageVersions({ store, registry: registry(), id, onComplete, log })
    : undefined;
  if (featureGates.StorageVersionAPI && versions === undefined) {
    log.error({}, 'storage versions are not published: their API is not served (--runtime-config)');
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
