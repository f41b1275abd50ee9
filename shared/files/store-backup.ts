/** First bytes of a backup of an embedded store. Its last 32 bytes are the SHA-256 of everything before, as in snapshots of etcd. */
export const STORE_BACKUP_HEAD = Buffer.from('embedded store backup 1\n');

/** The file in the directory of an embedded store out of which the store is made when it is opened for the first time. */
export const STORE_BACKUP_FILE = 'backup';

/** The path at which an API server on an embedded store tells its backup. */
export const STORE_BACKUP_PATH = '/debug/store-backup';

/** Size of the whole backup in bytes. */
export const STORE_BACKUP_BYTES_HEADER = 'x-backup-bytes';
