import { untilAborted } from '../../../../shared/concurrency/abort';

export interface HistoryGateLimits {
  /** Streams that read history from the store at the same time. */
  readonly streamsMax: number;
  /** How long one may read before its turn can go to somebody who waits. */
  readonly turnMsMax: number;
  /** The same while it does not read, because its own reader takes its time. */
  readonly pauseMsMax: number;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonicMs?: () => number;
}

/** One that has not got anything yet keeps its turn so many times as long: taken away, it would begin where it began, again and again. */
const TURNS_TO_BEGIN = 6;

/** The right to read history, for a time. */
export interface Turn {
  /** Aborts when the turn has gone to somebody else. */
  readonly over: AbortSignal;
  /** What was read is handed to the reader; `resume` follows when it asks for more. */
  pause(): void;
  resume(): void;
  /** Makes room for the next. */
  leave(): void;
}

/**
 * Lets a bounded number of history streams run at a time; the others wait in the order they came. Nobody keeps a place for ever: when
 * others wait, it goes on to them from whoever has read for long, or sooner from whoever is waiting for a slow reader, who may come
 * again and goes on where he was.
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

  /** Resolves when it is the caller's turn; rejects with the signal's reason. */
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

  /** Admits as many as there is room for, taking turns away that are over their time, and looks again when the next one will be. */
  #makeRoom(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const admit of this.#waiting) {
      if (this.#running.size >= this.#limits.streamsMax && !this.#takeAway()) break;
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

  #takeAway(): boolean {
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
  readonly #told: { readonly left: () => void; readonly paused: () => void };
  readonly #over = new AbortController();

  constructor(monotonicMs: () => number, told: { readonly left: () => void; readonly paused: () => void }) {
    this.#monotonicMs = monotonicMs;
    this.#told = told;
    this.begunAt = monotonicMs();
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  pause(): void {
    this.pausedAt = this.#monotonicMs();
    this.hasRead = true;
    this.#told.paused();
  }

  resume(): void {
    this.pausedAt = undefined;
  }

  leave(): void {
    this.#told.left();
  }

  end(): void {
    this.#over.abort();
  }
}
