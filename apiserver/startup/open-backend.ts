import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { StoreOptions } from './options/server-options';
import { outlastOutage } from './outlast-outage';
import type { Backend } from '../storage/backend';
import { openEmbeddedBackend } from '../storage/embedded/embedded-backend';
import { runCompactor } from '../storage/etcd/compactor';
import { createEtcdBackend } from '../storage/etcd/etcd-backend';

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
  const { version } = await outlastOutage(async () => backend.status(signal), { log, clock }, signal);
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
