import type { Clock } from '../../shared/concurrency/clock';
import type { Amounts } from '../../shared/quota/amounts';
import { NOTHING, subtractAmounts, sumAmounts, withoutZeros } from '../../shared/quota/amounts';

/** What one write of a quota's status, or one object that was stored, came to. */
interface Booked {
  readonly atMs: number;
  /** The resourceVersion of the write. */
  readonly version: number;
  readonly amounts: Amounts;
}

interface Book {
  /** What was charged and not seen to be stored yet, in the order of versions. */
  charges: readonly Booked[];
  /** What was stored and not seen to be charged yet: the two are told by different watches. */
  stored: readonly Booked[];
  /** The last version that this program wrote itself, which charged nothing; NaN before. */
  ownVersion: number;
}

/** Of each quota; what is more is put together, or counts as charged for longer. */
const BOOKED_MAX = 256;

/**
 * What was charged to each quota and may still be on its way into the store. A charge is settled by the object that it was made for: as
 * charges are alike, each object that is stored settles the oldest of those that were made before it. What is not settled in `windowMs`
 * is for an object that is not coming.
 */
export class RecentCharges {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #books = new Map<string, Book>();

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Whether `open` was called for the quota. */
  has(key: string): boolean {
    return this.#books.has(key);
  }

  /** From here on changes are told. What is used more than there is may be on its way. */
  open(key: string, used: Amounts, counted: Amounts): void {
    const amounts = withoutZeros(subtractAmounts(used, counted));
    const charges = amounts.size === 0 ? [] : [{ atMs: this.#clock.now(), version: 0, amounts }];
    this.#books.set(key, { charges, stored: [], ownVersion: Number.NaN });
  }

  /** A version of the quota; `before` and `after` is what was used. */
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

  /** A version of an object that uses so much more than the one before it. */
  stored(key: string, version: number, uses: Amounts): void {
    const book = this.#current(key);
    if (book === undefined) return;
    const { open, amounts } = settled(book.charges, withoutZeros(uses), (each) => each < version);
    book.charges = open;
    if (amounts.size > 0) book.stored = [...book.stored, { atMs: this.#clock.now(), version, amounts }];
    book.stored = book.stored.slice(-BOOKED_MAX);
  }

  /** The quota was written by this program: what it says more is there already. */
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

/** What stays open of what was booked, and of the amounts, when they settle the oldest first of those whose versions concern them. */
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

/** The two count as long as the later one would, and are settled by what settles both. */
function firstTwoAsOne([first, second, ...rest]: readonly Booked[]): readonly Booked[] {
  if (first === undefined || second === undefined) return [];
  return [{ ...second, amounts: sumAmounts([first.amounts, second.amounts]) }, ...rest];
}
