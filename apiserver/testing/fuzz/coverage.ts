import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';

/** Blocks that ran more often count as other blocks up to so many doublings. */
const DOUBLINGS_MAX = 8;

/**
 * Which blocks of the program have run, by V8's own counters. They take half a millisecond to read, and as long as they count, V8 runs no
 * optimized code.
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

  /** How many blocks have been reached so far, each as often as it was entered in another order of magnitude. */
  get size(): number {
    return this.#seen.size;
  }

  /** Whether anything ran since the last call that had never run, or never so often; it is not remembered. */
  seesNew(): boolean {
    return this.#blocks().some((block) => !this.#seen.has(block));
  }

  /** The same, remembered. */
  isNew(): boolean {
    const before = this.#seen.size;
    for (const block of this.#blocks()) this.#seen.add(block);
    return this.#seen.size > before;
  }

  /** How many blocks ran since the last call: a measure of work that is the same on every machine. What is inside of V8 counts as nothing. */
  blocksRun(): number {
    let blocks = 0;
    for (const { functions } of this.#take()) {
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
    return blocks;
  }

  /** Nothing is new from now on, and the program runs at its full speed again. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** What has run since the last call: where it stands, and how often it was entered to the next power of two. */
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

  /** The scripts of the program and of its libraries, without those of this folder. */
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
