import BTree from 'sorted-btree';
import { compareKeys } from '../../../../../shared/meta/key-order';

/** What is known in memory of one current record; its value is on disk. */
export interface IndexEntry {
  readonly revision: number;
  readonly valueBytes: number;
  /** Milliseconds since 1970, or 0 for never. */
  readonly expiresAt: number;
}

export interface Found {
  readonly key: string;
  readonly revision: number;
}

export interface FindOptions {
  /** Exclusive. */
  readonly after?: string | undefined;
  readonly max?: number;
}

interface Expiry {
  readonly at: number;
  readonly revision: number;
}

/** The current records in key order, and those that expire in the order of their expiry. About 150 bytes a record. */
export class RecordIndex {
  readonly #records = new BTree<string, IndexEntry>(undefined, compareKeys);
  readonly #expiries = new BTree<Expiry, string>(undefined, (a, b) => a.at - b.at || a.revision - b.revision);

  get(key: string): IndexEntry | undefined {
    return this.#records.get(key);
  }

  set(key: string, entry: IndexEntry): void {
    this.#forgetExpiry(key);
    this.#records.set(key, entry);
    if (entry.expiresAt !== 0) this.#expiries.set({ at: entry.expiresAt, revision: entry.revision }, key);
  }

  delete(key: string): void {
    this.#forgetExpiry(key);
    this.#records.delete(key);
  }

  /** The records whose key begins with `prefix` and is after `after`, in order, at most `max`; and how many there are in all. */
  find(
    prefix: string,
    { after, max = Infinity }: FindOptions,
  ): { readonly found: Found[]; readonly total: number } {
    const isAfter = after !== undefined && compareKeys(after, prefix) >= 0;
    const low = isAfter ? after : prefix;
    const end = prefixEnd(prefix);
    const high = end ?? this.#records.maxKey();
    if (high === undefined) return { found: [], total: 0 };
    const found: Found[] = [];
    for (const [key, { revision }] of this.#records.entries(low)) {
      if (found.length >= max || !key.startsWith(prefix)) break;
      if (key !== after) found.push({ key, revision });
    }
    const total = this.#records.forRange(low, high, end === undefined);
    const isCounted = isAfter && after.startsWith(prefix) && this.#records.has(after);
    return { found, total: isCounted ? total - 1 : total };
  }

  /** When the next record expires, in milliseconds since 1970, or undefined when none does. */
  nextExpiryAt(): number | undefined {
    return this.#expiries.minKey()?.at;
  }

  /** Records that have expired, the oldest first, at most `max`. */
  expired(now: number, max: number): Found[] {
    const found: Found[] = [];
    for (const [{ at, revision }, key] of this.#expiries.entries()) {
      if (at > now || found.length === max) break;
      found.push({ key, revision });
    }
    return found;
  }

  #forgetExpiry(key: string): void {
    const entry = this.#records.get(key);
    if (entry !== undefined && entry.expiresAt !== 0) {
      this.#expiries.delete({ at: entry.expiresAt, revision: entry.revision });
    }
  }
}

/** The smallest string above every string that begins with `prefix`, or undefined when there is none. */
function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return undefined;
    if (last === LAST_CODE_POINT) continue;
    const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
    return points.join('') + String.fromCodePoint(next);
  }
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const LAST_CODE_POINT = 0x10_ffff;
