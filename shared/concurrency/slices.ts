/**
 * How long all sliced work together may hold the loop in one turn. A small request takes four to six rounds of the loop (its head, the store's
 * answers, its own event), and each may have two such turns (with what came in, and with what waited), other work, and garbage.
 */
const TURN_MS = 1;
/** What is left of a turn must be worth beginning another slice in it. */
const BEGIN_BEFORE_MS = 0.5;

/** What goes before other work that waits with it has so many turns before that has its own: then it goes on too, only slower. */
const TURNS_BEFORE_OTHERS_MAX = 3;

/**
 * Whose turn it is first: urgent work, then what has just begun, since most of that is short and all but over, then what has paused before.
 * Of one rank they go on in their order.
 */
type Rank = 'urgent' | 'begun' | 'long';

/** Divides the turns of the event loop among all who do long work in slices. */
export class LoopTurns {
  readonly #monotonicMs: () => number;
  /** When the sliced work of this turn began; undefined while none has. */
  #beganAt: number | undefined;
  #isArmed = false;
  /** Those who wait for a later turn, in order. */
  readonly #waiting: Readonly<Record<Rank, (() => void)[]>> = { urgent: [], begun: [], long: [] };
  readonly #isTurnOfUrgent = preference();
  readonly #isTurnOfBegun = preference();

  constructor(monotonicMs: () => number = (): number => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether this turn has been used up. */
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

  /** Lets the first of those who wait go on; the next one too when the first did not need the whole turn. */
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
