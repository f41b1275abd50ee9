import { ByteBoundedMap } from '../../shared/concurrency/byte-bounded-map';
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
  readonly #objects: ByteBoundedMap<Kept>;

  constructor(bytesMax: number = RECENT_BYTES_MAX) {
    this.#objects = new ByteBoundedMap(bytesMax);
  }

  get(key: string): Current | undefined {
    this.#objects.touch(key);
    return this.#objects.get(key)?.current;
  }

  /** Only what was written, and not before this moment, in milliseconds since the epoch. */
  writtenSince(key: string, sinceMs: number): Current | undefined {
    const found = this.#objects.get(key);
    return found !== undefined && found.writtenAtMs >= sinceMs ? found.current : undefined;
  }

  /** `writtenAtMs` is absent for an object that was only read. */
  set(key: string, current: Current, writtenAtMs: number = -Infinity): void {
    this.#objects.set(key, { current, writtenAtMs }, current.plain.length);
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }
}
