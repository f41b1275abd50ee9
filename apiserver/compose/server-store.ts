import { systemClock } from '../../shared/concurrency/clock';
import type { HealthCheck } from '../engine/observability/health/health-check';
import { kmsChecks } from '../engine/observability/health/kms-checks';
import type { OpenParts } from '../engine/storage/backend-row';
import { encrypt } from '../engine/storage/decorators/encryption/encrypt';
import type { TransformationCounts } from '../engine/storage/decorators/encryption/transformation-counts';
import type { OpenedStore } from '../engine/storage/open';
import { openStore } from '../engine/storage/open';
import { measuredBackend, StoreTimes } from '../engine/storage/measured-backend';
import type { ServerOptions } from './options/server-options';

export interface ServerStore {
  readonly opened: OpenedStore;
  /** Absent: encryption is not configured. */
  readonly transformations?: TransformationCounts;
  readonly times: StoreTimes;
  /** Health checks of the encryption services. */
  readonly checks: readonly HealthCheck[];
}

/** Opens the store of the options, with latency metrics and encryption. Throws a StorageError that says what to do if it is unusable. */
export async function openServerStore(
  { store, encryption }: ServerOptions,
  parts: OpenParts,
): Promise<ServerStore> {
  const opened = await openStore(store, parts);
  const times = new StoreTimes(store.prefix);
  const timed = measuredBackend(opened.backend, times);
  if (encryption === undefined) return { opened: { ...opened, backend: timed }, times, checks: [] };
  const { backend, services, counts } = encrypt(timed, encryption, store.prefix);
  return {
    opened: { ...opened, backend },
    times,
    transformations: counts,
    checks: kmsChecks(services, systemClock),
  };
}

/** Runs the background work of an open store until the signal aborts. */
export function keepStore(
  opened: OpenedStore,
  { store }: Pick<ServerOptions, 'store'>,
  shutdownSignal: AbortSignal,
): void {
  void opened.keepCompact(shutdownSignal);
  void opened.keepDatabaseSizes?.(store.sizePollMs, shutdownSignal);
  void opened.keepInformed?.(shutdownSignal);
}
