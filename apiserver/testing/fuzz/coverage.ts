import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';

/** Execution counts of a block are distinguished up to this many doublings. */
const DOUBLINGS_MAX = 8;

/**
 * Block coverage by V8's own counters. Reading takes half a millisecond, and V8 runs no optimized code while the counters are on.
 */
export class BlockCoverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();
  #hasEnded = false;

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The number of reached pairs of block and magnitude of its execution count. */
  get size(): number {
    return this.#seen.size;
  }

  /** Whether anything new ran since the last call, without recording it. */
  seesNew(): boolean {
    return this.#blocks().some((block) => !this.#seen.has(block));
  }

  /** The same, and records it. */
  isNew(): boolean {
    const before = this.#seen.size;
    for (const block of this.#blocks()) this.#seen.add(block);
    return this.#seen.size > before;
  }

  /** The number of executed blocks since the last call: a machine-independent measure of work, without the work inside V8. */
  blocksRun(): number {
    let blocks = 0;
    for (const { functions } of this.#take()) {
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
    return blocks;
  }

  /** Stops counting; nothing is new from now on, and the program runs at full speed. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** The blocks that ran since the last call, with their counts rounded up to a power of two. */
  #blocks(): readonly string[] {
    return this.#take().flatMap(({ scriptId, functions }) =>
      functions.flatMap(({ ranges }) =>
        ranges
          .filter(({ count }) => count > 0)
          .map(({ startOffset, count }) => {
            const doublings = Math.min(Math.floor(Math.log2(count)), DOUBLINGS_MAX);
            return `${scriptId}:${String(startOffset)}:${String(doublings)}`;
          }),
      ),
    );
  }

  /** The scripts of the program and its libraries, except this folder. */
  #take(): readonly Profiler.ScriptCoverage[] {
    if (this.#hasEnded) return [];
    let taken: readonly Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (error, result) => {
      if (error !== null) throw error;
      taken = result.result;
    });
    return taken.filter(({ url }) => !url.startsWith('node:') && !url.includes('/testing/fuzz/'));
  }
}
