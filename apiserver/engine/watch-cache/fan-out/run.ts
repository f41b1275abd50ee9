import type { QueueBudget } from './queue-budget';
import { LINK_BYTES } from './queue-budget';

/**
 * A sequence of frames that watchers share. Watchers that are to receive the same frames hold the same run, so that its frames are
 * joined into one buffer once and not once per watcher. A run never changes; `append` gives the longer one.
 */
export class Run {
  readonly frames: number;
  readonly byteLength: number;
  readonly #frame: Buffer | undefined;
  readonly #before: Run | undefined;
  readonly #budget: QueueBudget;
  /** Queues that are this run, and longer runs that somebody holds. */
  #holders = 0;
  #joined: Buffer | undefined;
  /** The longer runs made so far. Nearly always there is one, so the map comes only with the second. */
  #lastFrame: Buffer | undefined;
  #lastRun: Run | undefined;
  #longer: Map<Buffer, Run> | undefined;

  private constructor(budget: QueueBudget, before?: Run, frame?: Buffer) {
    this.#budget = budget;
    this.frames = before === undefined ? 0 : before.frames + 1;
    this.byteLength = (before?.byteLength ?? 0) + (frame?.length ?? 0);
    this.#before = before;
    this.#frame = frame;
  }

  /** What it takes in the budget if nobody else has any of it. */
  get keptBytes(): number {
    return this.byteLength + this.frames * LINK_BYTES;
  }

  static createEmpty(budget: QueueBudget): Run {
    return new Run(budget);
  }

  /** Its frames count as kept in memory until it is released as often. */
  hold(): void {
    this.#holders += 1;
    if (this.#holders > 1 || this.#frame === undefined) return;
    this.#budget.hold(this.#frame, this.#frame.length);
    this.#before?.hold();
  }

  release(): void {
    this.#holders -= 1;
    for (let run: Run | undefined = this.#holders === 0 ? this : undefined; run !== undefined;) {
      if (run.#frame !== undefined) this.#budget.release(run.#frame, run.#frame.length);
      run = run.#before;
      if (run === undefined) return;
      run.#holders -= 1;
      if (run.#holders > 0) return;
    }
  }

  append(frame: Buffer): Run {
    if (this.#lastRun !== undefined && this.#lastFrame === frame) return this.#lastRun;
    const known = this.#longer?.get(frame);
    if (known !== undefined) return known;
    const run = new Run(this.#budget, this, frame);
    if (this.#lastRun === undefined) {
      this.#lastFrame = frame;
      this.#lastRun = run;
    } else {
      this.#longer ??= new Map();
      this.#longer.set(frame, run);
    }
    return run;
  }

  /** All frames as one buffer, the same buffer for everyone who asks. */
  join(): Buffer {
    this.#joined ??= this.#join();
    return this.#joined;
  }

  #join(): Buffer {
    if (this.frames === 1 && this.#frame !== undefined) return this.#frame;
    const frames: Buffer[] = [];
    frames.length = this.frames;
    this.#collect(frames);
    return Buffer.concat(frames, this.byteLength);
  }

  #collect(frames: Buffer[]): void {
    if (this.#frame !== undefined) frames[this.frames - 1] = this.#frame;
    for (let run = this.#before; run !== undefined; run = run.#before) {
      if (run.#frame !== undefined) frames[run.frames - 1] = run.#frame;
    }
  }
}
