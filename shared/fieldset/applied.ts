import { isJsonObject } from '../object/clone';
import { getJsonTypeName } from '../object/json';
import type { FieldSet, FieldSetBuilder } from './field-set';
import { EMPTY_SET, LEAF, sorted, withSelf } from './field-set';
import { getItemElement } from './items';
import { displayPath, fieldElement } from './path-element';
import type { Inside, LeafShape, ListShape, ObjectShape, ScalarType, Shape } from './shape';
import { DEDUCED_OBJECT, IGNORED_SHAPE, isScalarOf } from './shape';

/** Deepest nesting of an applied configuration. */
const APPLIED_DEPTH_MAX = 1_000;

/**
 * Thrown when an object does not fit its shape: a list with two items of one key, an item without a key, a map
 * in place of a list, a number in place of a string.
 */
export class ShapeError extends Error {
  constructor(path: readonly string[], problem: string) {
    super(`${displayPath(path)}: ${problem}`);
    this.name = 'ShapeError';
  }
}

/**
 * Returns the fields that an applied configuration owns: its scalars and atomic values, the keys of its maps
 * and the items of its lists. An object with declared fields is itself a member only when it is empty. Throws
 * ShapeError.
 */
export function computeAppliedSet(shape: ObjectShape, config: object): FieldSet {
  return new Reader(true).object(shape, config as Readonly<Record<string, unknown>>);
}

/**
 * Returns the fields of a stored object. Items that repeat a key are one member without fields; items that have
 * no key are omitted.
 */
export function computeHeldSet(shape: ObjectShape, object: object): FieldSet {
  return new Reader(false).object(shape, object as Readonly<Record<string, unknown>>);
}

/**
 * True for null and an empty map, which are members themselves because nothing below them can be. The metadata
 * of the root object is an exception.
 */
export function isOwnedEmpty(shape: Shape, value: unknown): boolean {
  if (shape.kind === 'object' && shape.isKept === true) return false;
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

class Reader {
  readonly #isStrict: boolean;
  /** The current path, for messages. */
  readonly #path: string[] = [];

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  /** Returns the children of an object's node. */
  object(shape: ObjectShape, value: Readonly<Record<string, unknown>>): FieldSet {
    let node: FieldSetBuilder | undefined;
    for (const key in value) {
      const declared = shape.fields.get(key);
      const element = fieldElement(key);
      const each = declared ?? shape.others ?? this.#undeclared(element);
      if (value[key] === undefined || each.kind === 'ignored') continue;
      const below = this.#below(element, each, value[key]);
      const isMember = declared === undefined || isOwnedEmpty(each, value[key]);
      const child = isMember ? withSelf(below ?? LEAF) : below;
      if (child !== undefined) (node ??= {})[element] = child;
    }
    return node === undefined ? EMPTY_SET : sorted(node);
  }

  #below(element: string, shape: Shape, value: unknown): FieldSet | undefined {
    if (shape.kind === 'leaf' && (shape.inside === undefined || !this.#isStrict)) {
      if (this.#isStrict) this.#checkScalar(element, shape, value);
      return LEAF;
    }
    this.#path.push(element);
    if (this.#path.length > APPLIED_DEPTH_MAX)
      throw new ShapeError(this.#path.slice(0, 1), 'nested too deep');
    const node = this.#node(shape, value);
    this.#path.pop();
    return node;
  }

  #checkScalar(element: string, { scalar }: LeafShape, value: unknown): void {
    if (scalar === undefined || isScalarOf(scalar, value)) return;
    const given = getJsonTypeName(value);
    throw new ShapeError([...this.#path, element], `expected ${EXPECTED[scalar]}, got ${given}`);
  }

  /** Throws ShapeError for an atomic value that does not fit. */
  #fit({ of, shape }: Inside, value: unknown): void {
    if (value === null) return;
    if (of === 'value') {
      this.#node(shape, value);
      return;
    }
    if (of === 'items') {
      if (!Array.isArray(value)) throw new ShapeError(this.#path, 'expected a list');
      value.forEach((each: unknown, index) => this.#below(`i:${String(index)}`, shape, each));
      return;
    }
    if (!isJsonObject(value)) throw new ShapeError(this.#path, 'expected an object');
    for (const key in value) this.#below(fieldElement(key), shape, value[key]);
  }

  /** Returns the node of a value: `LEAF` for the value itself, undefined for nothing. */
  #node(shape: Shape, value: unknown): FieldSet | undefined {
    switch (shape.kind) {
      case 'ignored':
        return undefined;
      case 'leaf':
        if (this.#isStrict && shape.inside !== undefined) this.#fit(shape.inside, value);
        return LEAF;
      case 'deduced':
        return isJsonObject(value) ? orNothing(this.object(DEDUCED_OBJECT, value)) : LEAF;
      case 'object':
        if (value === null) return undefined;
        if (!isJsonObject(value)) throw new ShapeError(this.#path, 'expected an object');
        return orNothing(this.object(shape, value));
      case 'set':
      case 'keyed':
      default:
        if (value === null) return undefined;
        if (!Array.isArray(value)) throw new ShapeError(this.#path, 'expected a list');
        return orNothing(this.#list(shape, value));
    }
  }

  /** Returns the children of a list's node. */
  #list(shape: ListShape, list: readonly unknown[]): FieldSet {
    if (list.length === 0) return EMPTY_SET;
    const node: FieldSetBuilder = {};
    for (let index = 0; index < list.length; index += 1) {
      const named = getItemElement(shape, list[index]);
      if (typeof named === 'string') this.#item(node, shape, named, list[index]);
      else if (this.#isStrict) {
        throw new ShapeError(this.#path, `element ${String(index)}: ${named.problem}`);
      }
    }
    return sorted(node);
  }

  #item(node: FieldSetBuilder, shape: ListShape, element: string, item: unknown): void {
    const isRepeated = node[element] !== undefined;
    if (isRepeated && this.#isStrict) {
      throw new ShapeError(this.#path, `duplicate entries for key ${displayPath([element])}`);
    }
    const below = this.#below(element, shape.element, item);
    node[element] = below === undefined || isRepeated ? LEAF : withSelf(below);
  }

  #undeclared(element: string): Shape {
    if (!this.#isStrict) return IGNORED_SHAPE;
    throw new ShapeError([...this.#path, element], 'field not declared in schema');
  }
}

const EXPECTED: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  numeric: 'numeric (int or float)',
  boolean: 'boolean',
  untyped: 'any scalar',
};

function orNothing(node: FieldSet): FieldSet | undefined {
  return node === EMPTY_SET ? undefined : node;
}
