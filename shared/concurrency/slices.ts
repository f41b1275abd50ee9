/**
 * Time that all sliced work together may hold the loop in one turn, in milliseconds. A small request takes four to six rounds of the
 * loop, and each may contain two such turns, other work and garbage collection.
 */
const TURN_MS = 1;
/** The rest of a turn must be worth another slice. */
const BEGIN_BEFORE_MS = 0.5;

/** Number of turns that preferred work may take before other waiting work gets one, which prevents starvation. */
const TURNS_BEFORE_OTHERS_MAX = 3;

/**
 * Order of turns: urgent work, then work that has just begun (most of it is short), then work that has paused before; FIFO within a rank.
 */
type Rank = 'urgent' | 'begun' | 'long';

/** Divides the turns of the event loop among all sliced work. */
export class LoopTurns {
  readonly #monotonicMs: () => number;
  /** When the sliced work of this turn began; undefined while none has. */
  #beganAt: number | undefined;
  #isArmed = false;
  /** Waiting work, in order. */
  readonly #waiting: Readonly<Record<Rank, (() => void)[]>> = { urgent: [], begun: [], long: [] };
  readonly #isTurnOfUrgent = preference();
  readonly #isTurnOfBegun = preference();

  constructor(monotonicMs: () => number = (): number => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Reports whether this turn has been used up. */
  due(): boolean {
    const now = this.#monotonicMs();
    this.#beganAt ??= this.#begin(now);
    return now - this.#beganAt >= TURN_MS;
  }

  /** Resolves in a later turn. */
  async pause(rank: Rank): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting[rank].push(resolve);
      this.#arm();
    });
  }

  #begin(now: number): number {
    this.#arm();
    return now;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      this.#beganAt = undefined;
      const { urgent, begun, long } = this.#waiting;
      if (urgent.length + begun.length + long.length === 0) return;
      this.#beganAt = this.#begin(this.#monotonicMs());
      this.#releaseNext();
    });
  }

  #takeNext(): (() => void) | undefined {
    const { urgent, begun, long } = this.#waiting;
    if (this.#isTurnOfUrgent(urgent.length > 0, begun.length + long.length > 0)) return urgent.shift();
    return this.#isTurnOfBegun(begun.length > 0, long.length > 0) ? begun.shift() : long.shift();
  }

  /** Resumes the first waiting work, and the next one if it did not need the whole turn. */
  #releaseNext(): void {
    const resume = this.#takeNext();
    if (resume === undefined) return;
    resume();
    // Behind everything that the one released does until it waits for something.
    queueMicrotask(() => {
      process.nextTick(() => {
        const beganAt = this.#beganAt;
        if (beganAt !== undefined && this.#monotonicMs() - beganAt < BEGIN_BEFORE_MS) this.#releaseNext();
      });
    });
  }
}

/** Prefers the first of two, but not without end while the second waits. */
function preference(): (isFirstThere: boolean, isSecondThere: boolean) => boolean {
  let inRow = 0;
  return (isFirstThere, isSecondThere) => {
    const isFirst = isFirstThere && !(isSecondThere && inRow >= TURNS_BEFORE_OTHERS_MAX);
    inRow = isFirst && isSecondThere ? inRow + 1 : 0;
    return isFirst;
  };
}

const STEPS_PER_LOOK = 16;

const PROCESS_TURNS = new LoopTurns();

/**
 * Long work in slices: `due` says that the event loop was held long enough, `pause` gives everything else its turn. Usage:
 * `if (slices.due()) await slices.pause();` All sliced work of the process shares the time of a turn: ten lists at once hold the loop
 * no longer than one, and a short list that comes while they are written waits for none of them.
 */
export class Slices {
  readonly #isUrgent: boolean;
  #hasPaused = false;
  #steps = 0;
  readonly #turns: LoopTurns;

  constructor({
    isUrgent = false,
    turns = PROCESS_TURNS,
  }: { readonly isUrgent?: boolean; readonly turns?: LoopTurns } = {}) {
    this.#isUrgent = isUrgent;
    this.#turns = turns;
  }

  due(): boolean {
    return this.#turns.due();
  }

  /** The same after every {@link STEPS_PER_LOOK}th call: for steps so short that the look at the clock would be a part of them. */
  dueAfterSteps(): boolean {
    this.#steps = (this.#steps + 1) % STEPS_PER_LOOK;
    return this.#steps === 0 && this.due();
  }

  async pause(): Promise<void> {
    const rank = this.#hasPaused ? 'long' : 'begun';
    this.#hasPaused = true;
    await this.#turns.pause(this.#isUrgent ? 'urgent' : rank);
  }
}
