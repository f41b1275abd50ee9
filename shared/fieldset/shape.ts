import type { FieldKind, FieldType, MessageType } from '../schema/types';
import { ownKeyMap } from '../own-key-map';

/**
 * Shape of a type for field management. `leaf`: atomic (scalars, atomic lists, maps and structs). `object`:
 * each field or key has its own owners. `set` and `keyed`: each item has its own owners, by its value or its
 * keys. `deduced`: a value without schema, of which objects are owned by key and everything else is atomic.
 * `ignored`: never owned (metadata set by the server).
 */
export type Shape = LeafShape | { readonly kind: 'deduced' | 'ignored' } | ObjectShape | ListShape;

export interface LeafShape {
  readonly kind: 'leaf';
  /** What an applied scalar must be, unless it is null; undefined where every value fits. */
  readonly scalar?: ScalarType;
  /** Shape that an atomic applied value must fit; undefined where its type suffices. */
  readonly inside?: Inside;
}

/** Scalars as structured-merge-diff has them in its schema; `untyped` is any of them. */
export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped';

export type UnitPart = 'value' | 'items' | 'values';

/** The value itself has the shape, or each of its items or values. */
export interface Inside {
  readonly of: UnitPart;
  readonly shape: Shape;
}

/** Lists whose items have their own owners. */
export type ListShape = SetShape | KeyedShape;

interface SetShape {
  readonly kind: 'set';
  readonly element: Shape;
}

export interface KeyedShape {
  readonly kind: 'keyed';
  /** Sorted by name. */
  readonly keys: readonly KeyShape[];
  readonly element: Shape;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** Declared fields. */
  readonly fields: ReadonlyMap<string, Shape>;
  /** Keys of a map, or fields of an open struct; undefined where there are no others. */
  readonly others: Shape | undefined;
  /** It contains fields set by the server, so it is never removed as a whole. */
  readonly isKept?: boolean;
}

export interface KeyShape {
  readonly name: string;
  /** Value of the key where an item omits it; undefined where it is required. */
  readonly default: unknown;
}

export const LEAF_SHAPE: Shape = { kind: 'leaf' };
export const SCALAR_SHAPES: Readonly<Record<ScalarType, LeafShape>> = {
  string: { kind: 'leaf', scalar: 'string' },
  numeric: { kind: 'leaf', scalar: 'numeric' },
  boolean: { kind: 'leaf', scalar: 'boolean' },
  untyped: { kind: 'leaf', scalar: 'untyped' },
};
export const DEDUCED_SHAPE: Shape = { kind: 'deduced' };
export const IGNORED_SHAPE: Shape = { kind: 'ignored' };
const NO_FIELDS: ReadonlyMap<string, Shape> = new Map();

/** Shape of an object without schema. */
export const DEDUCED_OBJECT: ObjectShape = { kind: 'object', fields: NO_FIELDS, others: DEDUCED_SHAPE };

/** Fields of an object's own metadata that have no owner. */
const UNOWNED_METADATA: readonly string[] = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const roots = new WeakMap<MessageType, ObjectShape>();
const objects = new WeakMap<MessageType, ObjectShape>();

/** Returns the shape of a whole API object of this type. Metadata that the server sets has no owner. */
export function rootShape(type: MessageType): ObjectShape {
  const known = roots.get(type);
  if (known !== undefined) return known;
  const { fields, others } = messageShape(type);
  const own = new Map(fields);
  own.set('kind', IGNORED_SHAPE);
  own.set('apiVersion', IGNORED_SHAPE);
  const metadata = own.get('metadata');
  if (metadata?.kind === 'object') {
    const inner = new Map(metadata.fields);
    for (const name of UNOWNED_METADATA) inner.set(name, IGNORED_SHAPE);
    own.set('metadata', { ...metadata, fields: inner, isKept: true });
  }
  const root: ObjectShape = { kind: 'object', fields: own, others };
  roots.set(type, root);
  return root;
}

const TYPE_META: readonly (readonly [name: string, shape: Shape])[] = [
  ['kind', SCALAR_SHAPES.string],
  ['apiVersion', SCALAR_SHAPES.string],
];

/**
 * Returns the shape of a message inside an object. Its fields are made on first use, so that messages may be
 * recursive.
 */
export function messageShape(type: MessageType): ObjectShape {
  const known = objects.get(type);
  if (known !== undefined) return known;
  let fields: ReadonlyMap<string, Shape> | undefined;
  const made: ObjectShape = {
    kind: 'object',
    get fields() {
      fields ??= new Map([
        // An embedded object, such as a volume claim template, may have kind and apiVersion.
        ...(type.typeMeta ? TYPE_META : []),
        ...type.fields.map((field) => [field.name, fieldShape(field)] as const),
      ]);
      return fields;
    },
    others: type.open ? DEDUCED_SHAPE : undefined,
  };
  objects.set(type, made);
  return made;
}

function fieldShape(field: FieldType): Shape {
  if (field.list) return listShape(field);
  if (!field.map) return valueShape(field);
  if (field.mapType === 'atomic') return unit(field, 'values');
  return { kind: 'object', fields: NO_FIELDS, others: valueShape(field) };
}

function valueShape(field: FieldType): Shape {
  const { kind, message, structType } = field;
  if (kind === 'stringList') return { kind: 'leaf', inside: { of: 'items', shape: SCALAR_SHAPES.string } };
  if (kind !== 'message' || message === undefined) return scalarShape(kind);
  const isUnit = structType === 'atomic' || message.atomic;
  return isUnit ? unit(field, 'value') : messageShape(message);
}

/** Returns the shape of an atomic value. */
function unit({ kind, message }: FieldType, of: UnitPart): Shape {
  const isMessage = kind === 'message' && message !== undefined;
  return { kind: 'leaf', inside: { of, shape: isMessage ? messageShape(message) : scalarShape(kind) } };
}

/** The types of the published schema, in which bytes are a string. A string with a format is untyped. */
const SCALAR_OF: Readonly<Partial<Record<FieldKind, ScalarType>>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  double: 'numeric',
  time: 'untyped',
  microTime: 'untyped',
  quantity: 'untyped',
  intOrString: 'untyped',
};

function scalarShape(kind: FieldKind): Shape {
  const scalar = SCALAR_OF[kind];
  return scalar === undefined ? LEAF_SHAPE : SCALAR_SHAPES[scalar];
}

/** Without a list type the strategic merge patch strategy decides. */
function listShape(field: FieldType): Shape {
  const { listType, listMapKeys = [], patchMergeKey, patchStrategy = '' } = field;
  if (listType === 'atomic') return unit(field, 'items');
  if (listType === 'set') return setShape(field);
  if (listType === 'map') return keyedShape(field, listMapKeys);
  if (!patchStrategy.split(',').includes('merge')) return unit(field, 'items');
  return patchMergeKey === undefined ? setShape(field) : keyedShape(field, [patchMergeKey]);
}

function setShape(field: FieldType): Shape {
  return { kind: 'set', element: valueShape(field) };
}

function keyedShape(field: FieldType, names: readonly string[]): Shape {
  const { message } = field;
  if (names.length === 0 || message === undefined) return LEAF_SHAPE;
  return {
    kind: 'keyed',
    keys: [...names].sort().map((name) => ({ name, default: keyDefault(message.byName.get(name)) })),
    element: valueShape(field),
  };
}

const ZEROS = ownKeyMap<unknown>({ string: '', bool: false, int32: 0, int64: 0 });

/** Returns the default of the published schema. A key that is always written has its zero value. */
function keyDefault(field: FieldType | undefined): unknown {
  if (field === undefined || field.default !== undefined) return field?.default;
  return field.omitempty || field.pointer ? undefined : ZEROS.get(field.kind);
}

/** Whether an applied value has the JSON type of a scalar. Null fits all. Source: `validateScalar` of structured-merge-diff. */
export function isScalarOf(type: ScalarType, value: unknown): boolean {
  if (value === null) return true;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const own = isNumber ? 'numeric' : typeof value;
  return type === own || (type === 'untyped' && (isNumber || own === 'string' || own === 'boolean'));
}
