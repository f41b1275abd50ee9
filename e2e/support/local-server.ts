import path from 'node:path';
import { ensureCredentials } from '../../deploy/local/credentials';
import type { Dialect } from '../../shared/names';
import type { Replica } from './replica';
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

/** One API server on an embedded store in a temporary folder; with flags that may name files of the folder. */
export async function startLocalServer(
  dialect: Dialect,
  extraArgs: (dir: string) => readonly string[] | Promise<readonly string[]> = () => [],
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
