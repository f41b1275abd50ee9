import { systemClock } from '../../shared/concurrency/clock';
import type { HealthCheck } from '../observability/health/health-check';
import { kmsChecks } from '../observability/health/kms-checks';
import type { OpenParts } from '../storage/backend-row';
import { encrypt } from '../storage/encryption/encrypt';
import type { OpenedStore } from '../storage/open';
import { openStore } from '../storage/open';
import type { ServerOptions } from './options/server-options';

export interface EncryptedStore {
  readonly opened: OpenedStore;
  /** Of the services that it is encrypted with. */
  readonly checks: readonly HealthCheck[];
}

/** Opens the store of the options, encrypted as they say. Throws a StorageError that says what to do when it cannot be used at all. */
export async function openEncryptedStore(
  { store, encryption }: ServerOptions,
  parts: OpenParts,
): Promise<EncryptedStore> {
  const opened = await openStore(store, parts);
  if (encryption === undefined) return { opened, checks: [] };
  const { backend, services } = encrypt(opened.backend, encryption, store.prefix);
  return { opened: { ...opened, backend }, checks: kmsChecks(services, systemClock) };
}
