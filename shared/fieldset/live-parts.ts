import { isJsonObject } from '../object/clone';
import { heldParts } from './applied';
import type { FieldSet } from './field-set';
import { EMPTY_SET, sizeOfSet } from './field-set';
import { itemsByElement } from './items';
import { ownValue } from './own-value';
import type { Shape } from './shape';

/**
 * So many parts may be given to the owners of one object in one write: more than an object that can be stored has room for. Every entry of
 * managedFields may own the same large map as a unit, and a client may write thousands of entries.
 */
export const PARTS_GIVEN_MAX = 100_000;

/** What is left of it. */
export interface PartsBudget {
  left: number;
}

export function createPartsBudget(): PartsBudget {
  return { left: PARTS_GIVEN_MAX };
}

interface Parts {
  readonly set: FieldSet;
  readonly size: number;
}

type Items = ReadonlyMap<string, readonly unknown[]> | undefined;

/** What was read of a value, by the value; good for one shape. */
type Readings<T> = Map<unknown, { readonly shape: Shape; readonly made: T }>;

function readOnce<T>(readings: Readings<T>, shape: Shape, value: unknown, read: () => T): T {
  const known = readings.get(value);
  if (known?.shape === shape) return known.made;
  const made = read();
  readings.set(value, { shape, made });
  return made;
}

/** An object as it is before a write, of which the parts are read for many sets, but each value only once. */
export class LiveParts {
  readonly #read: () => object;
  #object: object | undefined;
  readonly #budget: PartsBudget;
  readonly #parts: Readings<Parts> = new Map();
  readonly #items: Readings<Items> = new Map();

  /** `read` is asked at most once, and only if a set has to be compared with the object. */
  constructor(read: () => object, budget: PartsBudget) {
    this.#read = read;
    this.#budget = budget;
  }

  get object(): object {
    this.#object ??= this.#read();
    return this.#object;
  }

  /** What the set of a stored object has below this value; the empty set where that has no parts, or more than may be given. */
  below(shape: Shape, value: unknown): FieldSet {
    const parts = this.#partsOf(shape, value);
    if (parts.size > this.#budget.left) return EMPTY_SET;
    this.#budget.left -= parts.size;
    return parts.set;
  }

  /** Finds the fields or items of a value by their path elements. */
  childrenOf(shape: Shape, value: unknown): (element: string) => unknown {
    if (isJsonObject(value)) {
      return (element) => (element.startsWith('f:') ? ownValue(value, element.slice(2)) : undefined);
    }
    const items = this.#itemsOf(shape, value);
    return (element) => items?.get(element)?.[0];
  }

  #partsOf(shape: Shape, value: unknown): Parts {
    return readOnce(this.#parts, shape, value, () => {
      const set = heldParts(shape, value);
      return { set, size: sizeOfSet(set) };
    });
  }

  #itemsOf(shape: Shape, value: unknown): Items {
    if (!Array.isArray(value) || (shape.kind !== 'keyed' && shape.kind !== 'set')) return undefined;
    return readOnce(this.#items, shape, value, () => itemsByElement(shape, value));
  }
}
