import { Etcd3 } from 'etcd3';
import type { EtcdCluster } from '../../../deploy/local/etcd-cluster';
import type { Truth } from '../../list-watch/chaos/truth';
import { followTruth, offsetOf } from '../../list-watch/chaos/truth';
import type { Change } from './history';
import { History, toChange } from './history';

/** Reads what the store holds now, and follows what happens to it from then on. */
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

/** Every object, oldest version first, the version of this reading, and what versions are above etcd's revisions. */
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
