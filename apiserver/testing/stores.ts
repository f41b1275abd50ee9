import { PATIENCE_MS } from '../../shared/testing/eventually';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { silentLog } from '../../shared/log/log';
import type { Backend } from '../engine/storage/backend';
import { openEmbeddedBackend } from '../engine/storage/stores/embedded/embedded-backend';
import { createEtcdBackend } from '../engine/storage/stores/etcd/etcd-backend';
import { MemoryBackend } from '../engine/storage/stores/memory/memory-backend';

/** The key prefix of test servers. */
const STORE_PREFIX = '/registry';

const cleanUps: (() => Promise<void>)[] = [];

/** Every storage backend, each opened empty. Call {@link removeStores} at the end. */
export const STORES: readonly (readonly [name: string, open: () => Promise<Backend>])[] = [
  ['a store in memory', async (): Promise<Backend> => Promise.resolve(new MemoryBackend())],
  [
    'the embedded store',
    async (): Promise<Backend> => {
      const directory = await mkdtemp(path.join(tmpdir(), 'store-'));
      cleanUps.push(async () => rm(directory, { recursive: true }));
      return openEmbeddedBackend({ directory, prefix: STORE_PREFIX, log: silentLog });
    },
  ],
  [
    'etcd',
    async (): Promise<Backend> => {
      const cluster = await startEtcdCluster({ size: 1, extraArgs: ['--unsafe-no-fsync'] });
      cleanUps.push(async () => cluster.stop());
      return createEtcdBackend({
        endpoints: cluster.endpoints,
        prefix: STORE_PREFIX,
        log: silentLog,
        callTimeoutMs: PATIENCE_MS,
      });
    },
  ],
];

/** Deletes the files of the opened stores, which must be closed. */
export async function removeStores(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
}
