/** How a backup of an embedded store begins. Its last 32 bytes are the SHA-256 of all before them, as in snapshots of etcd. */
export const STORE_BACKUP_HEAD = Buffer.from('embedded store backup 1\n');

/** The file in the directory of an embedded store out of which the store is made when it is opened for the first time. */
export const STORE_BACKUP_FILE = 'backup';

/** The path at which an API server on an embedded store tells its backup. */
export const STORE_BACKUP_PATH = '/debug/store-backup';

/** How many bytes the whole backup has. */
export const STORE_BACKUP_BYTES_HEADER = 'x-backup-bytes';
