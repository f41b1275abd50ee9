import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../../../shared/log/log';
import { StorageError } from '../../backend';

/**
 * The files that an open store keeps for as long as it is open. The system writes to a removed file without an error, so that a store whose
 * directory is removed or replaced would acknowledge writes that no later start finds. Only that ends the store: an error that says nothing about
 * the files, such as too many open files in the process, is logged once for each code, and the next check decides.
 */
export class StoreFiles {
  readonly #directory: string;
  readonly #records: string;
  readonly #log: Log;
  readonly #known: readonly (readonly [file: string, inode: number | undefined])[];
  readonly #logged = new Set<string | undefined>();

  /** Remembers the files of a store that was just opened in `directory`, with its database in `records`. */
  constructor(directory: string, records: string, log: Log) {
    this.#directory = directory;
    this.#records = records;
    this.#log = log;
    const files = [join(directory, WATERMARK_FILE), join(records, 'LOCK'), join(records, 'CURRENT')];
    this.#known = files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.ino]);
  }

  /** Throws `unavailable` when one of the files is gone or another one is in its place. Takes some microseconds. */
  assertPresent(): void {
    for (const [file, inode] of this.#known) this.#assert(file, () => statSync(file).ino === inode);
  }

  /** Also looks for the log of LevelDB, of which there is always one, under changing names. */
  assertLogPresent(): void {
    this.assertPresent();
    this.#assert('its log', () => readdirSync(this.#records).some((name) => name.endsWith('.log')));
  }

  #assert(what: string, isPresent: () => boolean): void {
    try {
      if (isPresent()) return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined || !GONE.has(code)) {
        if (!this.#logged.has(code))
          this.#log.warn({ error }, 'cannot check whether the files of the store are present');
        this.#logged.add(code);
        return;
      }
    }
    throw this.#removed(what);
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

/** The codes of errors that say that something else, or nothing, has the path of a file. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
