import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../backend';

/**
 * The files that an open store keeps for as long as it is open. The system writes to a removed file without an error, so that a store whose
 * directory is removed or replaced would acknowledge writes that no later start finds.
 */
export class StoreFiles {
  readonly #directory: string;
  readonly #records: string;
  readonly #known: readonly (readonly [file: string, inode: number | undefined])[];

  /** Remembers the files of a store that was just opened in `directory`, with its database in `records`. */
  constructor(directory: string, records: string) {
    this.#directory = directory;
    this.#records = records;
    const files = [join(directory, WATERMARK_FILE), join(records, 'LOCK'), join(records, 'CURRENT')];
    this.#known = files.map((file) => [file, inodeOf(file)]);
  }

  /** Throws `unavailable` when one of the files is gone or another one is in its place. Takes some microseconds. */
  assertPresent(): void {
    const lost = this.#known.find(([file, inode]) => inodeOf(file) !== inode);
    if (lost !== undefined) throw this.#removed(lost[0]);
  }

  /** Also looks for the log of LevelDB, of which there is always one, under changing names. */
  assertLogPresent(): void {
    this.assertPresent();
    if (!readdirSync(this.#records).some((name) => name.endsWith('.log'))) throw this.#removed('its log');
  }

  #removed(what: string): StorageError {
    return new StorageError(
      'unavailable',
      `the directory ${this.#directory} or files in it were removed or replaced while the store was open (${what}); restore it from a backup, or start with an empty one`,
    );
  }
}

/** The file of the Watermark in the directory of the store. */
export const WATERMARK_FILE = 'acknowledged';

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
