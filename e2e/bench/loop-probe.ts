import { readFileSync } from 'node:fs';

/** Often enough that there is nearly always one turn of the loop between two samples. */
const LOOK_EVERY_MS = 1;

/** Milliseconds. */
export interface LoopFigures {
  /** The longest delay of the loop, by its own work or by waiting for a core. */
  readonly heldMs: number;
  /** The longest CPU time of the thread between two samples; an upper bound for one turn of the loop. */
  readonly workedMs: number;
}

/** Observes the event loop of the main thread of this process. Linux only: the CPU time of the thread is read from `/proc`. */
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
 * CPU time of the main thread, without the time in which it waited for a core. The kernel updates it every 4 ms only, unless the time of
 * the whole process is read.
 */
function threadMilliseconds(): number {
  process.cpuUsage();
  const [nanoseconds = ''] = readFileSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'utf8').split(
    ' ',
  );
  return Number(nanoseconds) / 1e6;
}
