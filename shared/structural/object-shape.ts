import type { KeyShape, ObjectShape, Shape } from '../fieldset/shape';
import { DEDUCED_SHAPE, LEAF_SHAPE, messageShape, rootShape, SET_SHAPE } from '../fieldset/shape';
import { messageType, UNSTRUCTURED } from '../schema/types';
import type { StructuralSchema } from './structural-schema';

/**
 * What field management has to know of a custom resource: objects and maps are owned by field and key unless their map type is atomic,
 * lists as a whole unless they have a list type. Made once per schema, each part when it is first asked for.
 */
export function objectShapeOf(schema: StructuralSchema): ObjectShape {
  const known = roots.get(schema);
  if (known !== undefined) return known;
  const own = new Map(rootShape(UNSTRUCTURED).fields);
  const keeps = schema.isUnpruned || schema.preservesUnknown;
  for (const [name, each] of schema.properties) {
    if (!own.has(name)) own.set(name, shapeOf(each, keeps));
  }
  const root: ObjectShape = { kind: 'object', fields: own, others: keeps ? DEDUCED_SHAPE : undefined };
  roots.set(schema, root);
  return root;
}

const roots = new WeakMap<StructuralSchema, ObjectShape>();
/** Two shapes for each node: inside an object that keeps unknown fields what has no type is deduced, elsewhere it is a unit. */
const kept = new WeakMap<StructuralSchema, Shape>();
const others = new WeakMap<StructuralSchema, Shape>();
const NO_FIELDS: ReadonlyMap<string, Shape> = new Map();

function shapeOf(schema: StructuralSchema, isKept: boolean): Shape {
  const shapes = isKept ? kept : others;
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const made = makeShape(schema, isKept);
  shapes.set(schema, made);
  return made;
}

function makeShape(schema: StructuralSchema, isKept: boolean): Shape {
  if (schema.type === 'array') return listShape(schema, isKept);
  const hasFields = schema.properties.size > 0 || schema.isEmbedded;
  if (schema.type !== 'object' && !hasFields) {
    return schema.type === '' && isKept ? DEDUCED_SHAPE : LEAF_SHAPE;
  }
  if (schema.mapType === 'atomic') return atomicMapShape(schema, isKept, hasFields);
  return hasFields ? structShape(schema, isKept || schema.preservesUnknown) : mapShape(schema, isKept);
}

function mapShape({ additionalProperties }: StructuralSchema, isKept: boolean): Shape {
  const element =
    typeof additionalProperties === 'object' ? shapeOf(additionalProperties, isKept) : untyped(isKept);
  return { kind: 'object', fields: NO_FIELDS, others: element };
}

/** Owned as a unit, though what is in it is known. */
function atomicMapShape(schema: StructuralSchema, isKept: boolean, hasFields: boolean): Shape {
  const shape = hasFields ? structShape(schema, isKept || schema.preservesUnknown) : mapShape(schema, isKept);
  return { kind: 'leaf', inside: { of: 'value', shape } };
}

function untyped(isKept: boolean): Shape {
  return isKept ? DEDUCED_SHAPE : LEAF_SHAPE;
}

function structShape(schema: StructuralSchema, isKept: boolean): ObjectShape {
  let fields: ReadonlyMap<string, Shape> | undefined;
  return {
    kind: 'object',
    get fields() {
      fields ??= fieldShapes(schema, isKept);
      return fields;
    },
    others: isKept ? DEDUCED_SHAPE : undefined,
  };
}

const OBJECT_META = 'meta/v1.ObjectMeta';

function fieldShapes(schema: StructuralSchema, isKept: boolean): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const [name, each] of schema.properties) shapes.set(name, shapeOf(each, isKept));
  if (schema.isEmbedded) {
    shapes.set('apiVersion', LEAF_SHAPE);
    shapes.set('kind', LEAF_SHAPE);
    shapes.set('metadata', messageShape(messageType(OBJECT_META)));
  }
  return shapes;
}

function listShape({ listType, listMapKeys, items }: StructuralSchema, isKept: boolean): Shape {
  if (listType === 'set') return SET_SHAPE;
  if (items === undefined) return LEAF_SHAPE;
  if (listType !== 'map' || listMapKeys.length === 0) {
    return { kind: 'leaf', inside: { of: 'items', shape: shapeOf(items, isKept) } };
  }
  const keys: readonly KeyShape[] = [...listMapKeys]
    .sort()
    .map((name) => ({ name, default: items.properties.get(name)?.default }));
  return { kind: 'keyed', keys, element: shapeOf(items, isKept) };
}
