import { readFileSync } from 'node:fs';

/** Often enough that a turn of the loop between two looks is nearly always one turn. */
const LOOK_EVERY_MS = 1;

/** Milliseconds. */
export interface LoopFigures {
  /** For how long the loop was held at most, by whatever: its own work, or waiting for a core that somebody else had. */
  readonly heldMs: number;
  /** For how long the thread itself worked at most between two looks; at least as much as in any one turn of the loop. */
  readonly workedMs: number;
}

/** Watches the event loop of the main thread, in the process that it is in. Linux only: the thread's own time is read from `/proc`. */
export class LoopProbe {
  #timer: NodeJS.Timeout | undefined;
  #heldMs = 0;
  #workedMs = 0;

  begin(): void {
    this.#heldMs = 0;
    this.#workedMs = 0;
    if (this.#timer !== undefined) return;
    let lookedAt = performance.now();
    let worked = threadMilliseconds();
    const look = (): void => {
      const now = performance.now();
      const total = threadMilliseconds();
      this.#heldMs = Math.max(this.#heldMs, now - lookedAt - LOOK_EVERY_MS);
      this.#workedMs = Math.max(this.#workedMs, total - worked);
      lookedAt = performance.now();
      worked = threadMilliseconds();
      this.#timer = setTimeout(look, LOOK_EVERY_MS);
    };
    this.#timer = setTimeout(look, LOOK_EVERY_MS);
  }

  end(): LoopFigures {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return { heldMs: this.#heldMs, workedMs: this.#workedMs };
  }
}

/**
 * What the main thread has worked so far, without the time in which it could have but had no core. The kernel brings a running
 * thread's account up to date at its ticks alone, each 4 ms, unless somebody asks for the time of the whole process.
 */
function threadMilliseconds(): number {
  process.cpuUsage();
  const [nanoseconds = ''] = readFileSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'utf8').split(
    ' ',
  );
  return Number(nanoseconds) / 1e6;
}
