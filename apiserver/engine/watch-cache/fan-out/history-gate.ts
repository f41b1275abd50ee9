import { untilAborted } from '../../../../shared/concurrency/abort';

export interface HistoryGateLimits {
  /** Streams that read history from the store at the same time. */
  readonly streamsMax: number;
  /** How long a stream may read before a waiting stream takes its slot. */
  readonly turnMsMax: number;
  /** The same while it is paused for its own slow reader. */
  readonly pauseMsMax: number;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonicMs?: () => number;
}

/** A stream that has read nothing yet keeps its slot this many times as long; else it could restart forever without progress. */
const TURNS_TO_BEGIN = 6;

/** A time-limited slot for reading history. */
export interface Turn {
  /** Aborts when the slot is taken away. */
  readonly over: AbortSignal;
  /** Call it while the reader consumes a part; call `resume` when it requests more. */
  pause(): void;
  resume(): void;
  /** Frees the slot. */
  leave(): void;
}

/**
 * A semaphore for history streams, first in first out, with preemption against starvation: when streams wait, the slot of the stream that
 * has read longest is taken away, and sooner that of a stream paused for a slow reader. A preempted stream queues again and resumes.
 */
export class HistoryGate {
  readonly #limits: HistoryGateLimits;
  readonly #monotonicMs: () => number;
  /** Oldest first. */
  readonly #running = new Set<RunningTurn>();
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: HistoryGateLimits) {
    this.#limits = limits;
    this.#monotonicMs = limits.monotonicMs ?? ((): number => performance.now());
  }

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when a slot is free; rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<Turn> {
    signal.throwIfAborted();
    if (this.#running.size < this.#limits.streamsMax && this.#waiting.size === 0) return this.#begin();
    let turn: RunningTurn | undefined;
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => {
      admit = (): void => {
        turn = this.#begin();
        resolve();
      };
    });
    this.#waiting.add(admit);
    this.#makeRoom();
    try {
      await untilAborted(admitted, signal);
    } catch (error) {
      this.#waiting.delete(admit);
      turn?.leave();
      throw error;
    }
    if (turn === undefined) throw new Error('admitted without a turn');
    return turn;
  }

  #begin(): RunningTurn {
    const turn: RunningTurn = new RunningTurn(this.#monotonicMs, {
      left: () => {
        if (this.#running.delete(turn)) this.#makeRoom();
      },
      paused: () => {
        if (this.#waiting.size > 0) this.#makeRoom();
      },
    });
    this.#running.add(turn);
    return turn;
  }

  /** Admits waiting streams, preempts turns that exceeded their time, and sets a timer for the next preemption. */
  #makeRoom(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const admit of this.#waiting) {
      if (this.#running.size >= this.#limits.streamsMax && !this.#preempt()) break;
      this.#waiting.delete(admit);
      admit();
    }
    if (this.#waiting.size === 0) return;
    const restMs = Math.min(...[...this.#running].map((turn) => this.#restMsOf(turn)));
    this.#timer = setTimeout(
      () => {
        this.#makeRoom();
      },
      Math.max(1, Math.ceil(restMs)),
    );
    this.#timer.unref();
  }

  #preempt(): boolean {
    for (const turn of this.#running) {
      if (this.#restMsOf(turn) > 0) continue;
      this.#running.delete(turn);
      turn.end();
      return true;
    }
    return false;
  }

  #restMsOf({ begunAt, pausedAt, hasRead }: RunningTurn): number {
    const { turnMsMax, pauseMsMax } = this.#limits;
    const restMs = begunAt + turnMsMax * (hasRead ? 1 : TURNS_TO_BEGIN) - this.#monotonicMs();
    const pauseRestMs = pausedAt === undefined ? Infinity : pausedAt + pauseMsMax - this.#monotonicMs();
    return Math.min(restMs, pauseRestMs);
  }
}

class RunningTurn implements Turn {
  readonly begunAt: number;
  pausedAt: number | undefined = undefined;
  hasRead = false;
  readonly #monotonicMs: () => number;
  readonly #on: { readonly left: () => void; readonly paused: () => void };
  readonly #over = new AbortController();

  constructor(monotonicMs: () => number, on: { readonly left: () => void; readonly paused: () => void }) {
    this.#monotonicMs = monotonicMs;
    this.#on = on;
    this.begunAt = monotonicMs();
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  pause(): void {
    this.pausedAt = this.#monotonicMs();
    this.hasRead = true;
    this.#on.paused();
  }

  resume(): void {
    this.pausedAt = undefined;
  }

  leave(): void {
    this.#on.left();
  }

  end(): void {
    this.#over.abort();
  }
}
