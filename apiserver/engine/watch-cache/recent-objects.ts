import { LRUCache } from 'lru-cache';
import type { ApiObject } from '../../../shared/object/object';

/** Budget of the kept objects, as bytes of JSON; parsed objects take several times as much memory. */
const BYTES_MAX = 3 * 1024 * 1024;

/** An object as it is stored. */
export interface KnownObject {
  /** With its resourceVersion. */
  readonly object: ApiObject;
  /** The stored bytes, as the codec wrote them: without a resourceVersion. */
  readonly plain: Buffer;
  readonly revision: number;
}

/** An object that is about to be stored. */
export interface AnnouncedObject {
  readonly object: object;
  readonly plain: Buffer;
}

interface Kept {
  /** The object that this replica last wrote, or read for a write. */
  readonly known?: KnownObject | undefined;
  /** Undefined for an object that was only read. */
  readonly writtenAtMs?: number | undefined;
  /** The object it is about to write. Cleared in place: it still counts in the budget until the key is set again. */
  announced?: AnnouncedObject | undefined;
}

/**
 * An LRU cache of parsed objects that this replica recently wrote, or read for a write, by absolute key. A write adds its object twice.
 * Before it is sent: its event may arrive before the response, and need not be parsed. After it is acknowledged: most writes update an
 * object that was written recently (leases, statuses). An entry says what the object was at its revision, not that this is the current one.
 * An announcement of a failed write never matches and is evicted in time. The returned objects must not be modified.
 */
export class RecentObjects {
  readonly #objects: LRUCache<string, Kept>;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#objects = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  /** The object that this replica last wrote or read below the key. Marks it as recently used. */
  get(key: string): KnownObject | undefined {
    return this.#objects.get(key)?.known;
  }

  /** The object, if this replica wrote it at `sinceMs` (milliseconds since the epoch) or later. */
  writtenSince(key: string, sinceMs: number): KnownObject | undefined {
    const { known, writtenAtMs } = this.#objects.peek(key) ?? NOTHING;
    return writtenAtMs !== undefined && writtenAtMs >= sinceMs ? known : undefined;
  }

  /** The parsed form of these bytes, if this replica wrote them or is about to. An announcement matches one event only. */
  findParsed(key: string, plain: Buffer): object | undefined {
    const kept = this.#objects.peek(key);
    if (kept === undefined) return undefined;
    const { known, announced } = kept;
    if (announced?.plain.equals(plain) === true) {
      kept.announced = undefined;
      return announced.object;
    }
    return known?.plain.equals(plain) === true ? known.object : undefined;
  }

  /** Call it before the object is sent to the store. The current object of the key stays known. */
  announce(key: string, announced: AnnouncedObject): void {
    const { known, writtenAtMs } = this.#objects.peek(key) ?? NOTHING;
    this.#objects.set(key, { known, writtenAtMs, announced });
  }

  /** Call it when the write is acknowledged. */
  written(key: string, known: KnownObject, writtenAtMs: number): void {
    const { announced } = this.#objects.peek(key) ?? NOTHING;
    const isOther = announced !== undefined && announced.plain !== known.plain;
    this.#objects.set(key, { known, writtenAtMs, announced: isOther ? announced : undefined });
  }

  /** Call it when the object was read for a write. */
  read(key: string, known: KnownObject): void {
    const { announced } = this.#objects.peek(key) ?? NOTHING;
    this.#objects.set(key, { known, writtenAtMs: undefined, announced });
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }
}

const NOTHING: Kept = {};

function bytesOf({ known, announced }: Kept): number {
  return (known?.plain.length ?? 0) + (announced?.plain.length ?? 0);
}
