import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as ClassicLevelModule from 'classic-level';
import type { ClassicLevel } from 'classic-level';
import { makeDirectory } from '../../../../../shared/files/make-directory';
import { StorageError } from '../../backend';
import { decodeValueRow, valueRowKey } from './rows';

/** Rows of bytes on disk, in the order of their keys. */
export type Database = ClassicLevel<Buffer, Buffer>;
export type DatabaseSnapshot = ReturnType<Database['snapshot']>;
export type RowWrite =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: Buffer };

/**
 * Opens the database in `directory`, alone: LevelDB locks it against other processes with a lock of the operating system that dies
 * with the process. Within this process the set below does it, because a second attempt that reached LevelDB would close the lock
 * file, and POSIX then drops the lock the first one holds. Throws `unavailable` when it is open already, `corrupt` when the
 * files are damaged or, with `mustExist`, gone.
 */
export async function openDatabase(directory: string, mustExist: boolean): Promise<Database> {
  // Programs on other stores start without the native package.
  const { ClassicLevel: Level } = createRequire(__filename)('classic-level') as typeof ClassicLevelModule;
  const path = prepare(directory);
  if (openDirectories.has(path)) throw inUse(directory);
  openDirectories.add(path);
  const database: Database = new Level(path, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    createIfMissing: !mustExist,
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
  });
  try {
    await database.open();
    return database;
  } catch (error) {
    openDirectories.delete(path);
    throw openingErrorOf(error, directory);
  }
}

export async function closeDatabase(database: Database): Promise<void> {
  await database.close();
  openDirectories.delete(database.location);
}

/** The values of these revisions, in their order. Without a snapshot they are read as of the moment of the call. */
export async function readValues(
  database: Database,
  revisions: readonly number[],
  snapshot?: DatabaseSnapshot,
): Promise<Buffer[]> {
  if (revisions.length === 0) return [];
  const rows = await onDisk(
    database.getMany(revisions.map(valueRowKey), snapshot === undefined ? {} : { snapshot }),
  );
  return revisions.map((revision, at) => decodeValueRow(revision, rows[at]));
}

/** The rows as they are now; it must be closed. */
export function takeSnapshot(database: Database): DatabaseSnapshot {
  try {
    return database.snapshot();
  } catch (error) {
    throw storageErrorOf(error);
  }
}

/** Turns what LevelDB throws into a StorageError. */
export async function onDisk<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw storageErrorOf(error);
  }
}

export function storageErrorOf(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const { code, message } = describe(error);
  if (code.endsWith('_NOT_OPEN')) return new StorageError('closed', 'the store is closed', { cause: error });
  const isDamage = code === 'LEVEL_CORRUPTION' || DAMAGED_FILE.test(message);
  return isDamage
    ? new StorageError('corrupt', `the store's files are damaged: ${message}`, { cause: error })
    : new StorageError('unavailable', `the store's disk does not answer: ${message}`, { cause: error });
}

/** Only its owner may read the store, because it holds secrets. */
function prepare(directory: string): string {
  try {
    makeDirectory(directory, 0o700);
    return realpathSync(directory);
  } catch (error) {
    throw openingErrorOf(error, directory);
  }
}

const openDirectories = new Set<string>();
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024;
const CACHE_BYTES = 8 * 1024 * 1024;

/** A table file that is shorter than its own index says, or gone, comes back as an input/output error. */
const DAMAGED_FILE = /Invalid argument|truncated|No such file|file is too short/;

function openingErrorOf(error: unknown, directory: string): StorageError {
  const { code, message } = describe(causeOf(error));
  if (code === 'LEVEL_LOCKED') return inUse(directory, error);
  if (code === 'LEVEL_CORRUPTION' || message.includes('does not exist')) {
    return new StorageError('corrupt', `the embedded store in ${directory} is damaged: ${message}`, {
      cause: error,
    });
  }
  return new StorageError('unavailable', `cannot open the embedded store in ${directory}: ${message}`, {
    cause: error,
  });
}

function inUse(directory: string, cause?: unknown): StorageError {
  return new StorageError(
    'unavailable',
    `the embedded store in ${directory} is already open: only one process at a time may use it`,
    { cause },
  );
}

/** LevelDB's own error is the cause of the error of `open`. */
function causeOf(error: unknown): unknown {
  return (error as { readonly cause?: unknown } | null | undefined)?.cause ?? error;
}

/** By shape, because an error that native code makes need not be an instance of this realm's Error. */
function describe(error: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return {
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : String(error),
  };
}
