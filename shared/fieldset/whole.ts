import { isJsonObject } from '../object/clone';
import type { FieldSet, FieldSetBuilder } from './field-set';
import { LEAF, SELF, sorted } from './field-set';
import { itemsByElement } from './items';
import { fieldElement } from './path-element';
import type { ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT } from './shape';

/**
 * Returns the node of an added or removed value with everything in it. Undefined for a value that is never
 * owned.
 */
export function wholeNode(shape: Shape, value: unknown): FieldSet | undefined {
  switch (shape.kind) {
    case 'ignored':
      return undefined;
    case 'leaf':
      return LEAF;
    case 'deduced':
      return isJsonObject(value) ? wholeObject(DEDUCED_OBJECT, value) : LEAF;
    case 'object':
      return isJsonObject(value) ? wholeObject(shape, value) : LEAF;
    case 'set':
    case 'keyed':
    default:
      return Array.isArray(value) ? wholeList(shape, value) : LEAF;
  }
}

function wholeObject(shape: ObjectShape, value: Readonly<Record<string, unknown>>): FieldSet {
  let node: FieldSetBuilder | undefined;
  for (const key in value) {
    const each = shape.fields.get(key) ?? shape.others;
    const child = each === undefined ? undefined : wholeNode(each, value[key]);
    if (child === undefined) continue;
    node ??= { [SELF]: LEAF };
    node[fieldElement(key)] = child;
  }
  return node === undefined ? LEAF : sorted(node);
}

function wholeList(shape: ListShape, list: readonly unknown[]): FieldSet {
  const items = list.length === 0 ? undefined : itemsByElement(shape, list);
  if (items === undefined) return LEAF;
  const node: FieldSetBuilder = { [SELF]: LEAF };
  for (const [element, same] of items) {
    const whole = shape.kind === 'keyed' && same.length === 1 ? wholeNode(shape.element, same[0]) : LEAF;
    node[element] = whole ?? LEAF;
  }
  return sorted(node);
}
