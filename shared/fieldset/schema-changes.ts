import type { FieldSet, FieldSetBuilder } from './field-set';
import { isEmptySet, LEAF, SELF, sorted, union, withSelf } from './field-set';
import type { LiveParts } from './live-parts';
import type { ObjectShape, Shape } from './shape';

/**
 * The set as it reads under the shape of today. Where something became one unit, whoever owned a part of it owns the unit. Where a map,
 * struct or list of items is owned as a unit, its owner owns the parts that it has in `live`, the object before the write: it may have
 * been one unit once, or it was empty when it was written and filled by admission. Returns the same set when nothing changes.
 */
export function reconcileWithShape(shape: ObjectShape, set: FieldSet, live: LiveParts): FieldSet {
  const { set: standing, units } = readSet(shape, set);
  const parts = units === undefined ? undefined : partsOf(units, live.object, live);
  return parts === undefined ? standing : union(standing, parts);
}

/** Where a set owns something with parts and none of its parts: there, or below. */
interface Units {
  readonly shape: Shape;
  /** By path element; empty where it is there. */
  readonly below: ReadonlyMap<string, Units>;
}

interface Reading {
  readonly set: FieldSet;
  readonly units: Units | undefined;
}

/** What sets read as. Sets are frozen, and those of an object that is written often are the same each time. */
const readings = new WeakMap<FieldSet, Reading & { readonly shape: ObjectShape }>();

function readSet(shape: ObjectShape, set: FieldSet): Reading {
  if (isEmptySet(set)) return { set, units: undefined };
  const known = readings.get(set);
  if (known?.shape === shape) return known;
  const { set: standing, units } = readNode(shape, set);
  // The root is never owned itself.
  const reading = { shape, set: standing, units: units?.below.size === 0 ? undefined : units };
  readings.set(set, reading);
  return reading;
}

function readNode(shape: Shape, node: FieldSet): Reading {
  if (shape.kind === 'deduced' || shape.kind === 'ignored') return { set: node, units: undefined };
  if (shape.kind === 'leaf') return { set: isEmptySet(node) ? node : LEAF, units: undefined };
  let result: FieldSetBuilder | undefined;
  let below: Map<string, Units> | undefined;
  let hasParts = false;
  for (const key in node) {
    if (key === SELF) continue;
    hasParts = true;
    const each = childShape(shape, key);
    const child = node[key];
    if (each === undefined || child === undefined) continue;
    const read = readNode(each, child);
    if (read.units !== undefined) (below ??= new Map<string, Units>()).set(key, read.units);
    if (read.set !== child) (result ??= { ...node })[key] = read.set;
  }
  const units = hasParts ? below && { shape, below } : { shape, below: NO_UNITS };
  return { set: result ?? node, units };
}

const NO_UNITS: ReadonlyMap<string, Units> = new Map();

/** What the value has in it at these places, and there itself; undefined when there is nothing that can be named. */
function partsOf({ shape, below }: Units, value: unknown, live: LiveParts): FieldSet | undefined {
  if (below.size === 0) {
    const parts = live.below(shape, value);
    return isEmptySet(parts) ? undefined : withSelf(parts);
  }
  const childAt = live.childrenOf(shape, value);
  let node: FieldSetBuilder | undefined;
  for (const [element, units] of below) {
    const child = childAt(element);
    const parts = child === undefined ? undefined : partsOf(units, child, live);
    if (parts !== undefined) (node ??= {})[element] = parts;
  }
  return node === undefined ? undefined : sorted(node);
}

/**
 * The set with every declared field on the way to a member as a member too: what a removal has to name to take a field away once
 * nothing is left in it.
 */
export function withNamedFields(shape: Shape, set: FieldSet): FieldSet {
  let result: FieldSetBuilder | undefined;
  for (const key in set) {
    if (key === SELF) continue;
    const child = set[key] ?? LEAF;
    const each = childShape(shape, key);
    const below = each === undefined ? child : withNamedFields(each, child);
    const isNamed = shape.kind === 'object' && key.startsWith('f:') && shape.fields.has(key.slice(2));
    const named = isNamed ? withSelf(below) : below;
    if (named === child) continue;
    result ??= { ...set };
    result[key] = named;
  }
  return result ?? set;
}

/**
 * The set with every field and key on the way to a member as a member too, declared or not: what has to stay so that the members can.
 */
export function withFieldsAbove(set: FieldSet): FieldSet {
  let result: FieldSetBuilder | undefined;
  for (const key in set) {
    if (key === SELF) continue;
    const child = set[key] ?? LEAF;
    const below = withFieldsAbove(child);
    const kept = key.startsWith('f:') ? withSelf(below) : below;
    if (kept === child) continue;
    result ??= { ...set };
    result[key] = kept;
  }
  return result ?? set;
}

function childShape(shape: Shape, element: string): Shape | undefined {
  if (shape.kind === 'object') {
    return element.startsWith('f:') ? (shape.fields.get(element.slice(2)) ?? shape.others) : undefined;
  }
  return shape.kind === 'keyed' ? shape.element : undefined;
}
