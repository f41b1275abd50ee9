import type { Current } from './write';

/** What the kept objects may have as JSON, in bytes; parsed they take a few times as much. */
const RECENT_BYTES_MAX = 2 * 1024 * 1024;

interface Kept {
  readonly current: Current;
  readonly writtenAtMs: number;
}

/**
 * Objects as they were last written or read for a write, parsed, by their absolute key. Most writes are of objects that were written a
 * moment ago (leases, statuses), and need not parse them again. It only says what an object was at a revision; which revision counts is
 * known elsewhere.
 */
export class RecentObjects {
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #objects = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number = RECENT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Current | undefined {
    const found = this.#objects.get(key);
    if (found === undefined) return undefined;
    this.#objects.delete(key);
    this.#objects.set(key, found);
    return found.current;
  }

  /** Only what was written, and not before this moment, in milliseconds since the epoch. */
  writtenSince(key: string, sinceMs: number): Current | undefined {
    const found = this.#objects.get(key);
    return found !== undefined && found.writtenAtMs >= sinceMs ? found.current : undefined;
  }

  /** `writtenAtMs` is absent for an object that was only read. */
  set(key: string, current: Current, writtenAtMs: number = -Infinity): void {
    this.delete(key);
    if (current.plain.length > this.#bytesMax) return;
    this.#objects.set(key, { current, writtenAtMs });
    this.#bytes += current.plain.length;
    for (const [oldest] of this.#objects) {
      if (this.#bytes <= this.#bytesMax) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const found = this.#objects.get(key);
    if (found === undefined) return;
    this.#objects.delete(key);
    this.#bytes -= found.current.plain.length;
  }
}
