import { untilAborted } from './abort';
import { TIMER_MAX_MS } from './timer-max';

export interface WorkQueueOptions {
  /** The wait after a key's first failure, in milliseconds; doubles with each further one. 5 if not given. */
  readonly retryInitialMs?: number;
  /** The longest wait between two tries of a key, in milliseconds; 60,000 if not given. */
  readonly retryMaxMs?: number;
  /** Limit of keys waiting, delayed or in progress; 1,000,000 if absent. */
  readonly keysMax?: number;
  readonly observer?: WorkQueueObserver;
}

/** Hears what becomes of the keys of a queue, in the moment in which it happens. Must not throw. */
export interface WorkQueueObserver {
  /** The key waits for a taker or for its current work to end; it may have waited already. */
  added(key: string): void;
  /** Work on the key begins. */
  taken(key: string): void;
  /** Work on the key has ended. */
  done(key: string): void;
  /** The key is to come later, after a failure or not. */
  delayed(key: string): void;
}

/**
 * A queue of keys. Fair: first in, first out. Stingy: a key added several times before it is taken is taken once. A key is never
 * processed twice at once: added meanwhile, it returns after `done`. Any number of producers and takers.
 */
export interface WorkQueue {
  /** Throws WorkQueueFullError beyond the bound. Ignored after `shutDown`. */
  add(key: string): void;
  /** Adds later; of several delays of a key the earliest counts. */
  addAfter(key: string, delayMs: number): void;
  /** Adds after the key's own exponential backoff, or after `atLeastMs` if that is longer. */
  addRateLimited(key: string, atLeastMs?: number): void;
  /** Ends the key's backoff: its next failure counts as the first. */
  forget(key: string): void;
  /** Number of backoff additions of the key since it was forgotten. */
  retries(key: string): number;
  /** Resolves with the next key; undefined after `shutDown` once the queue is empty. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<string | undefined>;
  /** Must be called for every taken key. */
  done(key: string): void;
  /** Takes no more keys, drops the delayed ones, hands out the waiting ones. */
  shutDown(): void;
  /** Number of waiting keys. */
  readonly length: number;
}

export class WorkQueueFullError extends RangeError {
  constructor(keysMax: number) {
    super(`the work queue holds its ${String(keysMax)} keys`);
    this.name = 'WorkQueueFullError';
  }
}

const RETRY_INITIAL_MS = 5;
const RETRY_MAX_MS = 60_000;
const KEYS_MAX = 1_000_000;

export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  return new KeyQueue(options);
}

interface Delayed {
  readonly atMs: number;
  readonly timer: NodeJS.Timeout;
}

type Taker = (key: string | undefined) => void;

class KeyQueue implements WorkQueue {
  /** In the order they came, each once. */
  readonly #waiting = new Set<string>();
  readonly #working = new Set<string>();
  /** Added while they were worked on. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<Taker>();
  readonly #retryInitialMs: number;
  readonly #retryMaxMs: number;
  readonly #keysMax: number;
  readonly #observer: WorkQueueObserver | undefined;
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#retryInitialMs = options.retryInitialMs ?? RETRY_INITIAL_MS;
    this.#retryMaxMs = options.retryMaxMs ?? RETRY_MAX_MS;
    this.#keysMax = options.keysMax ?? KEYS_MAX;
    this.#observer = options.observer;
  }

  get length(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#isShutDown || this.#waiting.has(key)) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      this.#observer?.added(key);
      return;
    }
    this.#checkBound();
    this.#observer?.added(key);
    const [taker] = this.#takers;
    if (taker === undefined) {
      this.#waiting.add(key);
      return;
    }
    this.#takers.delete(taker);
    this.#begin(key);
    taker(key);
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return;
    this.#observer?.delayed(key);
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const atMs = performance.now() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.atMs <= atMs) return;
    if (earlier === undefined) this.#checkBound();
    clearTimeout(earlier?.timer);
    const timer = setTimeout(
      () => {
        this.#delayed.delete(key);
        this.add(key);
      },
      Math.min(delayMs, TIMER_MAX_MS),
    );
    timer.unref();
    this.#delayed.set(key, { atMs, timer });
  }

  addRateLimited(key: string, atLeastMs = 0): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const backoffMs = this.#retryInitialMs * 2 ** failures;
    this.addAfter(key, Math.min(Math.max(backoffMs, atLeastMs), this.#retryMaxMs));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  retries(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  async take(signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first);
      this.#begin(first);
      return first;
    }
    if (this.#isShutDown) return undefined;
    let waiting: Taker | undefined;
    const handed = new Promise<string | undefined>((resolve) => {
      waiting = resolve;
      this.#takers.add(resolve);
    });
    try {
      return await untilAborted(handed, signal);
    } catch (error) {
      // A key handed over in the same turn as the abort is returned, or it would be lost.
      if (waiting !== undefined && !this.#takers.delete(waiting)) this.#giveBack(await handed);
      throw error;
    }
  }

  done(key: string): void {
    if (this.#working.delete(key)) this.#observer?.done(key);
    if (this.#again.delete(key)) this.add(key);
  }

  shutDown(): void {
    this.#isShutDown = true;
    for (const { timer } of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }

  #begin(key: string): void {
    this.#working.add(key);
    this.#observer?.taken(key);
  }

  #giveBack(key: string | undefined): void {
    if (key === undefined) return;
    this.#again.add(key);
    this.done(key);
  }

  #checkBound(): void {
    if (this.#waiting.size + this.#delayed.size + this.#working.size >= this.#keysMax) {
      throw new WorkQueueFullError(this.#keysMax);
    }
  }
}
