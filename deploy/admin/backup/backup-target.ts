/** A place that keeps several backups, each under a name of its own. */
export interface BackupTarget {
  /** All names, also of files that are no backups. */
  list(): Promise<readonly string[]>;
  /** Stores a file. A reader never sees a part of it. */
  put(file: string, name: string): Promise<void>;
  /** Copies a backup to `file`. */
  get(name: string, file: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** The path of a backup in a directory; undefined for an object store. */
  pathOf(name: string): string | undefined;
}
