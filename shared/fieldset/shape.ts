import type { FieldType, MessageType } from '../schema/types';
import { ownKeyMap } from '../own-key-map';

/**
 * What field management has to know of a type. `leaf`: owned as a whole (scalars, atomic lists, maps and structs). `object`: each field
 * or key is owned by itself. `set` and `keyed`: each item is owned by itself, named by its value or its keys. `deduced`: a value
 * without schema: objects by key, everything else as a whole. `ignored`: never owned (the server's own metadata).
 */
export type Shape = LeafShape | { readonly kind: 'deduced' | 'ignored' } | ObjectShape | ListShape;

export interface LeafShape {
  readonly kind: 'leaf';
  /** What an applied value must fit, though it is owned as a whole; undefined where its type alone says enough. */
  readonly inside?: Inside;
}

export type UnitPart = 'value' | 'items' | 'values';

/** The value itself has the shape, or each of its items or values. */
export interface Inside {
  readonly of: UnitPart;
  readonly shape: Shape;
}

/** Lists whose items are owned by themselves. */
export type ListShape = { readonly kind: 'set' } | KeyedShape;

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
  /** It holds fields of the server, so that it is never taken away as a whole. */
  readonly isKept?: boolean;
}

export interface KeyShape {
  readonly name: string;
  /** Stands for the key where an item leaves it out; undefined: it may not be left out. */
  readonly default: unknown;
}

export const LEAF_SHAPE: Shape = { kind: 'leaf' };
export const SET_SHAPE: ListShape = { kind: 'set' };
export const DEDUCED_SHAPE: Shape = { kind: 'deduced' };
export const IGNORED_SHAPE: Shape = { kind: 'ignored' };
const NO_FIELDS: ReadonlyMap<string, Shape> = new Map();

/** How an object without schema is walked. */
export const DEDUCED_OBJECT: ObjectShape = { kind: 'object', fields: NO_FIELDS, others: DEDUCED_SHAPE };

/** Messages that are one unit wherever they stand (`structType=atomic` on the type, v1.21). The tables mark fields only. */
export const ATOMIC_MESSAGES: ReadonlySet<string> = new Set(['meta/v1.LabelSelector']);

/** Fields of an object's own metadata that nobody owns. */
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

/** The shape of a whole API object of this type, in which the server's own metadata belongs to nobody. */
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
  ['kind', LEAF_SHAPE],
  ['apiVersion', LEAF_SHAPE],
];

/** The shape of a message inside an object. It is made on first use of its fields, so that messages may contain themselves. */
export function messageShape(type: MessageType): ObjectShape {
  const known = objects.get(type);
  if (known !== undefined) return known;
  let fields: ReadonlyMap<string, Shape> | undefined;
  const made: ObjectShape = {
    kind: 'object',
    get fields() {
      fields ??= new Map([
        // A whole object inside another, such as the template of a claim, may say what it is.
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
  if (kind !== 'message' || message === undefined) return LEAF_SHAPE;
  const isUnit = structType === 'atomic' || ATOMIC_MESSAGES.has(message.name);
  return isUnit ? unit(field, 'value') : messageShape(message);
}

/** A value that is owned as a whole. */
function unit({ kind, message }: FieldType, of: UnitPart): Shape {
  if (kind !== 'message' || message === undefined) return LEAF_SHAPE;
  return { kind: 'leaf', inside: { of, shape: messageShape(message) } };
}

/** Without a list type the legacy merge strategy counts. */
function listShape(field: FieldType): Shape {
  const { listType, listMapKeys = [], patchMergeKey, patchStrategy = '' } = field;
  if (listType === 'atomic') return unit(field, 'items');
  if (listType === 'set') return SET_SHAPE;
  if (listType === 'map') return keyedShape(field, listMapKeys);
  if (!patchStrategy.split(',').includes('merge')) return unit(field, 'items');
  return patchMergeKey === undefined ? SET_SHAPE : keyedShape(field, [patchMergeKey]);
}

function keyedShape(field: FieldType, names: readonly string[]): Shape {
  const { message } = field;
  if (names.length === 0 || message === undefined) return LEAF_SHAPE;
  return {
    kind: 'keyed',
    keys: [...names].sort().map((name) => ({ name, default: keyDefault(message.byName.get(name)) })),
    element: messageShape(message),
  };
}

const ZEROS = ownKeyMap<unknown>({ string: '', bool: false, int32: 0, int64: 0 });

/** That of the published schema: what is always written has its zero value there. */
function keyDefault(field: FieldType | undefined): unknown {
  if (field === undefined || field.default !== undefined) return field?.default;
  return field.omitempty || field.pointer ? undefined : ZEROS.get(field.kind);
}
