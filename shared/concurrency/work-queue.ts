import { untilAborted } from './abort';
import type { Clock, Timers } from './clock';
import { systemTimers } from './clock';

/** The backoff and the limits of a work queue. */
export interface WorkQueueOptions {
  /** The wait after a key's first failure, in milliseconds; doubles with each further one. 5 if not given. */
  readonly retryInitialMs?: number;
  /** The longest wait between two tries of a key, in milliseconds; 60,000 if not given. */
  readonly retryMaxMs?: number;
  /** Limit of keys waiting, delayed or in progress; 1,000,000 if absent. */
  readonly keysMax?: number;
  readonly observer?: WorkQueueObserver;
  /** Returns the flow of a key; by default the namespace of `<namespace>/<name>`; any other key is a flow of its own. */
  readonly flowOf?: (key: string) => string;
  /** By which delayed keys come; by default timers of the machine and its monotonic clock. */
  readonly timers?: Clock & Timers;
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
 * A queue of keys. Fair: flows (namespaces) take turns, and within a flow the first key in is the first out. Stingy: a key added several times before it is taken is taken once. A key is never
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
  /** Limits the keys of one flow in progress, so that a flow of slow keys leaves workers to the others. */
  limitFlows(workingMax: number): void;
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

/** Creates a queue of keys: each is worked on by one worker at a time, and added again after backoff when it fails. */
export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  return new KeyQueue(options);
}

interface Delayed {
  readonly atMs: number;
  readonly cancel: () => void;
}

const MONOTONIC: Clock & Timers = {
  now: () => performance.now(),
  after: (ms, callback) => systemTimers.after(ms, callback),
};

type Taker = (key: string | undefined) => void;

class KeyQueue implements WorkQueue {
  /** By flow, whose turn it is first; in the order they came, each once. */
  readonly #flows = new Map<string, Set<string>>();
  /** The keys of all flows. */
  readonly #waiting = new Set<string>();
  /** The flow of each key in progress, and the number of them by flow. */
  readonly #working = new Map<string, string>();
  readonly #workingOf = new Map<string, number>();
  #workingOfFlowMax = Infinity;
  /** Added while they were worked on. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<Taker>();
  readonly #retryInitialMs: number;
  readonly #retryMaxMs: number;
  readonly #keysMax: number;
  readonly #observer: WorkQueueObserver | undefined;
  readonly #flowOf: (key: string) => string;
  readonly #timers: Clock & Timers;
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#retryInitialMs = options.retryInitialMs ?? RETRY_INITIAL_MS;
    this.#retryMaxMs = options.retryMaxMs ?? RETRY_MAX_MS;
    this.#keysMax = options.keysMax ?? KEYS_MAX;
    this.#observer = options.observer;
    this.#flowOf = options.flowOf ?? namespaceOf;
    this.#timers = options.timers ?? MONOTONIC;
  }

  get length(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#isShutDown) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      this.#observer?.added(key);
      return;
    }
    // The flow of a key may change while it waits.
    if (this.#waiting.has(key)) return;
    this.#checkBound();
    this.#observer?.added(key);
    const flow = this.#flowOf(key);
    this.#flows.set(flow, (this.#flows.get(flow) ?? new Set()).add(key));
    this.#waiting.add(key);
    this.#handOut();
  }

  limitFlows(workingMax: number): void {
    this.#workingOfFlowMax = workingMax;
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return;
    this.#observer?.delayed(key);
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const atMs = this.#timers.now() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.atMs <= atMs) return;
    if (earlier === undefined) this.#checkBound();
    earlier?.cancel();
    const cancel = this.#timers.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { atMs, cancel });
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
    const first = this.#takeNext();
    if (first !== undefined) return first;
    if (this.#isShutDown && this.#waiting.size === 0) return undefined;
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
    const flow = this.#working.get(key);
    if (flow !== undefined) {
      this.#working.delete(key);
      const rest = (this.#workingOf.get(flow) ?? 1) - 1;
      if (rest === 0) this.#workingOf.delete(flow);
      else this.#workingOf.set(flow, rest);
      this.#observer?.done(key);
    }
    if (this.#again.delete(key)) this.add(key);
    this.#handOut();
  }

  shutDown(): void {
    this.#isShutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#endTakers();
  }

  /** Gives waiting keys to waiting takers. */
  #handOut(): void {
    for (const taker of this.#takers) {
      const key = this.#takeNext();
      if (key === undefined) break;
      this.#takers.delete(taker);
      taker(key);
    }
    this.#endTakers();
  }

  /** Ends the wait for keys after the last one. */
  #endTakers(): void {
    if (!this.#isShutDown || this.#waiting.size > 0) return;
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }

  /** Takes the next key of the flow whose turn it is; undefined if none may be taken. */
  #takeNext(): string | undefined {
    for (const [flow, keys] of this.#flows) {
      const working = this.#workingOf.get(flow) ?? 0;
      const [key] = keys;
      if (key === undefined || working >= this.#workingOfFlowMax) continue;
      keys.delete(key);
      this.#waiting.delete(key);
      // To the end of the line.
      this.#flows.delete(flow);
      if (keys.size > 0) this.#flows.set(flow, keys);
      this.#working.set(key, flow);
      this.#workingOf.set(flow, working + 1);
      this.#observer?.taken(key);
      return key;
    }
    return undefined;
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

function namespaceOf(key: string): string {
  const end = key.indexOf('/');
  return end < 0 ? key : key.slice(0, end);
}
