import { ByteBoundedMap } from '../../../shared/concurrency/byte-bounded-map';

/** What the announced objects may have as JSON, in bytes; parsed they take a few times as much. */
const BYTES_MAX = 1024 * 1024;

interface Announced {
  readonly plain: Buffer;
  readonly object: object;
}

/**
 * Objects that this replica is about to write, by their absolute key, parsed: their events come back with the same bytes, which need not
 * be parsed again then. Nothing relies on an announcement: one whose write failed, or was overtaken, never fits and makes room in time.
 */
export class OwnWrites {
  readonly #announced: ByteBoundedMap<Announced>;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#announced = new ByteBoundedMap(bytesMax);
  }

  /** `object` is what `plain` says; neither may be changed afterwards. */
  announce(key: string, plain: Buffer, object: object): void {
    this.#announced.set(key, { plain, object }, plain.length);
  }

  /** What these bytes say, if they are the ones that were announced; only the first to ask is told. */
  take(key: string, plain: Buffer): object | undefined {
    const found = this.#announced.get(key);
    if (found === undefined || !found.plain.equals(plain)) return undefined;
    this.#announced.delete(key);
    return found.object;
  }
}
