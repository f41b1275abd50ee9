import type { DeleteOutcome, Guard, StoredRecord, WriteOutcome } from '../../backend';
import type { Database, RowWrite } from './database';
import { readValues } from './database';
import type { IndexEntry } from './record-index';
import type { LogRow } from './rows';
import { encodeLogRow, encodeValueRow, logRowKey, valueRowKey } from './rows';
import type { StoreState } from './store-state';
import type { Committed } from './tail';

export interface CommitRequest {
  readonly type: 'create' | 'update' | 'delete';
  readonly key: string;
  /** The revision the record must have; without meaning for a create. */
  readonly expected: number;
  /** Undefined for a delete. */
  readonly value: Buffer | undefined;
  /** Absent means never. */
  readonly ttlSeconds?: number;
  /** Other records that must be unchanged. */
  readonly guards?: readonly Guard[];
}

export interface CommitPlan {
  /** One atomic batch. */
  readonly writes: readonly RowWrite[];
  readonly committed: readonly Committed[];
  /** One for each request, in order; valid once the batch is flushed. */
  readonly outcomes: readonly Promise<WriteOutcome | DeleteOutcome>[];
}

interface PlanContext {
  readonly database: Database;
  readonly state: StoreState;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Current = IndexEntry & { readonly value?: Buffer };

/** Plans a group of writes in order: each is compared with the state after the writes before it. */
export function planCommit(requests: readonly CommitRequest[], context: PlanContext): CommitPlan {
  const { state, now } = context;
  const pending = new Map<string, Current | undefined>();
  const writes: RowWrite[] = [];
  const committed: Committed[] = [];
  let revision = state.revision;
  const latest = (key: string): Current | undefined =>
    pending.has(key) ? pending.get(key) : state.index.get(key);
  const match = (guards: readonly Guard[]): boolean =>
    guards.every(({ key, revision: expected }) => latest(key)?.revision === expected);

  const outcomes = requests.map(async (request): Promise<WriteOutcome | DeleteOutcome> => {
    const { key, value, ttlSeconds } = request;
    const current = latest(key);
    if (!isAsExpected(request, current) || !match(request.guards ?? [])) {
      return withRecord(context, key, current, { ok: false, revision });
    }
    revision += 1;
    const row: LogRow = {
      revision,
      type: value === undefined ? 'delete' : 'put',
      key,
      previous: current?.revision ?? 0,
      expiresAt: ttlSeconds === undefined ? 0 : now + ttlSeconds * 1000,
      committedAt: now,
      valueBytes: value?.length ?? 0,
    };
    committed.push({ row, value });
    writes.push({ type: 'put', key: logRowKey(revision), value: encodeLogRow(row) });
    if (value === undefined) {
      pending.set(key, undefined);
      return withRecord(context, key, current, { ok: true, revision });
    }
    writes.push({ type: 'put', key: valueRowKey(revision), value: encodeValueRow(revision, value) });
    pending.set(key, { revision, valueBytes: value.length, expiresAt: row.expiresAt, value });
    return { ok: true, revision };
  });
  return { writes, committed, outcomes };
}

function isAsExpected({ type, expected }: CommitRequest, current: Current | undefined): boolean {
  return type === 'create' ? current === undefined : current?.revision === expected;
}

/** Reads the value at once: later its row may be compacted. */
async function withRecord(
  { database }: PlanContext,
  key: string,
  current: Current | undefined,
  { ok, revision }: { readonly ok: boolean; readonly revision: number },
): Promise<DeleteOutcome> {
  let record: StoredRecord | undefined;
  if (current !== undefined) {
    const [value] =
      current.value === undefined ? await readValues(database, [current.revision]) : [current.value];
    if (value !== undefined) record = { key, value, revision: current.revision };
  }
  return ok && record !== undefined
    ? { ok, revision, deleted: record }
    : { ok: false, current: record, revision };
}
