import enumData from '../../../shared/api/data/openapi-enums.json';
import { isInForce } from '../../../shared/api/changes';
import { describeField, describeMessage } from '../../../shared/api/descriptions';
import { defined } from '../../../shared/defined';
import { GROUP } from '../../../shared/names';
import type { GroupVersion, GroupVersionKind } from '../../../shared/object/object';
import type { FieldKind, FieldType, MessageType } from '../../../shared/schema/types';
import { messageType } from '../../../shared/schema/types';
import { definitionName } from './names';
import { SPECIAL_SCHEMAS } from './special-schemas';
import { ownKeyMap } from '../../../shared/own-key-map';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The differences between the schemas of OpenAPI v2 and v3. */
export interface SchemaForm {
  /** Builds a reference to a definition, with its siblings in this place. */
  readonly reference: (definition: string, siblings: JsonSchema) => JsonSchema;
  /** Selects the form of special definitions that the two versions describe differently. */
  readonly version: 'v2' | 'v3';
  /** Whether fields list their allowed values. */
  readonly enums?: boolean;
}

/** Siblings of a reference are allowed, although strict parsers ignore them. */
export const SWAGGER: SchemaForm = {
  version: 'v2',
  reference: (definition, siblings) => ({ ...siblings, $ref: `#/definitions/${definition}` }),
};

/** A reference must not have siblings, so one with siblings is wrapped in a list with one element. */
export const OPENAPI_3: SchemaForm = {
  version: 'v3',
  reference: (definition, siblings) => {
    const reference = { $ref: `#/components/schemas/${definition}` };
    return Object.keys(siblings).length === 0 ? reference : { ...siblings, allOf: [reference] };
  },
};

/** Returns the definition of a message, by its name (`core/v1.Pod`, `meta/v1.Time`, `version.Info`). */
export function definitionOf(message: string, form: SchemaForm, served: readonly GroupVersion[]): JsonSchema {
  const special = specialSchema(message);
  if (special !== undefined) return special[form.version] ?? special.v2;
  const type = messageType(message);
  const properties: Record<string, JsonSchema> = {};
  if (type.typeMeta) Object.assign(properties, TYPE_META);
  for (const field of type.fields) {
    properties[field.name] = fieldSchema(field, {
      form,
      said: described(describeField(message, field.name)),
      values: form.enums === true ? ENUMS.get(message)?.[field.name] : undefined,
    });
  }
  const required = type.fields.filter(({ optional, omitempty }) => !optional && !omitempty);
  const kinds = kindsOf(type, served);
  return {
    ...described(describeMessage(message)),
    type: 'object',
    ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
    ...(type.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...defined({ 'x-kubernetes-unions': unionsOf(type) }),
  };
}

/** Returns the definitions and all that they reference transitively, by the names of their messages. */
export function closure(messages: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...messages];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    if (specialSchema(next) !== undefined) continue;
    for (const field of messageType(next).fields) {
      const target = targetOf(field);
      if (target !== undefined) waiting.push(target);
    }
  }
  return found;
}

/** The leading fields of every kind. The descriptions begin with upstream's words, which scripts search for. */
export const TYPE_META = {
  apiVersion: {
    description:
      'APIVersion defines the versioned schema of this representation of an object: its group and version.',
    type: 'string',
  },
  kind: {
    description:
      'Kind is a string value representing the REST resource this object represents, in CamelCase. It cannot be changed.',
    type: 'string',
  },
};

function specialSchema(message: string): { readonly v2: JsonSchema; readonly v3?: JsonSchema } | undefined {
  return SPECIAL_SCHEMAS.get(message) ?? SPECIAL_SCHEMAS.get(message.replace(/\/v1beta1\./, '/v1.'));
}

/** Messages with a discriminator field that names the field that is set, by their names without version. */
const UNIONS = ownKeyMap<{
  readonly discriminator: string;
  readonly values: Readonly<Record<string, string>>;
}>({
  'core.AppArmorProfile': { discriminator: 'type', values: { localhostProfile: 'LocalhostProfile' } },
  'core.SeccompProfile': { discriminator: 'type', values: { localhostProfile: 'LocalhostProfile' } },
  'flowcontrol.LimitResponse': { discriminator: 'type', values: { queuing: 'Queuing' } },
  'flowcontrol.PriorityLevelConfigurationSpec': {
    discriminator: 'type',
    values: { exempt: 'Exempt', limited: 'Limited' },
  },
  'flowcontrol.Subject': {
    discriminator: 'kind',
    values: { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' },
  },
});

/** Returns the unions of a message, with the fields that it has at the API level. */
function unionsOf({ name, byName }: MessageType): readonly JsonSchema[] | undefined {
  const union = UNIONS.get(name.replace(/\/[^.]+/u, ''));
  if (union === undefined) return undefined;
  const { discriminator, values } = union;
  const known = Object.entries(values).filter(([field]) => byName.has(field));
  return [{ discriminator, 'fields-to-discriminateBy': Object.fromEntries(known) }];
}

/** The allowed values of fields, as v1.36 publishes them, by message and field. */
const ENUMS = ownKeyMap<Readonly<Record<string, readonly string[]>>>(enumData);

/** Kinds of meta/v1 that belong to every group version. */
const KINDS_OF_ALL: ReadonlySet<string> = new Set(['meta/v1.DeleteOptions', 'meta/v1.WatchEvent']);

function kindsOf(
  { name, typeMeta }: MessageType,
  served: readonly GroupVersion[],
): readonly GroupVersionKind[] {
  const slash = name.indexOf('/');
  const dot = name.lastIndexOf('.');
  const kind = name.slice(dot + 1);
  if (KINDS_OF_ALL.has(name)) return served.map(({ group, version }) => ({ group, kind, version }));
  if (!typeMeta) return [];
  const packageName = name.slice(0, slash);
  const group = packageName === 'meta' ? GROUP.core : (GROUPS.get(packageName) ?? GROUP.core);
  return [{ group, kind, version: name.slice(slash + 1, dot) }];
}

/** Keyed by the packages of the schema tables. */
const GROUPS = ownKeyMap<string>(GROUP);

/** The definitions of field kinds that are not messages of the tables. */
const TARGETS: Partial<Readonly<Record<FieldKind, string>>> = {
  fieldsV1: 'meta/v1.FieldsV1',
  intOrString: 'intstr.IntOrString',
  microTime: 'meta/v1.MicroTime',
  quantity: 'resource.Quantity',
  rawExtension: 'runtime.RawExtension',
  time: 'meta/v1.Time',
};

const SCALARS: Partial<Readonly<Record<FieldKind, JsonSchema>>> = {
  bool: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  double: { type: 'number', format: 'double' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  string: { type: 'string' },
  stringList: { type: 'array', items: { type: 'string' } },
};

/** Returns the message of the referenced definition; undefined for a field without reference. */
function targetOf({ kind, message }: FieldType): string | undefined {
  return kind === 'stringList' ? undefined : (TARGETS[kind] ?? message?.name);
}

/** Returns the schema fields of a description; empty without one. */
export function described(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { description };
}

function fieldSchema(
  field: FieldType,
  {
    form,
    said: description,
    values,
  }: {
    readonly form: SchemaForm;
    readonly said: JsonSchema;
    /** The allowed values; undefined: any. */
    readonly values: readonly string[] | undefined;
  },
): JsonSchema {
  const said: JsonSchema = {
    ...description,
    // As v1.21, which removes all defaults from its v2 document.
    ...(form.version === 'v3' ? defined({ default: field.default ?? impliedDefault(field) }) : {}),
    ...markers(field),
  };
  const allowed = defined({ enum: values });
  if (!field.list && !field.map) return { ...valueSchema(field, form, said), ...allowed };
  const value = valueSchema(field, form, {});
  return field.list
    ? { ...said, type: 'array', items: { ...value, ...allowed } }
    : { ...said, type: 'object', additionalProperties: value };
}

/** Returns the default that upstream publishes for values that are always there: their zero value. */
function impliedDefault({ kind, list, map, pointer, omitempty }: FieldType): unknown {
  if (!isInForce('publishedDefaults') || list || map || pointer) return undefined;
  if (kind === 'message') return {};
  return omitempty ? undefined : ZEROS[kind];
}

const ZEROS: Partial<Readonly<Record<FieldKind, unknown>>> = {
  bool: false,
  double: 0,
  int32: 0,
  int64: 0,
  string: '',
};

function valueSchema(field: FieldType, form: SchemaForm, said: JsonSchema): JsonSchema {
  const target = targetOf(field);
  return target === undefined
    ? { ...said, ...SCALARS[field.kind] }
    : form.reference(definitionName(target), said);
}

function markers(field: FieldType): JsonSchema {
  const { listMapKeys, listType, mapType, structType, patchMergeKey, patchStrategy } = field;
  const whole = mapType ?? structType;
  return {
    ...defined({
      'x-kubernetes-list-map-keys': listMapKeys,
      'x-kubernetes-list-type': listType,
      'x-kubernetes-map-type': whole,
      'x-kubernetes-patch-merge-key': patchMergeKey,
      'x-kubernetes-patch-strategy': patchStrategy,
    }),
  };
}
