import type { FileHandle } from 'node:fs/promises';
import { access, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../shared/files/make-directory';
import type { Log } from '../../../shared/log/log';
import type { LineFile } from './log-sink';
import type { Retention } from './old-logs';
import { oldLogName, tidyOldLogs } from './old-logs';

export interface LogFileOptions extends Retention {
  readonly file: string;
  /** The file is rotated before it would grow beyond this. */
  readonly bytesMax: number;
  readonly log: Log;
}

/** Events contain request data: only the owner may read them. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o755;
const ROTATE_AGAIN_MS = 60_000;
const NEWLINE = Buffer.from('\n');

/** Opens the file for appending and creates it and its directory if missing. Rejects if it cannot be written. */
export async function openLogFile(options: LogFileOptions): Promise<LineFile> {
  makeDirectory(path.dirname(options.file), DIRECTORY_MODE);
  const handle = await openToAppend(options.file);
  const { size } = await handle.stat();
  const isTorn = size > 0 && !(await endsWithNewline(handle, size));
  return new LogFile(options, handle, { size, isTorn });
}

/** A killed process may have left a partial line. A device cannot be read at a position. */
async function endsWithNewline(handle: FileHandle, size: number): Promise<boolean> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 0 || buffer[0] === NEWLINE[0];
}

async function openToAppend(file: string): Promise<FileHandle> {
  return open(file, 'a+', FILE_MODE);
}

class LogFile implements LineFile {
  readonly #options: LogFileOptions;
  #handle: FileHandle | undefined;
  #size: number;
  /** Whether the last write ended within a line. */
  #isTorn: boolean;
  /** After a failed rename the file stays in use until this time, when rotation is tried again. */
  #rotateNotBefore = 0;
  #tidying: Promise<void>;

  constructor(
    options: LogFileOptions,
    handle: FileHandle,
    { size, isTorn }: { readonly size: number; readonly isTorn: boolean },
  ) {
    this.#options = options;
    this.#handle = handle;
    this.#size = size;
    this.#isTorn = isTorn;
    this.#tidying = this.#tidy();
  }

  async append(bytes: Buffer): Promise<void> {
    const isFull = this.#size > 0 && this.#size + bytes.length > this.#options.bytesMax;
    if (isFull && performance.now() >= this.#rotateNotBefore) await this.#rotate();
    this.#handle ??= await openToAppend(this.#options.file);
    if (this.#isTorn) await this.#write(this.#handle, NEWLINE);
    await this.#write(this.#handle, bytes);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    await this.#tidying;
  }

  async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, at);
      at += bytesWritten;
      this.#size += bytesWritten;
      this.#isTorn = bytes[at - 1] !== NEWLINE[0];
    }
  }

  async #rotate(): Promise<void> {
    const { file, log } = this.#options;
    try {
      await rename(file, await freeName(file));
    } catch (error) {
      // If another process removed the file, start a new one.
      if (!isMissing(error)) {
        this.#rotateNotBefore = performance.now() + ROTATE_AGAIN_MS;
        log.warn({ error }, 'failed to rotate the audit log; the current file stays in use');
        return;
      }
    }
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
    this.#handle = await openToAppend(file);
    this.#size = 0;
    this.#isTorn = false;
    this.#tidying = this.#tidying.then(async () => this.#tidy());
  }

  /** A failure to remove old files does not stop auditing. */
  async #tidy(): Promise<void> {
    const { file, log } = this.#options;
    try {
      await tidyOldLogs(file, this.#options, Date.now());
    } catch (error) {
      log.warn({ error }, 'failed to remove or compress old audit logs');
    }
  }
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}

/** Two rotations in one millisecond must not use the same name. */
async function freeName(file: string): Promise<string> {
  for (let atMs = Date.now(); ; atMs += 1) {
    const name = oldLogName(file, atMs);
    if (!(await exists(name)) && !(await exists(`${name}.gz`))) return name;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}

/** Returns the standard output as a log; it is never closed. */
export function standardOutput(stream: NodeJS.WritableStream = process.stdout): LineFile {
  return {
    append: async (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => {
          if (error === null || error === undefined) resolve();
          else reject(error);
        });
      }),
    close: async () => Promise.resolve(),
  };
}
