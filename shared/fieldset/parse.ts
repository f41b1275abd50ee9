import { isJsonObject } from '../object/clone';
import type { FieldSet, FieldSetBuilder } from './field-set';
import { childrenBefore, EMPTY_SET, isEmptySet, LEAF, SELF, sorted, unionNodes } from './field-set';
import { canonicalElement } from './path-element';

/** Objects nest far less deep than this, and their fields with them. */
const FIELD_SET_DEPTH_MAX = 1_000;

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

/** Each node is read once, whatever a client wrote by hand: one that has to change is copied as far as it was well. */
function parseNode(value: unknown, levels: number): FieldSet | undefined {
  if (!isJsonObject(value) || levels === 0) return undefined;
  const given = value as FieldSet;
  let changed: FieldSetBuilder | undefined;
  for (const key of Object.keys(value)) {
    const name = key === SELF ? SELF : canonicalElement(key);
    const child = name === undefined ? undefined : parseChild(name, value[key], levels - 1);
    if (name === undefined || child === undefined) return undefined;
    if (changed === undefined) {
      if (name === key && isSame(child, given[key])) continue;
      changed = childrenBefore(given, key) ?? {};
    }
    // Two spellings of one element.
    const known = changed[name];
    changed[name] = known === undefined ? child : unionNodes(known, child);
  }
  const node = changed ?? given;
  return onlySelf(node) ? LEAF : sorted(node);
}

/** What a member holds says nothing, and null holds nothing. */
function parseChild(name: string, value: unknown, levels: number): FieldSet | undefined {
  return name === SELF || value === null ? LEAF : parseNode(value, levels);
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
