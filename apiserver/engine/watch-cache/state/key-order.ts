import BTree from 'sorted-btree';
import { compareKeys } from '../../../../shared/meta/key-order';

/** The order of {@link compareKeys}, faster while no key needs it: UTF-16 order differs from UTF-8 order for wide keys only. */
export class KeyOrder {
  #wide = false;

  /** Must be called with every key before it is stored. */
  admit(key: string): void {
    if (!this.#wide && FIRST_WIDE_UNIT.test(key)) this.#wide = true;
  }

  /** A search key that was never admitted may be wide: against narrow keys both orders agree. */
  readonly compare = (a: string, b: string): number => {
    if (this.#wide) return compareKeys(a, b);
    return a < b ? -1 : a > b ? 1 : 0;
  };

  createTree<Value>(): BTree<string, Value> {
    return new BTree<string, Value>(undefined, this.compare);
  }
}

const FIRST_WIDE_UNIT = /[\ud800-\uffff]/;
