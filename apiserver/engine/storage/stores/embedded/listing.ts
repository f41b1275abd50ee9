import type { ListOptions, ListResult, StoredRecord } from '../../backend';
import { StorageError } from '../../backend';
import type { Database, DatabaseSnapshot } from './database';
import { readValues, takeSnapshot } from './database';
import { compareKeys } from '../../../../../shared/meta/key-order';
import { readLog } from './log-reader';
import type { Found } from './record-index';
import type { StoreState } from './store-state';
import { compacted } from './watching';

export interface ListContext {
  readonly database: Database;
  readonly state: StoreState;
}

/** The list of `Backend`: the newest one from the index, a past one by undoing in it what the log says happened since. */
export async function listRecords(
  { database, state }: ListContext,
  prefix: string,
  options: ListOptions,
  signal: AbortSignal,
): Promise<ListResult> {
  const { revision = state.revision, limit = Infinity, after } = options;
  checkReadable(state, revision);
  const undo = await readUndo({ database, state }, { prefix, revision }, signal);
  checkReadable(state, revision);

  // There is no await until the snapshot, so that both are of one moment.
  const { found, total } =
    undo.size === 0
      ? state.index.find(prefix, { after, max: limit })
      : findPast(state, undo, { prefix, after });
  const page = found.slice(0, limit);
  const remaining = total - page.length;
  if (options.keysOnly === true) {
    return {
      records: page.map(({ key, revision: at }) => ({ key, value: NOTHING, revision: at })),
      revision,
      remaining,
    };
  }
  const snapshot = takeSnapshot(database);
  try {
    const records = await readRecords(database, page, { snapshot, signal });
    return { records, revision, remaining };
  } finally {
    await snapshot.close();
  }
}

const VALUES_PER_READ_MAX = 500;
const NOTHING = Buffer.alloc(0);

function checkReadable(state: StoreState, revision: number): void {
  if (revision < state.compactRevision) throw compacted(revision, state.compactRevision);
  if (revision > state.revision) {
    throw new StorageError(
      'future',
      `revision ${String(revision)} has not happened yet; the newest one is ${String(state.revision)}`,
    );
  }
}

/**
 * For each key below the prefix that changed after the revision: the revision of its record then, or 0 when there was none. Reads
 * on until it has caught up with the writers; when it resolves, nothing is newer than what it read.
 */
async function readUndo(
  { database, state }: ListContext,
  { prefix, revision }: { readonly prefix: string; readonly revision: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const undo = new Map<string, number>();
  let done = revision;
  while (done < state.revision) {
    const to = state.revision;
    for await (const rows of readLog(database, { from: done + 1, to })) {
      signal.throwIfAborted();
      for (const { key, previous } of rows) {
        if (key.startsWith(prefix) && !undo.has(key)) undo.set(key, previous);
      }
    }
    done = to;
  }
  return undo;
}

/** The current records with what changed since put back. */
function findPast(
  state: StoreState,
  undo: ReadonlyMap<string, number>,
  { prefix, after }: { readonly prefix: string; readonly after: string | undefined },
): { readonly found: readonly Found[]; readonly total: number } {
  const unchanged = state.index.find(prefix, { after }).found.filter(({ key }) => !undo.has(key));
  const former = [...undo]
    .filter(([key, revision]) => revision !== 0 && compareKeys(key, after ?? '') > 0)
    .map(([key, revision]) => ({ key, revision }));
  const found = [...unchanged, ...former].sort((a, b) => compareKeys(a.key, b.key));
  return { found, total: found.length };
}

async function readRecords(
  database: Database,
  found: readonly Found[],
  { snapshot, signal }: { readonly snapshot: DatabaseSnapshot; readonly signal: AbortSignal },
): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (let at = 0; at < found.length; at += VALUES_PER_READ_MAX) {
    signal.throwIfAborted();
    const part = found.slice(at, at + VALUES_PER_READ_MAX);
    const values = await readValues(
      database,
      part.map(({ revision }) => revision),
      snapshot,
    );
    for (const [index, value] of values.entries()) {
      const { key, revision } = part[index] as Found;
      records.push({ key, value, revision });
    }
  }
  return records;
}
