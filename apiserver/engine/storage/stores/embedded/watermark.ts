import { closeSync, existsSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * A small file that says up to which revision writes were acknowledged. It is written after each flushed commit and never flushed
 * by itself, so it is never ahead of the database: a database that ends below it has lost acknowledged writes, which LevelDB alone
 * would not notice when its newest log file was damaged or removed.
 */
export class Watermark {
  readonly #file: number;
  readonly #bytes = Buffer.alloc(FILE_BYTES);
  /** What the file said when it was opened, or undefined when it said nothing readable. */
  readonly opened: number | undefined;

  constructor(path: string) {
    this.#file = openSync(path, existsSync(path) ? 'r+' : 'wx+', 0o600);
    const length = readSync(this.#file, this.#bytes, 0, FILE_BYTES, 0);
    const isSound =
      length === FILE_BYTES && this.#bytes.readUInt32BE(8) === crc32(this.#bytes.subarray(0, 8));
    this.opened = isSound ? this.#bytes.readDoubleBE(0) : undefined;
  }

  write(revision: number): void {
    this.#bytes.writeDoubleBE(revision, 0);
    this.#bytes.writeUInt32BE(crc32(this.#bytes.subarray(0, 8)), 8);
    writeSync(this.#file, this.#bytes, 0, FILE_BYTES, 0);
  }

  close(): void {
    fdatasyncSync(this.#file);
    closeSync(this.#file);
  }
}

const FILE_BYTES = 12;
