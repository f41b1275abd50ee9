import type { QueueBudget } from './queue-budget';
import { LINK_BYTES } from './queue-budget';

/**
 * An immutable sequence of frames. Watchers with the same pending frames share one run, so its frames are concatenated once and not once
 * per watcher. `append` returns the longer run.
 */
export class Run {
  readonly frames: number;
  readonly byteLength: number;
  readonly #frame: Buffer | undefined;
  readonly #before: Run | undefined;
  readonly #budget: QueueBudget;
  /** Number of queues with this run, and of held runs that extend it. */
  #holders = 0;
  #joined: Buffer | undefined;
  /** The runs that extend this one. There is nearly always one, so the map is created with the second. */
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

  /** Its bytes and overhead, not counting that other runs may share frames. */
  get keptBytes(): number {
    return this.byteLength + this.frames * LINK_BYTES;
  }

  static createEmpty(budget: QueueBudget): Run {
    return new Run(budget);
  }

  /** Adds a reference: the frames count in the budget until as many releases. */
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

  /** All frames as one buffer, which all holders share. */
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
