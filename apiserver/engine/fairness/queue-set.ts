import type { Exchange } from '../request/exchange';
import type { Hand } from './hand';
import type { SeatDemand } from './lending';

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  /** The maximum of requests in each queue. */
  readonly queueLengthMax: number;
}

export interface QueueSetLimits {
  /** The number of seats. */
  readonly seats: number;
  /** Undefined: requests without a free seat are refused. */
  readonly queuing: Queuing | undefined;
}

/** Why a request was refused; the values are label values of kube-apiserver's metrics. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out';

/** The request was refused. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

/** A waiting request, for the debug pages. */
export interface Waiter {
  readonly schema: string;
  readonly distinguisher: string;
  /** Milliseconds since the epoch. */
  readonly arrivedAt: number;
  /** The request itself. */
  readonly about: Pick<Exchange, 'user' | 'info'>;
}

export interface StartRequest {
  readonly hand: Hand;
  readonly seats: number;
  readonly waiter: Waiter;
  readonly waitMsMax: number;
}

/** The cost of a served request. */
export interface Service {
  readonly seats: number;
  readonly tookMs: number;
  /** When it ended. */
  readonly now: number;
}

interface Waiting {
  readonly waiter: Waiter;
  readonly seats: number;
  readonly admit: (queue: Queue) => void;
}

/** A queue in use: it has waiting or executing requests. */
export interface Queue {
  readonly index: number;
  readonly waiting: Waiting[];
  executing: number;
  executingSeats: number;
  /** In seconds of virtual time. */
  virtualStart: number;
  /** The sequence number of its last dispatch. */
  servedLast: number;
  /** Whether one of its requests has a reserved seat. */
  hasReserved: boolean;
}

/**
 * The assumed service time until the real one is known, in seconds. v1.21 assumes a minute, which would starve requests of many seats; this is
 * the value of later releases, which have such requests.
 */
const GUESSED_SERVICE_SECONDS = 0.003;
/** The maximum of waiting requests of a level, because each holds the memory of a connection. */
const WAITING_MAX = 10_000;
const MS_PER_SECOND = 1_000;
/** The weight of one request in the moving average of service times. */
const MEAN_WEIGHT = 0.05;
/**
 * One in eight seats of a level with queues is reserved for requests of one seat from queues without executing requests, against head-of-line
 * blocking by wide requests.
 */
const SEATS_PER_RESERVED = 8;

/** Seats are open to all requests, or reserved. */
type SeatClass = 'open' | 'reserved';

/**
 * The seats and queues of one priority level: fair queuing by virtual time, as in kube-apiserver, with requests of several seats. Only queues in
 * use exist in memory, so that a level may have millions of them.
 */
export class QueueSet {
  /** Executing requests, and their seats. */
  executing = 0;
  executingSeats = 0;
  /** Waiting requests in all queues, and their seats. */
  waiting = 0;
  waitingSeats = 0;
  /** Reserved seats that are taken. */
  #reservedSeats = 0;
  #peakSeats = 0;
  readonly #demand = { sinceMs: 0, integral: 0, ofSquares: 0, max: 0 };
  readonly #now: () => number;
  #limits: QueueSetLimits;
  readonly #inUse = new Map<number, Queue>();
  #virtualSeconds = 0;
  #syncedAt: number;
  #servings = 0;
  /** The moving average of the service time of a seat, in seconds. */
  #meanServiceSeconds = 0;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(limits: QueueSetLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#syncedAt = now();
    this.#demand.sinceMs = this.#syncedAt;
  }

  get limits(): QueueSetLimits {
    return this.#limits;
  }

  get isIdle(): boolean {
    return this.executing === 0 && this.waiting === 0;
  }

  /** The queues in use, unordered. */
  get queues(): Iterable<Queue> {
    return this.#inUse.values();
  }

  /** The virtual time, in seconds. */
  get virtualSeconds(): number {
    return this.#virtualSeconds;
  }

  configure(limits: QueueSetLimits): void {
    this.#sync(this.#now());
    this.#limits = limits;
    this.#dispatch();
  }

  /** Takes seats at once if no request waits and enough are free; undefined otherwise. Release them with `finish`. */
  tryStart(hand: Hand, seats: number, now: number): Queue | undefined {
    const index = hand[0] ?? 0;
    const isFree = this.waiting === 0 && this.#fits(seats);
    if (!isFree && !this.#fitsReserved(this.#inUse.get(index), seats)) return undefined;
    this.#sync(now);
    const queue = this.#queueAt(index);
    this.#serve(queue, seats, isFree ? 'open' : 'reserved');
    return queue;
  }

  /**
   * Waits for seats in the shortest queue of the hand, for at most `waitMsMax`. `onEnqueued` receives the queue length. Rejects with RefusedError,
   * or with the signal's reason.
   */
  async start(
    { hand, seats, waiter, waitMsMax }: StartRequest,
    signal: AbortSignal,
    onEnqueued: (queueLength: number) => void,
  ): Promise<Queue> {
    signal.throwIfAborted();
    this.#sync(this.#now());
    const { queuing } = this.#limits;
    if (queuing === undefined) throw new RefusedError('concurrency-limit');
    const queue = this.#shortestOf(hand);
    if (queue.waiting.length >= queuing.queueLengthMax || this.waiting >= WAITING_MAX) {
      this.#drop(queue);
      throw new RefusedError('queue-full');
    }
    return new Promise<Queue>((resolve, reject) => {
      const leave = (error: unknown): void => {
        stop();
        this.#remove(queue, waiting);
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const timer = setTimeout(() => leave(new RefusedError('time-out')), waitMsMax);
      const onAbort = (): void => leave(signal.reason);
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        waiter,
        seats,
        admit: (from) => {
          stop();
          resolve(from);
        },
      };
      signal.addEventListener('abort', onAbort);
      this.#enqueue(queue, waiting, onEnqueued);
    });
  }

  /** Releases seats and dispatches waiting requests. */
  finish(queue: Queue, { seats, tookMs, now }: Service): void {
    this.#sync(now);
    const seconds = tookMs / MS_PER_SECOND;
    this.executing -= 1;
    this.executingSeats -= seats;
    queue.executing -= 1;
    queue.executingSeats -= seats;
    // Seats are interchangeable: the first request to end releases the reserved one.
    if (queue.hasReserved) this.#reservedSeats -= 1;
    queue.hasReserved = false;
    queue.virtualStart -= (GUESSED_SERVICE_SECONDS - seconds) * seats;
    this.#meanServiceSeconds += (seconds - this.#meanServiceSeconds) * MEAN_WEIGHT;
    this.#drop(queue);
    this.#dispatch();
  }

  /** The estimated waiting time of a new request in seconds, by recent service times. */
  get expectedWaitSeconds(): number {
    return (this.waitingSeats * this.#meanServiceSeconds) / Math.max(1, this.#limits.seats);
  }

  /** Returns the peak of taken and requested seats since the last call. */
  takePeak(): number {
    const peak = this.#peakSeats;
    this.#peakSeats = this.executingSeats + this.waitingSeats;
    return peak;
  }

  /** Returns the taken and requested seats since the last call. */
  takeDemand(): SeatDemand {
    const now = this.#now();
    this.#sync(now);
    const { sinceMs, integral, ofSquares, max } = this.#demand;
    const tookMs = now - sinceMs;
    const average = tookMs > 0 ? integral / tookMs : 0;
    const variance = tookMs > 0 ? ofSquares / tookMs - average * average : 0;
    Object.assign(this.#demand, {
      sinceMs: now,
      integral: 0,
      ofSquares: 0,
      max: this.executingSeats + this.waitingSeats,
    });
    return { average, deviation: Math.sqrt(Math.max(0, variance)), max, tookMs };
  }

  #notePeak(): void {
    const seats = this.executingSeats + this.waitingSeats;
    if (seats > this.#peakSeats) this.#peakSeats = seats;
    if (seats > this.#demand.max) this.#demand.max = seats;
  }

  /** The number of reserved seats, taken or not. */
  get #reservedMax(): number {
    const { seats, queuing } = this.#limits;
    return queuing === undefined ? 0 : Math.floor(seats / SEATS_PER_RESERVED);
  }

  #fits(seats: number): boolean {
    const openSeats = this.executingSeats - this.#reservedSeats;
    const openMax = this.#limits.seats - Math.max(this.#reservedMax, this.#reservedSeats);
    // A request wider than the level runs alone, apart from requests on reserved seats, which may never be idle.
    return openSeats + seats <= openMax || openSeats === 0;
  }

  /**
   * Returns whether the next request of the queue may take a reserved seat; undefined: a queue not in use. Free open seats are not considered: a
   * wide request waits for them and would starve if single requests took them.
   */
  #fitsReserved(queue: Queue | undefined, seats: number): boolean {
    const isOneMore = seats === 1 && (queue?.executing ?? 0) === 0;
    return isOneMore && this.#reservedSeats < this.#reservedMax && this.executingSeats < this.#limits.seats;
  }

  #enqueue(queue: Queue, waiting: Waiting, onEnqueued: (queueLength: number) => void): void {
    if (queue.waiting.length === 0 && queue.executing === 0) queue.virtualStart = this.#virtualSeconds;
    queue.waiting.push(waiting);
    this.waiting += 1;
    this.waitingSeats += waiting.seats;
    this.#notePeak();
    onEnqueued(queue.waiting.length);
    this.#dispatch();
  }

  #remove(queue: Queue, waiting: Waiting): void {
    const at = queue.waiting.indexOf(waiting);
    if (at < 0) return;
    this.#sync(this.#now());
    queue.waiting.splice(at, 1);
    this.waiting -= 1;
    this.waitingSeats -= waiting.seats;
    this.#drop(queue);
    // The removed request may have blocked all others.
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.waiting > 0) {
      const [next, nextOfReserved] = this.#nextTwo();
      // The next queue waits until its request fits, or wide requests would starve. It cannot take reserved seats.
      const isOpen = next !== undefined && this.#fits(next.waiting[0]?.seats ?? 1);
      const queue = isOpen ? next : nextOfReserved;
      const first = queue?.waiting.shift();
      if (queue === undefined || first === undefined) return;
      this.waiting -= 1;
      this.waitingSeats -= first.seats;
      const inFlight = queue.executingSeats * GUESSED_SERVICE_SECONDS;
      queue.virtualStart = Math.max(queue.virtualStart, this.#virtualSeconds + inFlight);
      this.#serve(queue, first.seats, isOpen ? 'open' : 'reserved');
      first.admit(queue);
    }
  }

  #serve(queue: Queue, seats: number, seatClass: SeatClass): void {
    if (queue.waiting.length === 0 && queue.executing === 0 && queue.virtualStart < this.#virtualSeconds) {
      queue.virtualStart = this.#virtualSeconds;
    }
    if (seatClass === 'reserved') {
      queue.hasReserved = true;
      this.#reservedSeats += 1;
    }
    this.#servings += 1;
    queue.servedLast = this.#servings;
    queue.virtualStart += GUESSED_SERVICE_SECONDS * seats;
    queue.executing += 1;
    queue.executingSeats += seats;
    this.executing += 1;
    this.executingSeats += seats;
    this.#notePeak();
  }

  /** Returns the queue with the earliest virtual finish time (ties: least recently dispatched), and the same among those that may use a reserved seat. */
  #nextTwo(): readonly [Queue | undefined, Queue | undefined] {
    let best: Queue | undefined;
    let bestOfReserved: Queue | undefined;
    for (const queue of this.#inUse.values()) {
      const [first] = queue.waiting;
      if (first === undefined) continue;
      if (isBefore(queue, best)) best = queue;
      if (this.#fitsReserved(queue, first.seats) && isBefore(queue, bestOfReserved)) bestOfReserved = queue;
    }
    return [best, bestOfReserved];
  }

  #shortestOf(hand: Hand): Queue {
    let best: number = hand[0] ?? 0;
    let shortest = Infinity;
    for (const index of hand) {
      const length = this.#inUse.get(index)?.waiting.length ?? 0;
      if (length < shortest) {
        best = index;
        shortest = length;
      }
    }
    return this.#queueAt(best);
  }

  #queueAt(index: number): Queue {
    const known = this.#inUse.get(index);
    if (known !== undefined) return known;
    const made: Queue = {
      index,
      waiting: [],
      executing: 0,
      executingSeats: 0,
      virtualStart: this.#virtualSeconds,
      servedLast: 0,
      hasReserved: false,
    };
    this.#inUse.set(index, made);
    return made;
  }

  #drop(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) this.#inUse.delete(queue.index);
  }

  /** Advances the virtual time by the service since the last call. */
  #sync(now: number): void {
    const ms = now - this.#syncedAt;
    const seconds = ms / MS_PER_SECOND;
    this.#syncedAt = now;
    if (this.#inUse.size === 0) return;
    const demand = this.executingSeats + this.waitingSeats;
    this.#demand.integral += demand * ms;
    this.#demand.ofSquares += demand * demand * ms;
    this.#virtualSeconds += (seconds * Math.min(this.executingSeats, this.#limits.seats)) / this.#inUse.size;
  }
}

function isBefore(queue: Queue, other: Queue | undefined): boolean {
  if (other === undefined) return true;
  const earlier = finishOf(queue) - finishOf(other);
  return earlier < 0 || (earlier === 0 && queue.servedLast < other.servedLast);
}

function finishOf({ virtualStart, waiting }: Queue): number {
  return virtualStart + GUESSED_SERVICE_SECONDS * (waiting[0]?.seats ?? 1);
}
