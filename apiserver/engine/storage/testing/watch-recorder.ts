import { PATIENCE_MS } from '../../../../shared/testing/eventually';
import { LightSignal } from '../../../../shared/concurrency/light-signal';
import type { Backend, Revision, StorageError, WatchOptions } from '../backend';

/** A watch that is read in the background and keeps everything it was shown. */
export class WatchRecorder {
  readonly revisions: Revision[] = [];
  readonly #signal = new LightSignal();
  readonly #done: Promise<void>;
  #error: unknown;
  #isOver = false;
  #wake: (() => void)[] = [];
  #gate: Promise<void> | undefined;
  #openGate: (() => void) | undefined;

  constructor(backend: Backend, options: WatchOptions) {
    this.#done = this.#read(backend.watch(options, this.#signal));
  }

  /** True when the iteration ended by itself, by abort or by an error. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get newest(): number {
    return this.revisions.at(-1)?.revision ?? 0;
  }

  /** From now on nothing more is read, until {@link release}. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#openGate = resolve;
    });
  }

  release(): void {
    this.#gate = undefined;
    this.#openGate?.();
  }

  /** Waits until a revision at or above this one was shown. */
  async reach(revision: number, timeoutMs = PATIENCE_MS): Promise<void> {
    await this.until(() => this.newest >= revision, `revision ${String(revision)}`, timeoutMs);
  }

  /** Waits until the condition holds; it is asked after every batch. Fails when the watch ends before. */
  async until(holds: () => boolean, what: string, timeoutMs = PATIENCE_MS): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#notify();
    }, timeoutMs);
    try {
      while (!holds()) {
        if (this.#isOver) throw new Error(`the watch ended before ${what}`, { cause: this.#error });
        if (isLate) throw new Error(`the watch did not show ${what}; it is at ${String(this.newest)}`);
        await new Promise<void>((resolve) => {
          this.#wake.push(resolve);
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error with which the watch ended by itself. */
  async failure(): Promise<StorageError> {
    await this.until(() => this.#isOver, 'its end');
    return this.#error as StorageError;
  }

  /** Waits for an end with an external cause; throws the error with which it ended, if any. */
  async ended(): Promise<void> {
    await this.until(() => this.#isOver, 'its end');
    await this.stop();
  }

  /** Aborts the watch; throws the error with which it ended, if any. */
  async stop(): Promise<void> {
    this.#signal.abort(new Error('the recorder stops'));
    this.release();
    await this.#done;
    if (this.#error !== undefined) throw this.#error as Error;
  }

  async #read(watch: AsyncIterable<readonly Revision[]>): Promise<void> {
    try {
      for await (const batch of watch) {
        this.revisions.push(...batch);
        this.#notify();
        if (this.#gate !== undefined) await this.#gate;
      }
    } catch (error) {
      this.#error = error;
    }
    this.#isOver = true;
    this.#notify();
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}

/** One line per event, which is how tests compare what was shown: `12 put /registry/a=one created`. */
export function linesOf(revisions: readonly Revision[]): string[] {
  return revisions.flatMap(({ revision, events }) =>
    events.map((event) =>
      event.type === 'put'
        ? `${String(revision)} put ${event.key}=${event.value.toString()}${event.created ? ' created' : ''}`
        : `${String(revision)} delete ${event.key}`,
    ),
  );
}

/** True when every revision is the one before plus one. */
export function isContiguous(revisions: readonly Revision[]): boolean {
  return revisions.every((each, at) => at === 0 || each.revision === (revisions[at - 1]?.revision ?? 0) + 1);
}
