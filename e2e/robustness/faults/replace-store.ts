import { cp, rm } from 'node:fs/promises';
import type { EtcdCluster } from '../../../deploy/local/etcd-cluster';

/** A copy of the data of all members, taken while they were stopped. */
export interface StoreCopy {
  restore(): Promise<void>;
}

/** Stops all members, copies their data, and restarts them. */
export async function copyStore(etcd: EtcdCluster): Promise<StoreCopy> {
  await stopped(etcd, async (dataDir) => {
    await rm(`${dataDir}.copy`, { recursive: true, force: true });
    await cp(dataDir, `${dataDir}.copy`, { recursive: true });
  });
  return {
    restore: async () =>
      stopped(etcd, async (dataDir) => {
        await rm(dataDir, { recursive: true, force: true });
        await cp(`${dataDir}.copy`, dataDir, { recursive: true });
      }),
  };
}

/** Stops all members, removes their data, and restarts them as an empty store with the same cluster id. */
export async function emptyStore(etcd: EtcdCluster): Promise<void> {
  await stopped(etcd, async (dataDir) => rm(dataDir, { recursive: true, force: true }));
}

async function stopped(etcd: EtcdCluster, act: (dataDir: string) => Promise<void>): Promise<void> {
  await Promise.all(etcd.members.map(async (member) => member.kill('SIGKILL')));
  await Promise.all(etcd.members.map(async ({ dataDir }) => act(dataDir)));
  await Promise.all(etcd.members.map(async (member) => member.start()));
  await Promise.all(etcd.members.map(async (member) => member.healthy()));
}
