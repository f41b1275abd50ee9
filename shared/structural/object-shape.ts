import type { KeyShape, ObjectShape, Shape } from '../fieldset/shape';
import { DEDUCED_SHAPE, LEAF_SHAPE, messageShape, rootShape, SCALAR_SHAPES } from '../fieldset/shape';
import { messageType, UNSTRUCTURED } from '../schema/types';
import type { StructuralSchema } from './structural-schema';

/**
 * Returns the shape of a custom resource for field management. Objects and maps are owned by field and key
 * unless their map type is atomic; lists are owned as a whole unless they have a list type. It is made once
 * per schema, each part on first use.
 */
export function getObjectShape(schema: StructuralSchema): ObjectShape {
  const known = roots.get(schema);
  if (known !== undefined) return known;
  const own = new Map(rootShape(UNSTRUCTURED).fields);
  const keeps = schema.isUnpruned ? 'all' : keepsIn(schema, 'none');
  for (const [name, each] of schema.properties) {
    if (!own.has(name)) own.set(name, shapeOf(each, keeps));
  }
  const root: ObjectShape = {
    kind: 'object',
    fields: own,
    others: keeps === 'none' ? undefined : DEDUCED_SHAPE,
  };
  roots.set(schema, root);
  return root;
}

/**
 * Which unknown fields are kept around a part. Inside an object that preserves them, the structure of untyped
 * values is deduced; in other places such a value is atomic. With `all` the metadata of embedded resources
 * preserves unknown fields as well.
 */
type Keeps = 'none' | 'some' | 'all';

const roots = new WeakMap<StructuralSchema, ObjectShape>();
/** Shapes of each node, by what its surroundings preserve. */
const shapes: Readonly<Record<Keeps, WeakMap<StructuralSchema, Shape>>> = {
  none: new WeakMap(),
  some: new WeakMap(),
  all: new WeakMap(),
};
const NO_FIELDS: ReadonlyMap<string, Shape> = new Map();

function keepsIn({ preservesUnknown }: StructuralSchema, around: Keeps): Keeps {
  return around === 'none' && preservesUnknown ? 'some' : around;
}

function shapeOf(schema: StructuralSchema, keeps: Keeps): Shape {
  const known = shapes[keeps].get(schema);
  if (known !== undefined) return known;
  const made = makeShape(schema, keeps);
  shapes[keeps].set(schema, made);
  return made;
}

function makeShape(schema: StructuralSchema, keeps: Keeps): Shape {
  if (schema.type === 'array') return listShape(schema, keeps);
  const hasFields = schema.properties.size > 0 || schema.isEmbedded;
  if (schema.type !== 'object' && !hasFields) {
    return schema.type === '' ? untyped(keeps) : (SCALAR_OF.get(schema.type) ?? LEAF_SHAPE);
  }
  const shape = hasFields ? structShape(schema, keepsIn(schema, keeps)) : mapShape(schema, keeps);
  // Atomic, although the shape inside it is known.
  return schema.mapType === 'atomic' ? { kind: 'leaf', inside: { of: 'value', shape } } : shape;
}

const SCALAR_OF: ReadonlyMap<string, Shape> = new Map([
  ['string', SCALAR_SHAPES.string],
  ['boolean', SCALAR_SHAPES.boolean],
  ['integer', SCALAR_SHAPES.numeric],
  ['number', SCALAR_SHAPES.numeric],
]);

function mapShape({ additionalProperties }: StructuralSchema, keeps: Keeps): Shape {
  const element =
    typeof additionalProperties === 'object' ? shapeOf(additionalProperties, keeps) : untyped(keeps);
  return { kind: 'object', fields: NO_FIELDS, others: element };
}

function untyped(keeps: Keeps): Shape {
  return keeps === 'none' ? LEAF_SHAPE : DEDUCED_SHAPE;
}

function structShape(schema: StructuralSchema, keeps: Keeps): ObjectShape {
  let fields: ReadonlyMap<string, Shape> | undefined;
  return {
    kind: 'object',
    get fields() {
      fields ??= fieldShapes(schema, keeps);
      return fields;
    },
    others: keeps === 'none' ? undefined : DEDUCED_SHAPE,
  };
}

const OBJECT_META = 'meta/v1.ObjectMeta';

function fieldShapes(schema: StructuralSchema, keeps: Keeps): ReadonlyMap<string, Shape> {
  const found = new Map<string, Shape>();
  for (const [name, each] of schema.properties) found.set(name, shapeOf(each, keeps));
  if (schema.isEmbedded) {
    found.set('apiVersion', SCALAR_SHAPES.string);
    found.set('kind', SCALAR_SHAPES.string);
    const metadata = messageShape(messageType(OBJECT_META));
    found.set('metadata', keeps === 'all' ? { ...metadata, others: DEDUCED_SHAPE } : metadata);
  }
  return found;
}

function listShape({ listType, listMapKeys, items }: StructuralSchema, keeps: Keeps): Shape {
  if (listType === 'set') return { kind: 'set', element: items ? shapeOf(items, keeps) : LEAF_SHAPE };
  if (items === undefined) return LEAF_SHAPE;
  if (listType !== 'map' || listMapKeys.length === 0) {
    return { kind: 'leaf', inside: { of: 'items', shape: shapeOf(items, keeps) } };
  }
  const keys: readonly KeyShape[] = [...listMapKeys]
    .sort()
    .map((name) => ({ name, default: items.properties.get(name)?.default }));
  return { kind: 'keyed', keys, element: shapeOf(items, keeps) };
}
