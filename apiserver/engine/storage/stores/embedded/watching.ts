import type { Revision, StoredRecord, StoreEvent, WatchOptions } from '../../backend';
import { StorageError } from '../../backend';
import type { Database } from './database';
import { readValues, takeSnapshot } from './database';
import { checkComplete, readLog } from './log-reader';
import type { LogRow } from './rows';
import type { StoreState } from './store-state';
import { FIRST_REVISION } from './store-state';

export interface WatchContext {
  readonly database: Database;
  readonly state: StoreState;
  /** Keys that do not begin with this are foreign. */
  readonly servedPrefix: string;
}

interface Batch {
  readonly revisions: readonly Revision[];
  /** The watch continues after this revision. */
  readonly through: number;
}

/**
 * One watch. Between two batches it keeps only its position: unread revisions stay on disk, so a slow reader costs no memory. It
 * throws `compacted` when its position is compacted.
 */
export async function* watchRevisions(
  context: WatchContext,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Revision[]> {
  const { state } = context;
  let next = options.from;
  while (!hasEnded(state, signal)) {
    if (next < state.compactRevision) throw compacted(next, state.compactRevision);
    if (next > state.revision) {
      await state.news(signal);
      continue;
    }
    const { revisions, through } = await readUnlessClosed(context, options, next);
    next = through + 1;
    if (revisions.length > 0 && !hasEnded(state, signal)) yield revisions;
  }
}

export function compacted(revision: number, compactRevision: number): StorageError {
  return new StorageError(
    'compacted',
    `revision ${String(revision)} was compacted; the oldest one is ${String(compactRevision)}`,
    { compactRevision },
  );
}

const BATCH_REVISIONS_MAX = 512;
const BATCH_BYTES_MAX = 1024 * 1024;

function hasEnded(state: StoreState, signal: AbortSignal): boolean {
  return state.isClosed || signal.aborted;
}

/** Closing the store makes a read fail, which ends the watch without an error. */
async function readUnlessClosed(context: WatchContext, options: WatchOptions, from: number): Promise<Batch> {
  try {
    return await readBatch(context, options, Math.max(from, FIRST_REVISION + 1));
  } catch (error) {
    if (!context.state.isClosed) throw error;
    return { revisions: [], through: from };
  }
}

async function readBatch(context: WatchContext, options: WatchOptions, from: number): Promise<Batch> {
  const { database, state } = context;
  if (from > state.revision) return { revisions: [], through: state.revision };
  const recent = options.withPrevious === true ? undefined : state.tail.from(from, BATCH_REVISIONS_MAX);
  if (recent !== undefined) {
    const rows = withinBytes(
      context,
      options,
      recent.map(({ row }) => row),
    );
    return batchOf(context, options, { rows, valueAt: (revision) => recent[revision - from]?.value });
  }
  const snapshot = takeSnapshot(database);
  try {
    const to = Math.min(state.revision, from + BATCH_REVISIONS_MAX - 1);
    const all: LogRow[] = [];
    for await (const group of readLog(database, { from, to, snapshot })) all.push(...group);
    checkComplete(all, { from, to });
    const rows = withinBytes(context, options, all);
    const needed = neededValues(context, options, rows);
    const values = await readValues(database, needed, snapshot);
    const byRevision = new Map(needed.map((revision, at) => [revision, values[at]]));
    return batchOf(context, options, { rows, valueAt: (revision) => byRevision.get(revision) });
  } finally {
    await snapshot.close();
  }
}

function isWanted({ servedPrefix }: WatchContext, { prefix }: WatchOptions, row: LogRow): boolean {
  return row.key.startsWith(prefix ?? servedPrefix);
}

/** The first rows whose wanted values stay within the bound, and always one. */
function withinBytes(
  context: WatchContext,
  options: WatchOptions,
  rows: readonly LogRow[],
): readonly LogRow[] {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    const isFull = bytes > BATCH_BYTES_MAX;
    if (isWanted(context, options, row)) bytes += row.valueBytes;
    return isFull;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

function neededValues(context: WatchContext, options: WatchOptions, rows: readonly LogRow[]): number[] {
  const needed = new Set<number>();
  for (const row of rows) {
    if (!isWanted(context, options, row)) continue;
    if (row.type === 'put') needed.add(row.revision);
    if (options.withPrevious === true && row.previous !== 0) needed.add(row.previous);
  }
  return [...needed];
}

function batchOf(
  context: WatchContext,
  options: WatchOptions,
  read: { readonly rows: readonly LogRow[]; readonly valueAt: (revision: number) => Buffer | undefined },
): Batch {
  const revisions: Revision[] = [];
  for (const row of read.rows) {
    const wanted = isWanted(context, options, row);
    if (!wanted && options.prefix !== undefined) continue;
    const events = wanted ? [eventOf(row, read.valueAt, options.withPrevious === true)] : [];
    revisions.push({ revision: row.revision, events });
  }
  return { revisions, through: read.rows.at(-1)?.revision ?? 0 };
}

function eventOf(
  row: LogRow,
  valueAt: (revision: number) => Buffer | undefined,
  withPrevious: boolean,
): StoreEvent & { readonly previous?: StoredRecord } {
  const { key, previous } = row;
  const event: StoreEvent =
    row.type === 'delete'
      ? { type: 'delete', key }
      : { type: 'put', key, value: present(valueAt(row.revision), row.revision), created: previous === 0 };
  if (!withPrevious || previous === 0) return event;
  return { ...event, previous: { key, value: present(valueAt(previous), previous), revision: previous } };
}

function present(value: Buffer | undefined, revision: number): Buffer {
  if (value === undefined)
    throw new StorageError('corrupt', `the value of revision ${String(revision)} is missing`);
  return value;
}
