import { STORE_BACKUP_BYTES_HEADER, STORE_BACKUP_PATH } from '../../../shared/files/store-backup';
import type { PageRoutes } from '../server/page-router';
import { createPageRouter, page } from '../server/page-router';
import type { OpenStore } from '../storage/backend-row';

/** Creates the route that streams a backup of the store, taken at the request. A store with backup tools of its own (etcd) has none. */
export function createBackupRouter({ backup }: Pick<OpenStore, 'backup'>): PageRoutes {
  const router = createPageRouter();
  router.all(
    STORE_BACKUP_PATH,
    page(({ exchange }) => {
      if (exchange.method !== 'GET' || backup === undefined) return undefined;
      const { bytes, pieces } = backup();
      return {
        code: 200,
        headers: { 'Content-Type': 'application/octet-stream', [STORE_BACKUP_BYTES_HEADER]: String(bytes) },
        body: pieces,
      };
    }),
  );
  return { router, paths: [] };
}
