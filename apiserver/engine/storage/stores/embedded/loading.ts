import { StorageError } from '../../backend';
import type { Database } from './database';
import { onDisk } from './database';
import { readLog } from './log-reader';
import type { LogRow } from './rows';
import { decodeMetaRow, encodeMetaRow, metaRowKey } from './rows';
import { FIRST_REVISION, StoreState } from './store-state';

/** Called with each row of the history that is still there, in order, with the row it replaced. */
export type HistoryVisitor = (row: LogRow, replacedBytes: number) => void;

/**
 * Reads the log once, from the oldest row to the newest, verifies every row and how it follows from the ones before, and rebuilds
 * what the store keeps in memory. Values are verified when they are read. Throws `corrupt` when something is damaged or missing.
 */
export async function loadState(
  database: Database,
  acknowledged: number | undefined,
  visit: HistoryVisitor,
): Promise<StoreState> {
  const state = new StoreState();
  await readMeta(database, state);
  let next = state.prunedTo;
  for await (const rows of readLog(database, { from: FIRST_REVISION, to: Number.MAX_SAFE_INTEGER })) {
    for (const row of rows) {
      if (row.revision >= state.prunedTo) {
        if (row.revision !== next) throw missing(next);
        next += 1;
        const replaced = state.index.get(row.key);
        if ((replaced?.revision ?? 0) !== row.previous) throw missing(row.previous);
        visit(row, replaced?.valueBytes ?? 0);
      }
      apply(state, row);
    }
  }
  if (state.revision < Math.max(state.compactRevision, acknowledged ?? 0)) {
    throw new StorageError(
      'corrupt',
      `the store ends at revision ${String(state.revision)}, but ${String(Math.max(state.compactRevision, acknowledged ?? 0))} was acknowledged: its newest files are damaged or missing`,
    );
  }
  return state;
}

/** The write that records how far history was forgotten, and how far its rows were removed. */
export function historyMeta(
  compactRevision: number,
  prunedTo: number,
): { type: 'put'; key: Buffer; value: Buffer } {
  const value = encodeMetaRow(HISTORY, { compactRevision, prunedTo });
  return { type: 'put', key: metaRowKey(HISTORY), value };
}

/** Applies one committed row to what is kept in memory of the current state. */
export function apply(state: StoreState, row: LogRow): void {
  state.revision = row.revision;
  const { revision, valueBytes, expiresAt } = row;
  if (row.type === 'put') state.index.set(row.key, { revision, valueBytes, expiresAt });
  else state.index.delete(row.key);
}

const HISTORY = 'history';
const FORMAT = 'format';
const FORMAT_VERSION = 1;

async function readMeta(database: Database, state: StoreState): Promise<void> {
  const [format, history] = await onDisk(database.getMany([metaRowKey(FORMAT), metaRowKey(HISTORY)]));
  if (format === undefined) {
    const value = encodeMetaRow(FORMAT, FORMAT_VERSION);
    await onDisk(database.batch([{ type: 'put', key: metaRowKey(FORMAT), value }], { sync: true }));
  } else if (decodeMetaRow(FORMAT, format) !== FORMAT_VERSION) {
    throw new StorageError('unavailable', 'the embedded store was written by another version of its format');
  }
  if (history === undefined) return;
  const { compactRevision, prunedTo } = decodeMetaRow(HISTORY, history) as {
    readonly compactRevision: number;
    readonly prunedTo: number;
  };
  state.compactRevision = compactRevision;
  state.prunedTo = prunedTo;
}

function missing(revision: number): StorageError {
  return new StorageError('corrupt', `revision ${String(revision)} is missing from the log`);
}
