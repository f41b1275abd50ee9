import path from 'node:path';
import type { Credentials } from '../../deploy/local/credentials';
import { ensureCredentials } from '../../deploy/local/credentials';
import type { EtcdCluster } from '../../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { defined } from '../../shared/defined';
import type { Dialect } from '../../shared/names';
import type { Replica } from '../support/replica';
import { startReplica } from '../support/replica';
import { makeWorkspace } from '../support/workspace';
import type { Target } from './messages';

export interface ServersOptions {
  /** The prefix of their shared folder, which names the benchmark. */
  readonly name: string;
  readonly dialect: Dialect;
  /** The flags of each server, which may name files of the folder. Absent: one server without flags. */
  readonly flags?: readonly ((dir: string) => readonly string[])[];
  /** Whether a probe observes the event loop; only with a single server. */
  readonly isProbed?: boolean;
  /** The folder of the build; by default this repository. */
  readonly buildRoot?: string | undefined;
}

/** Servers on one etcd, with their addresses. */
export interface Servers {
  readonly dir: string;
  readonly etcd: EtcdCluster;
  readonly credentials: Credentials;
  readonly replicas: readonly Replica[];
  /** The first server. */
  readonly replica: Replica;
  /** The output file of the event-loop probe. */
  readonly loopFile: string;
  /** A client with the administrator's token. */
  readonly targetOf: (replica: Replica) => Target;
}

/** Starts servers, runs `measure`, and stops everything afterwards, also after an error. */
export async function withServers<T>(
  { name, dialect, flags = [() => []], isProbed = false, buildRoot }: ServersOptions,
  measure: (servers: Servers) => Promise<T>,
): Promise<T> {
  const workspace = makeWorkspace(name);
  const { dir } = workspace;
  const loopFile = path.join(dir, 'loop.json');
  const probed = {
    nodeFlags: ['--require', path.join(__dirname, 'loop-probe-preload.js')],
    env: { ORCH_BENCH_LOOP_FILE: loopFile },
  };
  const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(dir, 'etcd') });
  const replicas: Replica[] = [];
  try {
    const credentials = ensureCredentials(dir);
    for (const [at, flagsIn] of flags.entries()) {
      const replica = await startReplica({
        name: `apiserver-${String(at)}`,
        dialect,
        storage: { kind: 'etcd', endpoints: etcd.endpoints },
        dir,
        credentials,
        extraArgs: flagsIn(dir),
        ...(isProbed ? probed : {}),
        ...defined({ buildRoot }),
      });
      replicas.push(replica);
    }
    const [replica] = replicas;
    if (replica === undefined) throw new Error('there is no server');
    const targetOf = ({ server, caFile }: Replica): Target => ({
      server,
      caFile,
      token: credentials.adminToken,
    });
    return await measure({ dir, etcd, credentials, replicas, replica, loopFile, targetOf });
  } finally {
    for (const replica of replicas) await replica.stop();
    await etcd.stop();
    workspace.remove();
  }
}
