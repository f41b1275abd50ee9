import { Etcd3 } from 'etcd3';
import type { EtcdCluster } from '../../../deploy/local/etcd-cluster';
import type { Truth } from '../../list-watch/chaos/truth';
import { followTruth, offsetOf } from '../../list-watch/chaos/truth';
import type { Change } from './history';
import { History, toChange } from './history';

/** Reads the current content of the store and follows its changes. */
export async function beginHistory(
  etcd: EtcdCluster,
): Promise<{ readonly history: History; readonly truth: Truth; readonly offset: number }> {
  const { base, before, offset } = await readAll(etcd);
  const history = new History(base, before);
  const truth = await followTruth(etcd, base, (event) => {
    history.take(event);
  });
  return { history, truth, offset };
}

/** Returns all objects in order of version, the version of the read, and the offset of versions to etcd's revisions. */
export async function readAll(
  etcd: EtcdCluster,
): Promise<{ readonly base: number; readonly before: readonly Change[]; readonly offset: number }> {
  const offset = await offsetOf(etcd);
  const client = new Etcd3({ hosts: etcd.members.map(({ clientUrl }) => clientUrl) });
  try {
    const { header, kvs } = await client.getAll().prefix('/registry/').exec();
    const before = kvs
      .flatMap(
        ({ key, value, mod_revision: revision }) =>
          toChange({ key: key.toString(), revision: Number(revision) + offset, isDeletion: false, value }) ??
          [],
      )
      .sort((a, b) => a.revision - b.revision);
    return { base: Number(header.revision) + offset, before, offset };
  } finally {
    client.close();
  }
}
