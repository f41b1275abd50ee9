import BTree from 'sorted-btree';

/**
 * The order of keys: that of their UTF-8 bytes, as both stores have it, so that a page begun in the cache may continue in the store.
 * JavaScript's `<` compares UTF-16 code units, which agrees until a code unit of U+D800 or above appears.
 */
export class KeyOrder {
  #wide = false;

  /** Every key goes through here before it is stored. */
  admit(key: string): void {
    if (!this.#wide && FIRST_WIDE_UNIT.test(key)) this.#wide = true;
  }

  /** A search key that was never admitted may be wide: against narrow keys both ways of comparing give the same answer. */
  readonly compare = (a: string, b: string): number => {
    if (this.#wide) return compareKeys(a, b);
    return a < b ? -1 : a > b ? 1 : 0;
  };

  createTree<Value>(): BTree<string, Value> {
    return new BTree<string, Value>(undefined, this.compare);
  }
}

const FIRST_WIDE_UNIT = /[\ud800-\uffff]/;

/** Compares two strings by their UTF-8 bytes without encoding them. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs stand for U+10000 and above, so they rank behind U+E000–U+FFFF. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
