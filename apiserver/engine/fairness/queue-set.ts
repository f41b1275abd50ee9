import type { Exchange } from '../request/exchange';
import type { Hand } from './hand';

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  /** In each queue. */
  readonly queueLengthMax: number;
}

export interface QueueSetLimits {
  /** How many seats may be taken at a time. */
  readonly seats: number;
  /** Undefined: what finds no seat is refused. */
  readonly queuing: Queuing | undefined;
}

/** Why a request was refused, in kube-apiserver's words. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out';

/** The request is not to be carried out. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

/** What the debug pages tell of a request that waits. */
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

/** What it took to serve a request. */
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

/** One queue that is in use: somebody waits in it, or is being served from it. */
export interface Queue {
  readonly index: number;
  readonly waiting: Waiting[];
  executing: number;
  executingSeats: number;
  /** In seconds of service, on the clock of the level. */
  virtualStart: number;
  /** When it was served last, as a running number. */
  servedLast: number;
  /** Whether one of its requests has a seat that is kept. */
  hasKept: boolean;
}

/**
 * A seat is taken to be needed for so long until it is known, in seconds. v1.21 takes a minute, with which a request of many seats would wait
 * for minutes behind requests of one; this is the time of later releases, which have such requests.
 */
const GUESSED_SERVICE_SECONDS = 0.003;
/** In all queues of a level: each takes the memory of a connection. */
const WAITING_MAX = 10_000;
const MS_PER_SECOND = 1_000;
/** How much of the mean service time a single request makes. */
const MEAN_WEIGHT = 0.05;
/**
 * One of so many seats of a level that queues is kept for requests of one seat from queues that have none under way: who asks for little must
 * not wait until wide requests of others end.
 */
const SEATS_PER_KEPT = 8;

/** Of the seats of a level, those that are open to all, and those that are kept. */
type SeatClass = 'open' | 'kept';

/**
 * The seats of one priority level and the queues before them: fair queuing by virtual time, as kube-apiserver does it, with requests that
 * take several seats. A queue exists for as long as it is in use, so that a level may have millions of them.
 */
export class QueueSet {
  /** Requests being served, and the seats that they take. */
  executing = 0;
  executingSeats = 0;
  /** Requests that wait, in all queues. */
  waiting = 0;
  waitingSeats = 0;
  /** Of those that are taken. */
  #keptSeats = 0;
  #peakSeats = 0;
  readonly #now: () => number;
  #limits: QueueSetLimits;
  readonly #inUse = new Map<number, Queue>();
  #virtualSeconds = 0;
  #syncedAt: number;
  #servings = 0;
  /** Of a seat, in seconds; moves with every request. */
  #meanServiceSeconds = 0;

  /** `now` counts milliseconds from any beginning. */
  constructor(limits: QueueSetLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#syncedAt = now();
  }

  get limits(): QueueSetLimits {
    return this.#limits;
  }

  get isIdle(): boolean {
    return this.executing === 0 && this.waiting === 0;
  }

  /** The queues in use, in no order. */
  get queues(): Iterable<Queue> {
    return this.#inUse.values();
  }

  /** The clock by which queues take their turns, in seconds. */
  get virtualSeconds(): number {
    return this.#virtualSeconds;
  }

  configure(limits: QueueSetLimits): void {
    this.#sync(this.#now());
    this.#limits = limits;
    this.#dispatch();
  }

  /**
   * Takes seats at once where nobody waits and there are enough; undefined where not. Give them back with `finish`. No request takes more
   * seats than there are.
   */
  tryStart(hand: Hand, seats: number, now: number): Queue | undefined {
    const index = hand[0] ?? 0;
    const isFree = this.waiting === 0 && this.#fits(seats);
    if (!isFree && !this.#fitsKept(this.#inUse.get(index), seats)) return undefined;
    this.#sync(now);
    const queue = this.#queueAt(index);
    this.#serve(queue, seats, isFree ? 'open' : 'kept');
    return queue;
  }

  /**
   * Waits for seats in the shortest queue of the hand, for at most `waitMsMax`, and tells how long that queue is then. Rejects with RefusedError, or with the reason of the signal.
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

  /** Gives seats back, and serves whoever they suffice for. */
  finish(queue: Queue, { seats, tookMs, now }: Service): void {
    this.#sync(now);
    const seconds = tookMs / MS_PER_SECOND;
    this.executing -= 1;
    this.executingSeats -= seats;
    queue.executing -= 1;
    queue.executingSeats -= seats;
    // Seats are all alike: whichever of its requests ends first gives back the one that is kept.
    if (queue.hasKept) this.#keptSeats -= 1;
    queue.hasKept = false;
    queue.virtualStart -= (GUESSED_SERVICE_SECONDS - seconds) * seats;
    this.#meanServiceSeconds += (seconds - this.#meanServiceSeconds) * MEAN_WEIGHT;
    this.#drop(queue);
    this.#dispatch();
  }

  /** How long a request that comes now would wait, in seconds, as far as the requests of late tell. */
  get expectedWaitSeconds(): number {
    return (this.waitingSeats * this.#meanServiceSeconds) / Math.max(1, this.#limits.seats);
  }

  /** The most seats that were taken and waited for at one time since the last call. */
  takePeak(): number {
    const peak = this.#peakSeats;
    this.#peakSeats = this.executingSeats + this.waitingSeats;
    return peak;
  }

  #notePeak(): void {
    const seats = this.executingSeats + this.waitingSeats;
    if (seats > this.#peakSeats) this.#peakSeats = seats;
  }

  /** How many seats are kept, taken or not. */
  get #keptMax(): number {
    const { seats, queuing } = this.#limits;
    return queuing === undefined ? 0 : Math.floor(seats / SEATS_PER_KEPT);
  }

  #fits(seats: number): boolean {
    const openSeats = this.executingSeats - this.#keptSeats;
    const openMax = this.#limits.seats - Math.max(this.#keptMax, this.#keptSeats);
    // One that is wider than the level is served alone, but for those on kept seats, who may never be all gone.
    return openSeats + seats <= openMax || openSeats === 0;
  }

  /**
   * Whether a request of so many seats may have one of those that are kept, as the next of the queue; undefined: one that is not in use. No
   * others, however many are free: those a wide request waits for, which would never have them if single ones went on to take them.
   */
  #fitsKept(queue: Queue | undefined, seats: number): boolean {
    const isOneMore = seats === 1 && (queue?.executing ?? 0) === 0;
    return isOneMore && this.#keptSeats < this.#keptMax && this.executingSeats < this.#limits.seats;
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
    // It may have been the one that all others waited for.
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.waiting > 0) {
      const [next, nextOfKept] = this.#nextTwo();
      // Whose turn it is waits for seats enough, or wide requests would never have them; those that are kept it cannot have.
      const isOpen = next !== undefined && this.#fits(next.waiting[0]?.seats ?? 1);
      const queue = isOpen ? next : nextOfKept;
      const first = queue?.waiting.shift();
      if (queue === undefined || first === undefined) return;
      this.waiting -= 1;
      this.waitingSeats -= first.seats;
      const inFlight = queue.executingSeats * GUESSED_SERVICE_SECONDS;
      queue.virtualStart = Math.max(queue.virtualStart, this.#virtualSeconds + inFlight);
      this.#serve(queue, first.seats, isOpen ? 'open' : 'kept');
      first.admit(queue);
    }
  }

  #serve(queue: Queue, seats: number, seatClass: SeatClass): void {
    if (queue.waiting.length === 0 && queue.executing === 0 && queue.virtualStart < this.#virtualSeconds) {
      queue.virtualStart = this.#virtualSeconds;
    }
    if (seatClass === 'kept') {
      queue.hasKept = true;
      this.#keptSeats += 1;
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

  /**
   * The queue whose oldest request would be done first, of equals the one that was served longest ago; and the same of those that may have a
   * seat that is kept.
   */
  #nextTwo(): readonly [Queue | undefined, Queue | undefined] {
    let best: Queue | undefined;
    let bestOfKept: Queue | undefined;
    for (const queue of this.#inUse.values()) {
      const [first] = queue.waiting;
      if (first === undefined) continue;
      if (isBefore(queue, best)) best = queue;
      if (this.#fitsKept(queue, first.seats) && isBefore(queue, bestOfKept)) bestOfKept = queue;
    }
    return [best, bestOfKept];
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
      hasKept: false,
    };
    this.#inUse.set(index, made);
    return made;
  }

  #drop(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) this.#inUse.delete(queue.index);
  }

  /** Every queue in use gets its part of what was served since the last time. */
  #sync(now: number): void {
    const seconds = (now - this.#syncedAt) / MS_PER_SECOND;
    this.#syncedAt = now;
    if (this.#inUse.size === 0) return;
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
