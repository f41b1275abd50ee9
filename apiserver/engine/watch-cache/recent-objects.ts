import { LRUCache } from 'lru-cache';
import type { ApiObject } from '../../../shared/object/object';

/** What the kept objects may have as JSON, in bytes; parsed they take a few times as much. */
const BYTES_MAX = 3 * 1024 * 1024;

/** An object as it stands in the store. */
export interface KnownObject {
  /** With its resourceVersion. */
  readonly object: ApiObject;
  /** What is stored, as the codec wrote it: without a resourceVersion. */
  readonly plain: Buffer;
  readonly revision: number;
}

/** An object that is about to be stored. */
export interface AnnouncedObject {
  readonly object: object;
  readonly plain: Buffer;
}

interface Kept {
  /** What this replica last wrote, or read for a write. */
  readonly known?: KnownObject | undefined;
  /** Undefined for an object that was only read. */
  readonly writtenAtMs?: number | undefined;
  /** What it is about to write. Given up in its place: until the key is set again it counts in the bytes. */
  announced?: AnnouncedObject | undefined;
}

/**
 * Objects that this replica wrote a moment ago, or read for a write, parsed, by their absolute key. They are kept twice in a write: before it is
 * sent, since its event may come back before the answer and need not be parsed then, and once it is acknowledged, since most writes are
 * of objects that were written a moment ago (leases, statuses) and need not parse them again. It only says what an object was at a
 * revision; which revision counts is known elsewhere. An announcement whose write failed, or was overtaken, never fits, and makes room in
 * time. Nobody may change what it returns.
 */
export class RecentObjects {
  readonly #objects: LRUCache<string, Kept>;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#objects = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  /** What the key holds as far as this replica wrote or read it; in use, it is kept for longer. */
  get(key: string): KnownObject | undefined {
    return this.#objects.get(key)?.known;
  }

  /** Only what was written, and not before this moment, in milliseconds since the epoch. */
  writtenSince(key: string, sinceMs: number): KnownObject | undefined {
    const { known, writtenAtMs } = this.#objects.peek(key) ?? NOTHING;
    return writtenAtMs !== undefined && writtenAtMs >= sinceMs ? known : undefined;
  }

  /** What these bytes say, if this replica wrote them, or is about to. An announcement is of one event. */
  saidBy(key: string, plain: Buffer): object | undefined {
    const kept = this.#objects.peek(key);
    if (kept === undefined) return undefined;
    const { known, announced } = kept;
    if (announced?.plain.equals(plain) === true) {
      kept.announced = undefined;
      return announced.object;
    }
    return known?.plain.equals(plain) === true ? known.object : undefined;
  }

  /** The object will be sent to the store. What the key holds until then stays known. */
  announce(key: string, announced: AnnouncedObject): void {
    const { known, writtenAtMs } = this.#objects.peek(key) ?? NOTHING;
    this.#objects.set(key, { known, writtenAtMs, announced });
  }

  /** The write was acknowledged. */
  written(key: string, known: KnownObject, writtenAtMs: number): void {
    const { announced } = this.#objects.peek(key) ?? NOTHING;
    const isOther = announced !== undefined && announced.plain !== known.plain;
    this.#objects.set(key, { known, writtenAtMs, announced: isOther ? announced : undefined });
  }

  /** The object was read for a write. */
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
