import type { Clock } from '../../../../../shared/concurrency/clock';
import type { DeleteOutcome, WriteOutcome } from '../../backend';
import { StorageError } from '../../backend';
import { planCommit } from './commit-plan';
import type { CommitPlan, CommitRequest } from './commit-plan';
import type { Database } from './database';
import { storageErrorOf } from './database';
import { apply } from './loading';
import type { StoreState } from './store-state';
import type { LogRow } from './rows';
import type { StoreFiles } from './store-files';
import type { Watermark } from './watermark';

export interface CommitQueueOptions {
  readonly database: Database;
  readonly state: StoreState;
  readonly watermark: Watermark;
  readonly files: StoreFiles;
  readonly clock: Clock;
  /** Whether a group is synchronized with the disk before its writers are answered. */
  readonly isSynced: boolean;
  /** Called for every committed row, in order, before its writer is answered; `replacedBytes` is the size of the value it replaced. */
  readonly onCommitted: (row: LogRow, replacedBytes: number) => void;
  /** Called after every group with writes. */
  readonly onGroup: () => void;
  /** Called once when the store stops accepting writes. */
  readonly onFailure: (failure: StorageError) => void;
}

interface Waiting {
  readonly request: CommitRequest;
  readonly settle: (outcome: WriteOutcome | DeleteOutcome) => void;
  readonly fail: (error: unknown) => void;
  /** Removes the listener on the caller's signal. */
  forget: () => void;
  state: 'queued' | 'committing' | 'settled';
}

/**
 * Group commit: while one group of writes is flushed, the next one gathers. Every group is one atomic, flushed batch; its writers
 * are answered in order after the flush, including those whose comparison failed: no caller sees a state that a crash could revert.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** A write that is aborted while it waits is not made; one that is being flushed ends as `unknown-outcome`. */
  async submit(request: CommitRequest, signal?: AbortSignal): Promise<WriteOutcome | DeleteOutcome> {
    signal?.throwIfAborted();
    const { state } = this.#options;
    if (state.isClosed) throw new StorageError('closed', 'the store is closed');
    if (state.failure !== undefined) throw state.failure;
    const size = request.value?.length ?? 0;
    if (this.#waiting.length >= WAITING_WRITES_MAX || this.#waitingBytes + size > WAITING_BYTES_MAX) {
      throw new StorageError('unavailable', 'too many writes are waiting for the disk');
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        request,
        settle: resolve,
        fail: reject,
        forget: () => undefined,
        state: 'queued',
      };
      this.#waiting.push(waiting);
      this.#waitingBytes += size;
      if (signal !== undefined) abandonOnAbort(waiting, signal);
      this.#running ??= this.#run();
    });
  }

  /** Resolves when everything submitted before was answered. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // Writers of the same turn of the event loop join the same group.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (this.#waiting.length > 0) await this.#commit(this.#take());
    this.#running = undefined;
  }

  #take(): Waiting[] {
    const group: Waiting[] = [];
    let groupBytes = 0;
    let taken = 0;
    for (const each of this.#waiting) {
      if (group.length === GROUP_WRITES_MAX || groupBytes >= GROUP_BYTES_MAX) break;
      taken += 1;
      this.#waitingBytes -= each.request.value?.length ?? 0;
      if (each.state !== 'queued') continue;
      each.state = 'committing';
      groupBytes += each.request.value?.length ?? 0;
      group.push(each);
    }
    this.#waiting = this.#waiting.slice(taken);
    return group;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const { database, state, files, clock, isSynced } = this.#options;
    if (state.failure !== undefined) {
      for (const each of group) settleOnce(each, () => each.fail(state.failure));
      return;
    }
    const plan = planCommit(
      group.map(({ request }) => request),
      { database, state, now: clock.now() },
    );
    const answers = Promise.allSettled(plan.outcomes);
    try {
      if (plan.writes.length > 0) {
        await database.batch([...plan.writes], { sync: isSynced });
        files.assertPresent();
      }
      this.#publish(plan);
    } catch (error) {
      this.stop(error, group);
    }
    const outcomes = await answers;
    for (const [at, each] of group.entries()) {
      const outcome = outcomes[at];
      settleOnce(each, () => {
        if (outcome?.status === 'fulfilled') each.settle(outcome.value);
        else each.fail(storageErrorOf(outcome?.reason));
      });
    }
  }

  #publish({ committed }: CommitPlan): void {
    if (committed.length === 0) return;
    const { state, watermark, onCommitted, onGroup } = this.#options;
    watermark.write(committed.at(-1)?.row.revision ?? state.revision);
    for (const { row } of committed) {
      const replaced = state.index.get(row.key);
      apply(state, row);
      onCommitted(row, replaced?.valueBytes ?? 0);
    }
    state.tail.push(committed);
    state.announce();
    onGroup();
  }

  /**
   * Accepts no more writes, because of `cause`: whether a failed batch is on disk is known only after a restart. The outcome of the writes in
   * `group` is unknown.
   */
  stop(cause: unknown, group: readonly Waiting[] = []): void {
    const { state, onFailure } = this.#options;
    const reason = storageErrorOf(cause).message;
    const unknown = new StorageError('unknown-outcome', `the write may or may not be on disk: ${reason}`, {
      cause,
    });
    for (const each of group) settleOnce(each, () => each.fail(unknown));
    if (state.failure !== undefined) return;
    state.failure = new StorageError('unavailable', `the embedded store stopped writing: ${reason}`, {
      cause,
    });
    onFailure(state.failure);
  }
}

const WAITING_WRITES_MAX = 20_000;
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
const GROUP_WRITES_MAX = 512;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

function settleOnce(waiting: Waiting, settle: () => void): void {
  if (waiting.state === 'settled') return;
  waiting.state = 'settled';
  waiting.forget();
  settle();
}

function abandonOnAbort(waiting: Waiting, signal: AbortSignal): void {
  const onAbort = (): void => {
    const isQueued = waiting.state === 'queued';
    const { reason } = signal as { readonly reason: unknown };
    const unknown = new StorageError('unknown-outcome', 'the caller left while the write was being flushed', {
      cause: reason,
    });
    settleOnce(waiting, () => waiting.fail(isQueued ? reason : unknown));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  waiting.forget = () => {
    signal.removeEventListener('abort', onAbort);
  };
}
