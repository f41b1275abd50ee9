/** Sampling interval of the loop, in milliseconds. */
export const LOOP_LOOK_EVERY_MS = 100;
/** A loop that its own work has made later than this is late. */
export const LOOP_LATE_MS = 500;
/** It is in time again after so many looks in a row at which it was no later than this. */
const IN_TIME_MS = 100;
const IN_TIME_LOOKS = 5;

/** Clocks in milliseconds; each may start at any value. */
export interface LoopClocks {
  readonly elapsedMs: () => number;
  /** CPU time of the process so far, in milliseconds. */
  readonly workedMs: () => number;
}

const PROCESS_CLOCKS: LoopClocks = {
  elapsedMs: () => performance.now(),
  workedMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS_PER_MS;
  },
};

const MICROSECONDS_PER_MS = 1_000;

/**
 * Measures the event-loop delay that this process causes itself. Delay without CPU time of the process does not count: where the machine was
 * paused, or had no core for the process, load shedding would not help.
 */
export class LoopLag {
  readonly #clocks: LoopClocks;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #worked = 0;
  #wasLate = false;
  #looksInTime = 0;
  /** The latest that it has been since it became late. */
  #latestMs = 0;

  constructor(clocks: LoopClocks = PROCESS_CLOCKS) {
    this.#clocks = clocks;
  }

  /** Looks at the loop until the signal aborts; the timer keeps no process alive. */
  watch(signal: AbortSignal): void {
    this.#begin();
    this.#timer = setInterval(() => {
      this.#look();
    }, LOOP_LOOK_EVERY_MS).unref();
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(this.#timer);
        this.#timer = undefined;
        this.#wasLate = false;
      },
      { once: true },
    );
  }

  /** Also true in the turn that is too long, before the timer has its own. */
  get isLate(): boolean {
    return this.#wasLate || (this.#timer !== undefined && this.#latenessMs() > LOOP_LATE_MS);
  }

  /** Expected remaining lateness in milliseconds: what waits takes as long as it has held the loop, and then it has to be in time. */
  get expectedWaitMs(): number {
    const latenessMs = this.#timer === undefined ? 0 : this.#latenessMs();
    if (!this.#wasLate && latenessMs <= LOOP_LATE_MS) return 0;
    return Math.max(this.#latestMs, latenessMs) + (IN_TIME_LOOKS - this.#looksInTime) * LOOP_LOOK_EVERY_MS;
  }

  #look(): void {
    const latenessMs = this.#latenessMs();
    this.#begin();
    this.#looksInTime = latenessMs <= IN_TIME_MS ? this.#looksInTime + 1 : 0;
    if (latenessMs > LOOP_LATE_MS) this.#wasLate = true;
    else if (this.#looksInTime >= IN_TIME_LOOKS) this.#wasLate = false;
    this.#latestMs = this.#wasLate ? Math.max(this.#latestMs, latenessMs) : 0;
  }

  #begin(): void {
    this.#lookedAt = this.#clocks.elapsedMs();
    this.#worked = this.#clocks.workedMs();
  }

  #latenessMs(): number {
    const heldMs = this.#clocks.elapsedMs() - this.#lookedAt - LOOP_LOOK_EVERY_MS;
    // Reading the CPU time costs more than reading the clock.
    return heldMs <= IN_TIME_MS ? heldMs : Math.min(heldMs, this.#clocks.workedMs() - this.#worked);
  }
}
