import type { Log } from '../../../../../shared/log/log';
import { StorageError } from '../../backend';
import type { Database, RowWrite } from './database';
import { onDisk } from './database';
import { historyMeta } from './loading';
import { readLog } from './log-reader';
import type { LogRow } from './rows';
import { logRowKey, valueRowKey } from './rows';
import type { StoreState } from './store-state';

export interface HistoryLimits {
  /** History of this age is compacted automatically, in milliseconds. */
  readonly historyMs: number;
  /** History beyond this size is compacted earlier. */
  readonly historyBytesMax: number;
}

/** A revision, when it was committed, and how many bytes of history had been made by then. */
interface Mark {
  readonly revision: number;
  readonly at: number;
  readonly bytes: number;
}

/** Tracks age and size of the history by sparse marks, without memory per revision. */
export class History {
  readonly #limits: HistoryLimits;
  #marks: Mark[] = [];
  /** Bytes of history ever made, and how many of them are gone. */
  #made = 0;
  #gone = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** Bytes of history that could be forgotten now, about. */
  get bytes(): number {
    return this.#made - this.#gone;
  }

  /** Call it for every commit, in order; `replacedBytes` is the size of the value it turned into history. */
  add(row: LogRow, replacedBytes: number): void {
    this.#made += replacedBytes + ROW_BYTES;
    const last = this.#marks.at(-1);
    const isDue =
      last === undefined ||
      row.committedAt - last.at >= this.#limits.historyMs / MARKS ||
      this.#made - last.bytes >= this.#limits.historyBytesMax / MARKS;
    if (isDue) this.#marks.push({ revision: row.revision, at: row.committedAt, bytes: this.#made });
  }

  /** The revision to compact to at this time (milliseconds since 1970), or undefined when nothing is too old or too much. */
  overdue(now: number): number | undefined {
    const tooOld = this.#marks.findLast(({ at }) => at <= now - this.#limits.historyMs);
    const excess = this.bytes - this.#limits.historyBytesMax;
    const tooMuch = excess > 0 ? this.#marks.find(({ bytes }) => bytes - this.#gone >= excess) : undefined;
    return Math.max(tooOld?.revision ?? 0, tooMuch?.revision ?? 0) || undefined;
  }

  forget(revision: number): void {
    const kept = this.#marks.findIndex((mark) => mark.revision > revision);
    const gone = kept === -1 ? this.#marks : this.#marks.slice(0, kept);
    this.#gone = Math.max(this.#gone, gone.at(-1)?.bytes ?? 0);
    this.#marks = kept === -1 ? [] : this.#marks.slice(kept);
  }
}

export interface CompactionOptions {
  readonly database: Database;
  readonly state: StoreState;
  readonly history: History;
  readonly log: Log;
}

/** Compacts history, one compaction at a time: first flushes the compact revision, then removes the rows in groups in the background. */
export class Compaction {
  readonly #options: CompactionOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Resolves when nothing below the revision is readable and its rows are removed. Throws `future` above the newest revision. */
  async compact(revision: number): Promise<void> {
    const { state } = this.#options;
    if (revision > state.revision) {
      throw new StorageError(
        'future',
        `revision ${String(revision)} has not happened yet and cannot be compacted`,
      );
    }
    const turn = this.#last.then(async () => this.#run(revision));
    this.#last = turn.catch(() => undefined);
    await turn;
  }

  /** Resumes a compaction that a previous process did not finish. */
  resume(): void {
    const { state, log } = this.#options;
    this.compact(state.compactRevision).catch((error: unknown) => {
      log.warn({ error }, 'failed to delete compacted history; the next compaction retries');
    });
  }

  async idle(): Promise<void> {
    await this.#last;
  }

  async #run(revision: number): Promise<void> {
    const { database, state, history } = this.#options;
    if (state.isClosed) return;
    if (revision > state.compactRevision) {
      await onDisk(database.batch([historyMeta(revision, state.prunedTo)], { sync: true }));
      state.compactRevision = revision;
      history.forget(revision);
    }
    await this.#prune();
  }

  /**
   * Removes the rows that no readable revision needs: what a row below the compaction replaced, and deletions below it. The row at
   * the compaction keeps the one it replaced, so that a watch from there can still show it. Flushed, because a power failure that
   * lost one group and kept the next could bring a deleted record back.
   */
  async #prune(): Promise<void> {
    const { database, state } = this.#options;
    const range = { from: state.prunedTo, to: state.compactRevision - 1 };
    for await (const rows of readLog(database, range)) {
      if (state.isClosed) return;
      const writes: RowWrite[] = rows.flatMap((row) => [
        ...(row.previous === 0 ? [] : removalOf(row.previous)),
        ...(row.type === 'delete' ? removalOf(row.revision) : []),
      ]);
      const prunedTo = (rows.at(-1)?.revision ?? state.prunedTo) + 1;
      await onDisk(database.batch([...writes, historyMeta(state.compactRevision, prunedTo)], { sync: true }));
      state.prunedTo = prunedTo;
    }
  }
}

const MARKS = 32;
const ROW_BYTES = 200;

function removalOf(revision: number): RowWrite[] {
  return [
    { type: 'del', key: logRowKey(revision) },
    { type: 'del', key: valueRowKey(revision) },
  ];
}
