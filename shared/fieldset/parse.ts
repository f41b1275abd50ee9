import { isJsonObject } from '../meta/clone';
import type { FieldSet } from './field-set';
import { EMPTY_SET, isEmptySet, LEAF, SELF, sorted, union } from './field-set';
import { canonicalElement } from './path-element';

/** Objects nest far less deep than this, and their fields with them. */
export const FIELD_SET_DEPTH_MAX = 1_000;

/**
 * Reads FieldsV1 as a client sent it or as it was stored. A canonical set comes back as the same object, without a copy. Undefined for
 * anything that is no set: unknown path elements, values that are no objects, nesting deeper than `FIELD_SET_DEPTH_MAX`.
 */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (value === undefined || value === null) return EMPTY_SET;
  const root = parseNode(value, FIELD_SET_DEPTH_MAX);
  if (root?.[SELF] === undefined) return root;
  const { [SELF]: _self, ...children } = root;
  return children;
}

function parseNode(value: unknown, levels: number): FieldSet | undefined {
  if (!isJsonObject(value) || levels === 0) return undefined;
  const given = value as FieldSet;
  let isCanonical = true;
  for (const key of Object.keys(value)) {
    const name = key === SELF ? SELF : canonicalElement(key);
    const child = name === undefined ? undefined : parseNode(value[key], levels - 1);
    if (child === undefined) return undefined;
    if (name !== key || !isSame(child, given[key])) isCanonical = false;
  }
  const node = isCanonical ? given : rebuilt(given, levels);
  return onlySelf(node) ? LEAF : sorted(node);
}

/** The node with canonical keys; the slow way, for sets that a client wrote by hand. */
function rebuilt(given: FieldSet, levels: number): FieldSet {
  let node: FieldSet = EMPTY_SET;
  for (const key of Object.keys(given)) {
    const name = key === SELF ? SELF : (canonicalElement(key) ?? key);
    const child = name === SELF ? LEAF : (parseNode(given[key], levels - 1) ?? LEAF);
    node = node[name] === undefined ? { ...node, [name]: child } : union(node, { [name]: child });
  }
  return node;
}

/** Two empty nodes are the same node. */
function isSame(a: FieldSet, b: unknown): boolean {
  return a === b || (isEmptySet(a) && isJsonObject(b) && isEmptySet(b as FieldSet));
}

function onlySelf(node: FieldSet): boolean {
  if (node[SELF] === undefined) return false;
  for (const key in node) if (key !== SELF) return false;
  return true;
}
