import path from 'node:path';
import { ensureCredentials } from '../../deploy/local/credentials';
import type { Dialect } from '../../shared/names';
import { httpVersion } from './http-version';
import type { Replica, ReplicaOptions } from './replica';
import { startReplica } from './replica';
import { makeWorkspace } from './workspace';

export interface LocalServer {
  readonly replica: Replica;
  readonly dir: string;
  /** Where the embedded store keeps its files. */
  readonly dataDir: string;
  /** Ends it and removes the folder. */
  stop(): Promise<void>;
}

/** It stands alone: nobody makes service accounts, and nobody lets go of claims and volumes that are no longer in use. */
const WITHOUT_CONTROLLERS = '--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection';

/** Flags that may name files of the server's folder. */
export type ArgsIn = (dir: string) => readonly string[] | Promise<readonly string[]>;

/** One API server on an embedded store in a temporary folder; with flags, and flags of Node for its process. Its client speaks HTTP/2. */
export async function startLocalServer(
  dialect: Dialect,
  extraArgs: ArgsIn = () => [],
  { nodeFlags = [] }: Pick<ReplicaOptions, 'nodeFlags'> = {},
): Promise<LocalServer> {
  const workspace = makeWorkspace('local');
  const { dir } = workspace;
  const dataDir = path.join(dir, 'data');
  try {
    const replica = await startReplica({
      dialect,
      storage: { kind: 'embedded', dir: dataDir },
      dir,
      credentials: ensureCredentials(dir),
      http: httpVersion('2'),
      nodeFlags,
      extraArgs: [WITHOUT_CONTROLLERS, ...(await extraArgs(dir))],
    });
    return {
      replica,
      dir,
      dataDir,
      async stop() {
        await replica.stop();
        workspace.remove();
      },
    };
  } catch (error) {
    workspace.remove();
    throw error;
  }
}
