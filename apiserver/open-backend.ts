import { sleep } from '../shared/concurrency/abort';
import type { Clock } from '../shared/concurrency/clock';
import type { Log } from '../shared/log/log';
import type { StoreOptions } from './options/server-options';
import type { Backend } from './storage/backend';
import { StorageError } from './storage/backend';
import { openEmbeddedBackend } from './storage/embedded/embedded-backend';
import { runCompactor } from './storage/etcd/compactor';
import type { EtcdBackend } from './storage/etcd/etcd-backend';
import { createEtcdBackend } from './storage/etcd/etcd-backend';

/** How long a start waits for an etcd that does not answer yet: the two may be started together. */
const ETCD_WAIT_MS_MAX = 60_000;
const ETCD_RETRY_MS = 1_000;

export interface OpenBackend {
  readonly backend: Backend;
  /** The name of the store in messages and health checks. */
  readonly name: string;
  /** Forgets old history regularly, until the signal aborts. */
  keepCompact(signal: AbortSignal): Promise<void>;
}

/** Opens the store the options name. Throws a StorageError that says what to do when it cannot be used at all. */
export async function openBackend(
  options: StoreOptions,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  signal: AbortSignal,
): Promise<OpenBackend> {
  const { prefix, compactionIntervalMs } = options;
  if (options.backend === 'embedded') {
    const backend = await openEmbeddedBackend({ directory: options.dir, prefix, clock, log });
    return { backend, name: 'embedded', keepCompact: async () => Promise.resolve() };
  }
  const backend = createEtcdBackend({
    endpoints: options.endpoints,
    prefix,
    log,
    ...(options.caFile === undefined ? {} : { caFile: options.caFile }),
    ...options.client,
  });
  const { version } = await waitForEtcd(backend, { log, clock }, signal);
  log.info({ version, endpoints: options.endpoints }, 'connected to etcd');
  return {
    backend,
    name: 'etcd',
    async keepCompact(until) {
      if (compactionIntervalMs > 0) {
        await runCompactor({ backend, intervalMs: compactionIntervalMs, log }, until);
      }
    },
  };
}

async function waitForEtcd(
  backend: EtcdBackend,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  signal: AbortSignal,
): ReturnType<EtcdBackend['status']> {
  const giveUpAt = clock.now() + ETCD_WAIT_MS_MAX;
  for (;;) {
    try {
      return await backend.status(signal);
    } catch (error) {
      const isOutage = error instanceof StorageError && error.code === 'unavailable';
      if (!isOutage || clock.now() >= giveUpAt) throw error;
      log.warn({ why: error.message }, 'etcd does not answer yet');
      await sleep(ETCD_RETRY_MS, signal);
    }
  }
}
