import type { Iterator } from 'classic-level';
import { StorageError } from '../../backend';
import type { Database, DatabaseSnapshot } from './database';
import { storageErrorOf } from './database';
import type { LogRow } from './rows';
import { decodeLogRow, logRowKey } from './rows';

export interface LogRange {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly snapshot?: DatabaseSnapshot;
}

/** The log rows of the range that exist, in order, as of the moment of the call, in groups of at most {@link GROUP_ROWS_MAX}. */
export async function* readLog(database: Database, range: LogRange): AsyncGenerator<readonly LogRow[]> {
  if (range.from > range.to) return;
  const rows = openIterator(database, range);
  try {
    for (;;) {
      const group = await rows.nextv(GROUP_ROWS_MAX);
      if (group.length === 0) return;
      yield group.map(([key, value]) => decodeLogRow(key, value));
    }
  } catch (error) {
    throw storageErrorOf(error);
  } finally {
    await rows.close();
  }
}

/** Fails as `corrupt` unless `rows` are all the revisions of the range. */
export function checkComplete(rows: readonly LogRow[], { from, to }: LogRange): void {
  for (let revision = from; revision <= to; revision += 1) {
    if (rows[revision - from]?.revision === revision) continue;
    throw new StorageError('corrupt', `revision ${String(revision)} is missing from the log`);
  }
}

function openIterator(
  database: Database,
  { from, to, snapshot }: LogRange,
): Iterator<Database, Buffer, Buffer> {
  try {
    return database.iterator({
      gte: logRowKey(from),
      lte: logRowKey(to),
      highWaterMarkBytes: GROUP_BYTES,
      ...(snapshot === undefined ? {} : { snapshot }),
    });
  } catch (error) {
    throw storageErrorOf(error);
  }
}

const GROUP_ROWS_MAX = 512;
const GROUP_BYTES = 128 * 1024;
