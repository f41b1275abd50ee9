/**
 * How long all sliced work together may hold the loop in one turn: far below 10 ms, for a round of the loop may have two such turns (with
 * what came in, and with what waited), there is other work, and garbage. Shorter turns than these still cost nothing that can be measured.
 */
const TURN_MS = 2.5;
/** What is left of a turn must be worth beginning another slice in it. */
const BEGIN_BEFORE_MS = 1.25;

/** Urgent work has so many turns before one that waits with it, and is not urgent, has its own: then it goes on too, only slower. */
const URGENT_TURNS_MAX = 3;

/** Divides the turns of the event loop among all who do long work in slices. */
export class LoopTurns {
  readonly #monotonicMs: () => number;
  /** When the sliced work of this turn began; undefined while none has. */
  #beganAt: number | undefined;
  #isArmed = false;
  /** Those who wait for a later turn, in order; the urgent ones go before the others. */
  readonly #urgent: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  /** In a row, while others waited. */
  #urgentTurns = 0;

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
  async pause(isUrgent: boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      (isUrgent ? this.#urgent : this.#others).push(resolve);
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
      if (this.#urgent.length + this.#others.length === 0) return;
      this.#beganAt = this.#begin(this.#monotonicMs());
      this.#releaseNext();
    });
  }

  #takeNext(): (() => void) | undefined {
    const isOthersTurn = this.#urgentTurns >= URGENT_TURNS_MAX && this.#others.length > 0;
    const urgent = isOthersTurn ? undefined : this.#urgent.shift();
    this.#urgentTurns = urgent === undefined || this.#others.length === 0 ? 0 : this.#urgentTurns + 1;
    return urgent ?? this.#others.shift();
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

const PROCESS_TURNS = new LoopTurns();

/**
 * Long work in slices: `due` says that the event loop was held long enough, `pause` gives everything else its turn. Usage:
 * `if (slices.due()) await slices.pause();` All sliced work of the process shares the time of a turn: ten lists at once hold the loop
 * no longer than one. Urgent work goes on before other work that waits.
 */
export class Slices {
  readonly #isUrgent: boolean;
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

  async pause(): Promise<void> {
    await this.#turns.pause(this.#isUrgent);
  }
}
