import BTree from 'sorted-btree';
import { untilAborted } from '../../shared/concurrency/abort';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';

export interface SchedulingQueueOptions {
  /** Number of pods in all parts of the queue; 100,000 if not given. */
  readonly podsMax?: number;
  /** The first wait of a pod that could not be placed, in milliseconds; doubled for each further attempt. */
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  readonly clock?: Clock;
}

/** The parts of the queue, with upstream's names in `scheduler_pending_pods`. */
export type QueuePart = 'active' | 'backoff' | 'unschedulable';

type Place = QueuePart | 'taken';

interface Entry {
  readonly key: string;
  priority: number;
  attempts: number;
  place: Place;
  /** When the pod came to its place. */
  sinceMs: number;
  /** Breaks ties of the same millisecond. */
  order: number;
  /** When its last attempt ended. */
  failedAtMs: number;
  /** The changes after which the pod is worth another attempt. */
  wokenBy: ReadonlySet<string>;
  /** Number of changes when the pod was taken. */
  seenChanges: number;
  timer: NodeJS.Timeout | undefined;
}

const PODS_MAX = 100_000;
const BACKOFF_INITIAL_MS = 1_000;
const BACKOFF_MAX_MS = 10_000;
/** Upstream's `DefaultPodMaxInUnschedulablePodsDuration`. */
const UNSCHEDULABLE_MS_MAX = 300_000;

/**
 * The pods that wait for a node. Fair: the highest priority first, and first in, first out within a priority; a pod that could not be placed waits
 * with exponential backoff, so that it does not delay the others. Such a pod stays aside until a change in the cluster may help it. Source:
 * `PriorityQueue` of upstream's scheduler.
 */
export class SchedulingQueue {
  readonly #entries = new Map<string, Entry>();
  readonly #active = new BTree<Entry, true>(undefined, compareEntries);
  readonly #podsMax: number;
  readonly #backoffInitialMs: number;
  readonly #backoffMaxMs: number;
  readonly #clock: Clock;
  /** The number of the last change of each kind. */
  readonly #changes = new Map<string, number>();
  #changeCount = 0;
  #order = 0;
  #wakeTaker: (() => void) | undefined;

  constructor(options: SchedulingQueueOptions = {}) {
    this.#podsMax = options.podsMax ?? PODS_MAX;
    this.#backoffInitialMs = options.backoffInitialMs ?? BACKOFF_INITIAL_MS;
    this.#backoffMaxMs = options.backoffMaxMs ?? BACKOFF_MAX_MS;
    this.#clock = options.clock ?? monotonicClock;
  }

  /**
   * Adds a new pod, or lets one that waits be tried at once because it has changed. Returns false if the queue is full: the pod must be added
   * again later.
   */
  add(key: string, priority: number): boolean {
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#entries.size >= this.#podsMax) return false;
      const entry: Entry = {
        key,
        priority,
        attempts: 0,
        place: 'active',
        sinceMs: 0,
        order: 0,
        failedAtMs: 0,
        wokenBy: new Set(),
        seenChanges: 0,
        timer: undefined,
      };
      this.#entries.set(key, entry);
      this.#activate(entry);
      return true;
    }
    if (known.place === 'taken') {
      // The running attempt has seen the pod as it was before.
      known.seenChanges = -1;
    } else if (known.place !== 'active' || known.priority !== priority) {
      this.#leave(known);
      known.priority = priority;
      this.#activate(known);
    }
    return true;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Forgets a pod: it has a node, or it is gone. */
  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#leave(entry);
    this.#entries.delete(key);
  }

  /** Resolves with the next pod, which must be returned by `delete`, `putAside` or `retry`. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<string> {
    for (;;) {
      signal.throwIfAborted();
      const first = this.#active.minKey();
      if (first !== undefined) {
        this.#active.delete(first);
        first.place = 'taken';
        first.attempts += 1;
        first.seenChanges = this.#changeCount;
        return first.key;
      }
      const woken = new Promise<void>((resolve) => {
        this.#wakeTaker = resolve;
      });
      await untilAborted(woken, signal);
    }
  }

  /** Returns a taken pod that fits nowhere; it is tried again after one of these changes, or after five minutes. */
  putAside(key: string, wokenBy: ReadonlySet<string>): void {
    const entry = this.#entries.get(key);
    if (entry?.place !== 'taken') return;
    entry.failedAtMs = this.#clock.now();
    entry.wokenBy = wokenBy;
    const isStale =
      entry.seenChanges < 0 ||
      [...wokenBy].some((change) => (this.#changes.get(change) ?? 0) > entry.seenChanges);
    if (isStale) this.#backOff(entry);
    else this.#move(entry, 'unschedulable');
  }

  /** Returns a taken pod after an error, for another attempt with backoff. */
  retry(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.place !== 'taken') return;
    entry.failedAtMs = this.#clock.now();
    this.#backOff(entry);
  }

  /** Reports a change in the cluster: pods that it may help are tried again once their backoff is over. */
  noteChange(change: string): void {
    this.#changeCount += 1;
    this.#changes.set(change, this.#changeCount);
    this.#release(({ wokenBy }) => wokenBy.has(change));
  }

  /** Releases pods that have been aside for five minutes, in case that no event said what helps them. */
  releaseStale(): void {
    const limitMs = this.#clock.now() - UNSCHEDULABLE_MS_MAX;
    this.#release(({ sinceMs }) => sinceMs <= limitMs);
  }

  /** Number of pods by part. */
  counts(): Readonly<Record<QueuePart, number>> {
    const counts = { active: 0, backoff: 0, unschedulable: 0 };
    for (const { place } of this.#entries.values()) if (place !== 'taken') counts[place] += 1;
    return counts;
  }

  /** Stops all timers. */
  close(): void {
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
    this.#active.clear();
  }

  #release(isHelped: (entry: Entry) => boolean): void {
    for (const entry of this.#entries.values())
      if (entry.place === 'unschedulable' && isHelped(entry)) this.#backOff(entry);
  }

  #backOff(entry: Entry): void {
    const backoffMs = Math.min(this.#backoffInitialMs * 2 ** (entry.attempts - 1), this.#backoffMaxMs);
    const restMs = entry.failedAtMs + backoffMs - this.#clock.now();
    this.#leave(entry);
    if (restMs <= 0) {
      this.#activate(entry);
      return;
    }
    this.#move(entry, 'backoff');
    entry.timer = setTimeout(() => this.#activate(entry), restMs).unref();
  }

  #activate(entry: Entry): void {
    this.#move(entry, 'active');
    this.#active.set(entry, true);
    this.#wakeTaker?.();
  }

  #move(entry: Entry, place: Place): void {
    entry.place = place;
    entry.sinceMs = this.#clock.now();
    entry.order = this.#order;
    this.#order += 1;
  }

  #leave(entry: Entry): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    if (entry.place === 'active') this.#active.delete(entry);
  }
}

function compareEntries(a: Entry, b: Entry): number {
  return b.priority - a.priority || a.sinceMs - b.sinceMs || a.order - b.order;
}
