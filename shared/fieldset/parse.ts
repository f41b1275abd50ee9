import { isJsonObject } from '../object/clone';
import type { FieldSet, FieldSetBuilder } from './field-set';
import { childrenBefore, EMPTY_SET, isEmptySet, LEAF, SELF, sorted, unionNodes } from './field-set';
import { canonicalElement } from './path-element';

/** Deepest nesting of a field set. */
const FIELD_SET_DEPTH_MAX = 1_000;

/**
 * Parses FieldsV1 as sent or stored. A canonical set is returned without a copy. Undefined for an invalid set:
 * an unknown path element, a value that is no object, nesting deeper than `FIELD_SET_DEPTH_MAX`.
 */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (value === undefined || value === null) return EMPTY_SET;
  const root = parseNode(value, FIELD_SET_DEPTH_MAX);
  if (root?.[SELF] === undefined) return root;
  const { [SELF]: _self, ...children } = root;
  return children;
}

/** Reads each node once. A node that is not canonical is copied from the first difference. */
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
    // The element occurs in two spellings.
    const known = changed[name];
    changed[name] = known === undefined ? child : unionNodes(known, child);
  }
  const node = changed ?? given;
  return onlySelf(node) ? LEAF : sorted(node);
}

/** Content of the member `.` is ignored, and null is empty. */
function parseChild(name: string, value: unknown, levels: number): FieldSet | undefined {
  return name === SELF || value === null ? LEAF : parseNode(value, levels);
}

/** True for the same node, or two empty ones. */
function isSame(a: FieldSet, b: unknown): boolean {
  return a === b || (isEmptySet(a) && isJsonObject(b) && isEmptySet(b as FieldSet));
}

function onlySelf(node: FieldSet): boolean {
  if (node[SELF] === undefined) return false;
  for (const key in node) if (key !== SELF) return false;
  return true;
}
