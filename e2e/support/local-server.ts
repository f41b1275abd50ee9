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
  /** Stops the server and removes the folder. */
  stop(): Promise<void>;
}

/** Without a controller-manager no service accounts are created, and no finalizers of unused claims and volumes are removed. */
const WITHOUT_CONTROLLERS = '--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection';

/** Flags that may refer to files in the server's folder. */
export type ArgsIn = (dir: string) => readonly string[] | Promise<readonly string[]>;

/** Starts one API server on an embedded store in a temporary folder, with extra flags and Node flags. Its client uses HTTP/2. */
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
