import { STORE_BACKUP_BYTES_HEADER, STORE_BACKUP_PATH } from '../../../shared/files/store-backup';
import type { Answer, Exchange } from '../request/exchange';
import type { OpenStore } from '../storage/backend-row';

/** Answers the path of backups with one that is taken now; undefined for any other path, and for a store that others back up. */
export function createStoreBackup({
  backup,
}: Pick<OpenStore, 'backup'>): (exchange: Exchange) => Answer | undefined {
  return ({ path, method }) => {
    if (path !== STORE_BACKUP_PATH || method !== 'GET' || backup === undefined) return undefined;
    const { bytes, pieces } = backup();
    return {
      code: 200,
      headers: { 'Content-Type': 'application/octet-stream', [STORE_BACKUP_BYTES_HEADER]: String(bytes) },
      body: pieces,
    };
  };
}
