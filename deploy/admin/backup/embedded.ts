import { copyFile, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '../../../shared/client/client';
import {
  STORE_BACKUP_BYTES_HEADER,
  STORE_BACKUP_FILE,
  STORE_BACKUP_PATH,
} from '../../../shared/files/store-backup';
import { makeDirectory } from '../../../shared/files/make-directory';
import { readClientOptions } from '../api-server';
import type { SnapshotPiece } from '../etcd/members';

/** The backup that an API server on an embedded store takes now. Rejects where it has none to give. */
export async function* embeddedBackup(
  kubeconfig: string,
  { timeoutMs }: { readonly timeoutMs: number },
): AsyncGenerator<SnapshotPiece> {
  const client = createClient({ ...readClientOptions(kubeconfig), timeoutMs });
  try {
    const { chunks, headers } = await client.download(STORE_BACKUP_PATH);
    let remaining = Number(headers[STORE_BACKUP_BYTES_HEADER]);
    for await (const bytes of chunks) {
      remaining -= bytes.length;
      yield { bytes, remaining };
    }
  } catch (error) {
    throw new Error(
      `the API server gave no backup (${error instanceof Error ? error.message : String(error)}); only one on an embedded store does, and only to superusers; the backup of etcd needs --etcd-servers`,
      { cause: error },
    );
  } finally {
    client.close();
  }
}

/** Makes the directory of an embedded store that is made out of the backup when an API server opens it. */
export async function placeBackup(file: string, directory: string): Promise<void> {
  makeDirectory(directory, 0o700);
  const target = path.join(directory, STORE_BACKUP_FILE);
  const part = `${target}.part`;
  await copyFile(file, part);
  const handle = await open(part, 'r+');
  try {
    await handle.chmod(0o600);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, target);
}
