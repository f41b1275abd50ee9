import type { AnyLevel } from '../api-level';
import { apiLevel, isAtLevel, isReached, rowAtLevel } from '../api-level';
import { packageOf } from '../api/resources';
import type { FieldData } from '../api/tables';
import { SCHEMA_DATA } from '../api/tables';
import type { MessageTypes } from '../api/types/message-types';
import type { ApiObject, GroupVersionKind } from '../object/object';
import { defined } from '../defined';
import { ownKeyMap } from '../own-key-map';

/** Kinds of values. `scalars.ts` and `unions.ts` define what each accepts and how it is written. */
export type FieldKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  /** An object of any kind, kept as it is. */
  | 'rawExtension'
  /** The field set of a managedFields entry, kept as it is. */
  | 'fieldsV1'
  /** Any JSON value, kept as it is. */
  | 'json'
  /** A list of strings that is a message of its own in Protobuf: `message` has the one field `items`. */
  | 'stringList'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray'
  | 'message';

export interface FieldType {
  /** The name in JSON. */
  readonly name: string;
  /** The Protobuf field number. */
  readonly number: number;
  /** The type of the value, or of each element of a list or map. */
  readonly kind: FieldKind;
  /** For `message`: its type. For `stringList`, `json` and the schema unions: the message that carries them in Protobuf. */
  readonly message?: MessageType;
  readonly list: boolean;
  /** Keys are strings. */
  readonly map: boolean;
  /** Not required in the published OpenAPI, as no `omitempty` field is. */
  readonly optional: boolean;
  /** An empty value is omitted from JSON. */
  readonly omitempty: boolean;
  /** An empty list is kept although the field is `omitempty`. */
  readonly keepsEmpty: boolean;
  /** Absent and zero differ. False for lists, maps and bytes, where empty counts as absent when `omitempty`. */
  readonly pointer: boolean;
  /** An empty list or map is written as null, because upstream's store does not distinguish them. */
  readonly emptyIsNull: boolean;
  /** Only in `declared`: in JSON the fields of the message are fields of the parent. */
  readonly inline: boolean;
  /** See `FieldData`. */
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly structType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  /** The default of the published schema, parsed. */
  readonly default?: unknown;
}

/** Key of the type-only part of `MessageType`; no value has it. */
declare const DECODED: unique symbol;

/** A message; `T` is what `decodeObject` makes of its values. */
export interface MessageType<out T extends object = object> {
  readonly [DECODED]?: T;
  /** `core/v1.Pod`. */
  readonly name: string;
  /** Fields in the order of JSON, with those of inlined messages in place of the inlined one. */
  readonly fields: readonly FieldType[];
  /** The same fields by their JSON name. */
  readonly byName: ReadonlyMap<string, FieldType>;
  /** The fields of the Protobuf form: inlined messages are nested messages. */
  readonly declared: readonly FieldType[];
  /** True for kinds: `kind` and `apiVersion` come first in JSON, and are not among the fields. */
  readonly typeMeta: boolean;
  /** True if unknown fields are kept, as in an object without a schema. */
  readonly open: boolean;
  /** True if server-side apply replaces the message as a whole. */
  readonly atomic: boolean;
}

/** The type of a kind: its values are objects. */
export type KindType = MessageType<ApiObject>;

/**
 * Returns the type of a message of the tables (`core/v1.Pod`), linked on first use, with the fields of an API level, by default of that of
 * this process. The message itself may belong to other levels, because stored objects outlive a change of level. Throws if there is no such
 * message, which is a defect.
 */
export function messageType<Name extends keyof MessageTypes>(name: Name): MessageType<MessageTypes[Name]>;
export function messageType(name: string, level?: AnyLevel): MessageType;
export function messageType(name: string, level: AnyLevel = apiLevel): MessageType {
  const types = typesAt(level);
  const known = types.get(name);
  if (known !== undefined) return known;
  const { packageName, message } = splitMessageName(name);
  const data = SCHEMA_DATA[packageName]?.[message];
  if (data === undefined) throw new Error(`no message ${name} in the schema`);
  const type = new LinkedMessage(name, {
    typeMeta: data.kind === true,
    open: false,
    atomic: data.atomic !== undefined && isReached(data.atomic, level),
    declare: () =>
      Object.entries(data.fields)
        .filter(([, each]) => isAtLevel(each, level))
        .map(([field, each]) =>
          fieldType(field, rowAtLevel(each, level), {
            emptyIsNull: !KEEPS_EMPTY.has(packageName.split('/')[0] ?? '') && field !== 'items',
            level,
          }),
        ),
  });
  types.set(name, type);
  return type;
}

/**
 * Returns the type of a kind whose name is known at run time only. Throws if there is none, which is a defect.
 */
export function kindType(name: string): KindType {
  const type = messageType(name);
  if (!type.typeMeta) throw new Error(`${name} is not a kind`);
  return type as KindType;
}

/** Returns the type of a built-in kind in the names of this process's dialect, or undefined. */
export function messageTypeOfKind({ group, version, kind }: GroupVersionKind): KindType | undefined {
  const packageName = packageOf({ group, version });
  const data = SCHEMA_DATA[packageName]?.[kind];
  return data?.kind === true && isAtLevel(data) ? kindType(`${packageName}.${kind}`) : undefined;
}

/** Returns the names of all messages of a level, by default of that of this process. */
export function messageNames(level: AnyLevel = apiLevel): readonly string[] {
  return Object.entries(SCHEMA_DATA).flatMap(([packageName, messages]) =>
    Object.entries(messages)
      .filter(([, data]) => isAtLevel(data, level))
      .map(([message]) => `${packageName}.${message}`),
  );
}

/** Splits `core/v1.Pod` into package and message. */
function splitMessageName(name: string): { readonly packageName: string; readonly message: string } {
  const dot = name.lastIndexOf('.');
  return { packageName: name.slice(0, dot), message: name.slice(dot + 1) };
}

/**
 * Links its fields on first use, so that messages may contain themselves and start-up pays only for what it
 * uses.
 */
class LinkedMessage implements MessageType {
  readonly name: string;
  readonly typeMeta: boolean;
  readonly open: boolean;
  readonly atomic: boolean;
  readonly #declare: () => readonly FieldType[];
  #declared: readonly FieldType[] | undefined;
  #fields: readonly FieldType[] | undefined;
  #byName: ReadonlyMap<string, FieldType> | undefined;

  constructor(
    name: string,
    options: { typeMeta: boolean; open: boolean; atomic: boolean; declare: () => readonly FieldType[] },
  ) {
    this.name = name;
    this.typeMeta = options.typeMeta;
    this.open = options.open;
    this.atomic = options.atomic;
    this.#declare = options.declare;
  }

  get declared(): readonly FieldType[] {
    this.#declared ??= this.#declare();
    return this.#declared;
  }

  get fields(): readonly FieldType[] {
    this.#fields ??= this.declared.flatMap((field) =>
      field.inline && field.message !== undefined ? field.message.fields : [field],
    );
    return this.#fields;
  }

  get byName(): ReadonlyMap<string, FieldType> {
    this.#byName ??= new Map(this.fields.map((field) => [field.name, field]));
    return this.#byName;
  }
}

function typesAt(level: AnyLevel): Map<string, MessageType> {
  const known = typesByLevel.get(level) ?? new Map<string, MessageType>();
  typesByLevel.set(level, known);
  return known;
}

const typesByLevel = new Map<AnyLevel, Map<string, MessageType>>();

/** Packages whose objects upstream never stores, or stores as JSON: an empty list stays an empty list. */
const KEEPS_EMPTY: ReadonlySet<string> = new Set([
  'admission',
  'apiextensions',
  'apiregistration',
  'authentication',
  'authorization',
  'imagepolicy',
  'meta',
]);

/** Kinds by the names that the tables use for special types. */
const SPECIAL_KINDS = ownKeyMap<FieldKind>({
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'double',
  bytes: 'bytes',
  Time: 'time',
  MicroTime: 'microTime',
  Quantity: 'quantity',
  IntOrString: 'intOrString',
  RawExtension: 'rawExtension',
  FieldsV1: 'fieldsV1',
});

/** Kinds of Protobuf messages that have another form in JSON, by name without the package. */
const SPECIAL_MESSAGES = ownKeyMap<FieldKind>({
  ExtraValue: 'stringList',
  Verbs: 'stringList',
  JSON: 'json',
  JSONSchemaPropsOrArray: 'schemaOrArray',
  JSONSchemaPropsOrBool: 'schemaOrBool',
  JSONSchemaPropsOrStringArray: 'schemaOrStringArray',
});

function fieldType(
  name: string,
  data: FieldData,
  options: { readonly emptyIsNull: boolean; readonly level: AnyLevel },
): FieldType {
  const special = SPECIAL_KINDS.get(data.t);
  const shortName = data.t.slice(data.t.lastIndexOf('.') + 1);
  return {
    name,
    number: data.n,
    kind: special ?? SPECIAL_MESSAGES.get(shortName) ?? 'message',
    ...(special === undefined ? { message: messageType(data.t, options.level) } : {}),
    list: data.list === true,
    map: data.map === true,
    optional: data.optional === true,
    omitempty: data.omitempty === true || data.omitzero === true,
    keepsEmpty: data.keepsEmpty === true,
    pointer: data.ptr === true || data.omitzero === true,
    emptyIsNull: options.emptyIsNull && data.omitempty !== true && (data.list === true || data.map === true),
    inline: data.inline === true,
    ...markers(data),
  };
}

function markers(data: FieldData): Partial<FieldType> {
  return {
    ...defined({
      listType: data.listType,
      listMapKeys: data.listMapKeys,
      mapType: data.mapType,
      structType: data.structType,
      patchStrategy: data.patchStrategy,
      patchMergeKey: data.patchMergeKey,
    }),
    ...(data.default === undefined ? {} : { default: JSON.parse(data.default) as unknown }),
  };
}

const METADATA: FieldData = { n: 1, t: 'meta/v1.ObjectMeta', optional: true, omitempty: true };

/** Type of an object without a schema, such as a custom resource: only its envelope is typed. */
export const UNSTRUCTURED: KindType = new LinkedMessage('unstructured', {
  typeMeta: true,
  open: true,
  atomic: false,
  declare: () => [fieldType('metadata', METADATA, { emptyIsNull: false, level: apiLevel })],
});
