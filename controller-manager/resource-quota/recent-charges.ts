import type { Clock } from '../../shared/concurrency/clock';
import type { Amounts } from '../../shared/quota/amounts';
import { NOTHING, subtractAmounts, sumAmounts, withoutZeros } from '../../shared/quota/amounts';

/** One status write of a quota, or one stored object. */
interface Booked {
  readonly atMs: number;
  /** The resourceVersion of the write. */
  readonly version: number;
  readonly amounts: Amounts;
}

interface Book {
  /** Charges without a stored object yet, in order of versions. */
  charges: readonly Booked[];
  /** Stored objects without a charge yet: the two are reported by different watches. */
  stored: readonly Booked[];
  /** The last version that this program wrote, which charged nothing; NaN before. */
  ownVersion: number;
}

/** Entries per quota; further ones are merged and stay charged longer. */
const BOOKED_MAX = 256;

/**
 * Charges of each quota whose objects may not be stored yet. Charges are alike, so each stored object settles the oldest charge made
 * before it. A charge that is not settled within `windowMs` belongs to an object that will not come.
 */
export class RecentCharges {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #books = new Map<string, Book>();

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Reports whether `open` was called for the quota. */
  has(key: string): boolean {
    return this.#books.has(key);
  }

  /** Starts tracking a quota. Usage beyond the count may be pending. */
  open(key: string, used: Amounts, counted: Amounts): void {
    const amounts = withoutZeros(subtractAmounts(used, counted));
    const charges = amounts.size === 0 ? [] : [{ atMs: this.#clock.now(), version: 0, amounts }];
    this.#books.set(key, { charges, stored: [], ownVersion: Number.NaN });
  }

  /** Records a version of the quota; `before` and `after` are its usage. */
  charged(key: string, version: number, { before, after }: { before: Amounts; after: Amounts }): void {
    const book = this.#current(key);
    if (book === undefined || version === book.ownVersion) return;
    const { open, amounts } = settled(
      book.stored,
      withoutZeros(subtractAmounts(after, before)),
      (each) => each > version,
    );
    book.stored = open;
    if (amounts.size > 0) book.charges = [...book.charges, { atMs: this.#clock.now(), version, amounts }];
    if (book.charges.length > BOOKED_MAX) book.charges = firstTwoAsOne(book.charges);
  }

  /** Records a version of an object with this additional usage. */
  stored(key: string, version: number, uses: Amounts): void {
    const book = this.#current(key);
    if (book === undefined) return;
    const { open, amounts } = settled(book.charges, withoutZeros(uses), (each) => each < version);
    book.charges = open;
    if (amounts.size > 0) book.stored = [...book.stored, { atMs: this.#clock.now(), version, amounts }];
    book.stored = book.stored.slice(-BOOKED_MAX);
  }

  /** Records a write of this program: its additional usage is already counted. */
  wrote(key: string, version: number): void {
    const book = this.#current(key);
    if (book === undefined) return;
    book.ownVersion = version;
    book.charges = book.charges.filter((each) => each.version !== version);
  }

  of(key: string): Amounts {
    const charges = this.#current(key)?.charges ?? [];
    return charges.length === 0 ? NOTHING : sumAmounts(charges.map(({ amounts }) => amounts));
  }

  forget(key: string): void {
    this.#books.delete(key);
  }

  #current(key: string): Book | undefined {
    const book = this.#books.get(key);
    if (book === undefined) return undefined;
    const since = this.#clock.now() - this.#windowMs;
    const isCurrent = ({ atMs, amounts }: Booked): boolean => atMs > since && amounts.size > 0;
    book.charges = book.charges.filter(isCurrent);
    book.stored = book.stored.filter(isCurrent);
    return book;
  }
}

/** Returns the entries and amounts that stay open after settling the oldest matching ones first. */
function settled(
  booked: readonly Booked[],
  amounts: Amounts,
  concerns: (version: number) => boolean,
): { readonly open: readonly Booked[]; readonly amounts: Amounts } {
  let rest = amounts;
  const open = booked.map((each) => {
    if (rest.size === 0 || !concerns(each.version)) return each;
    const left = withoutZeros(subtractAmounts(each.amounts, rest));
    rest = withoutZeros(subtractAmounts(rest, each.amounts));
    return { ...each, amounts: left };
  });
  return { open, amounts: rest };
}

/** The merged entry expires with the later one and is settled by what settles both. */
function firstTwoAsOne([first, second, ...rest]: readonly Booked[]): readonly Booked[] {
  if (first === undefined || second === undefined) return [];
  return [{ ...second, amounts: sumAmounts([first.amounts, second.amounts]) }, ...rest];
}
