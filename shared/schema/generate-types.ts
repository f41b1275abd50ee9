import type { FieldKind, FieldType, MessageType } from './types';
import { messageNames, messageType } from './types';
import { describeMessage } from '../api/descriptions';
import { SCHEMA_DATA } from '../api/tables';
import type { AnyLevel } from '../api-level';
import { ALL_LEVELS, VERIFIED_LEVELS } from '../api-level';
import type { ResourceRow } from '../api/resources';
import { packageOf, resourcesAt } from '../api/resources';

/** The file of `shared/api/types` that imports all others. */
const INDEX = 'message-types.ts';

/** Messages that every object uses; `shared/object/object.ts` defines them by hand. */
export const HAND_WRITTEN: readonly string[] = [
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
];
const HAND_WRITTEN_PACKAGE = 'meta/v1';
const HAND_WRITTEN_FILE = '../../object/object';

/**
 * Generates the files of `shared/api/types` by name: one for each group version, and an index. `npm run
 * generate` writes them.
 */
export function generateTypes(): ReadonlyMap<string, string> {
  const packages = grouped(jsonMessages(), packageNameOf);
  const files = [...packages].map(([name, messages]): [string, string] => [
    `${fileOf(name)}.ts`,
    packageText(name, messages),
  ]);
  return new Map([...files, [INDEX, indexText([...packages.keys()])]]);
}

const HEAD = '// Written by `npm run generate` from shared/api/data/schema. Change it there.\n';

function packageText(packageName: string, messages: readonly string[]): string {
  const handWritten = packageName === HAND_WRITTEN_PACKAGE ? HAND_WRITTEN : [];
  const imports = new Imports(packageName);
  for (const name of handWritten) imports.add(HAND_WRITTEN_FILE, name);
  const declared = messages
    .filter((message) => !handWritten.includes(shortNameOf(message)))
    .map((message) => formatDeclaration(messageType(message, ALL_LEVELS), imports));
  const exported = handWritten.length === 0 ? '' : `\nexport type { ${handWritten.join(', ')} };\n`;
  return `${HEAD}${imports.text()}${exported}${declared.join('')}`;
}

/** Declares a type alias, since an interface is not assignable to an index signature. */
function formatDeclaration(type: MessageType, imports: Imports): string {
  const said = describeMessage(type.name);
  const doc = said === undefined ? '' : `/** ${said} */\n`;
  const members = [
    ...(type.typeMeta ? ['readonly kind?: string;', 'readonly apiVersion?: string;'] : []),
    ...type.fields.map((field) => formatMember(type, field, imports)),
  ];
  const body = members.length === 0 ? '{}' : `{\n${members.map((each) => `  ${each}\n`).join('')}}`;
  const empty = 'Readonly<Record<string, never>>';
  return `\n${doc}export type ${shortNameOf(type.name)} = ${members.length === 0 ? empty : body};\n`;
}

function formatMember(type: MessageType, field: FieldType, imports: Imports): string {
  const name = /^[A-Za-z$_][\w$]*$/u.test(field.name) ? field.name : `'${field.name}'`;
  const presences = new Set(VERIFIED_LEVELS.map((level) => getPresenceAt(type, field, level)));
  const optional = presences.has('absent') ? '?' : '';
  const orNull = presences.has('null') ? ' | null' : '';
  return `readonly ${name}${optional}: ${valueText(field, imports)}${orNull};`;
}

/** Returns the presence at a level; a field that the level does not have counts as in the tables' union. */
function getPresenceAt(type: MessageType, field: FieldType, level: AnyLevel): 'value' | 'null' | 'absent' {
  return getPresence(type, messageType(type.name, level).byName.get(field.name) ?? field);
}

/**
 * Returns what a decoded message holds for an absent field: a zero value, null or nothing. It must agree with
 * `plan.ts`.
 */
function getPresence(type: MessageType, field: FieldType): 'value' | 'null' | 'absent' {
  // A new object has no status before it is stored for the first time.
  if (type.typeMeta && field.name === 'status') return 'absent';
  if (field.pointer || field.list || field.map || EMPTY_IS_ABSENT.has(field.kind)) {
    return field.omitempty ? 'absent' : 'null';
  }
  if (field.omitempty && !STRUCTURES.has(field.kind)) return 'absent';
  return ZERO_IS_NULL.has(field.kind) ? 'null' : 'value';
}

const EMPTY_IS_ABSENT: ReadonlySet<FieldKind> = new Set(['bytes', 'stringList']);

/** Kinds of fields that the encoder writes even when they are empty. */
const STRUCTURES: ReadonlySet<FieldKind> = new Set([
  'time',
  'microTime',
  'quantity',
  'intOrString',
  'rawExtension',
  'fieldsV1',
  'json',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
  'message',
]);

const ZERO_IS_NULL: ReadonlySet<FieldKind> = new Set([
  'bytes',
  'stringList',
  'time',
  'microTime',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
]);

function valueText(field: FieldType, imports: Imports): string {
  const one = elementText(field, imports);
  const element = (field.list || field.map) && ZERO_IS_NULL.has(field.kind) ? `${one} | null` : one;
  if (field.list) return element.includes(' ') ? `readonly (${element})[]` : `readonly ${element}[]`;
  return field.map ? `Readonly<Record<string, ${element}>>` : element;
}

const VALUES = '../../object/values';

const ELEMENTS: Readonly<Record<Exclude<FieldKind, 'message'>, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'Int64',
  double: 'number',
  bytes: 'Base64',
  time: 'Time',
  microTime: 'MicroTime',
  quantity: 'Quantity',
  intOrString: 'IntOrString',
  rawExtension: 'unknown',
  fieldsV1: 'unknown',
  json: 'unknown',
  stringList: 'readonly string[]',
  schemaOrArray: 'JSONSchemaProps | readonly JSONSchemaProps[]',
  schemaOrBool: 'JSONSchemaProps | boolean',
  schemaOrStringArray: 'JSONSchemaProps | readonly string[]',
};

/** Special types are imported from the file of values. A schema is always in the same package. */
function elementText({ kind, message }: FieldType, imports: Imports): string {
  if (kind !== 'message') {
    const text = ELEMENTS[kind];
    if (/^[A-Z]\w+$/u.test(text)) imports.add(VALUES, text);
    return text;
  }
  if (message === undefined) throw new Error('a message without its type');
  const packageName = packageNameOf(message.name);
  const name = shortNameOf(message.name);
  return packageName === imports.packageName ? name : imports.add(`./${fileOf(packageName)}`, name);
}

/** Collects the imports of one generated file. */
class Imports {
  readonly packageName: string;
  readonly #names = new Map<string, Set<string>>();

  constructor(packageName: string) {
    this.packageName = packageName;
  }

  /** Returns the name of the import, which has another one than the message if the package declares a message of that name. */
  add(from: string, name: string): string {
    const names = this.#names.get(from) ?? new Set();
    const isDeclared = SCHEMA_DATA[this.packageName]?.[name] !== undefined && from !== HAND_WRITTEN_FILE;
    this.#names.set(from, names.add(isDeclared ? `${name} as Imported${name}` : name));
    return isDeclared ? `Imported${name}` : name;
  }

  text(): string {
    return [...this.#names]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([from, names]) => importText([...names].sort(), from))
      .join('');
  }
}

const LINE_LENGTH_MAX = 110;

function importText(names: readonly string[], from: string): string {
  const line = `import type { ${names.join(', ')} } from '${from}';\n`;
  if (line.length <= LINE_LENGTH_MAX + 1) return line;
  return `import type {\n${names.map((name) => `  ${name},\n`).join('')}} from '${from}';\n`;
}

function indexText(packages: readonly string[]): string {
  const imports = packages.map((name) => `import type * as ${aliasOf(name)} from './${fileOf(name)}';\n`);
  const messages = jsonMessages().map((name) => `  '${name}': ${referenceTo(name)};\n`);
  const stored = grouped(resourcesAt(ALL_LEVELS).filter(isStored), ({ schema }) => groupOf(schema));
  const groups = [...stored].map(([group, rows]) => {
    const members = rows.map(({ resource, schema }) => `    ${resource}: ${referenceTo(schema)};\n`);
    return `  ${group}: {\n${members.join('')}  };\n`;
  });
  const served = grouped(resourcesAt(ALL_LEVELS).filter(isServed), ({ schema }) => groupOf(schema));
  const versions = [...served].map(([group, rows]) => {
    const members = [...grouped(rows, ({ version }) => version)].map(
      ([version, each]) =>
        `    ${version}: {\n${each.map(({ resource, schema }) => `      ${resource}: ${referenceTo(schema)};\n`).join('')}    };\n`,
    );
    return `  ${group}: {\n${members.join('')}  };\n`;
  });
  return [
    `${HEAD}${imports.sort().join('')}`,
    `/** What a decoded message is, by its name in the tables. */\nexport interface MessageTypes {\n${messages.join('')}}\n`,
    '/** What is stored, by the name of the group in `GROUP` and by resource, in the version in which it is stored. */\n' +
      `export interface StoredKinds {\n${groups.join('')}}\n`,
    '/** What can be listed, by the name of the group, by version and by resource. */\n' +
      `export interface ServedKinds {\n${versions.join('')}}\n`,
  ].join('\n');
}

function isStored(row: ResourceRow): boolean {
  return (
    row.verbs.includes('create') &&
    row.verbs.includes('list') &&
    packageOf(row.hub) === packageNameOf(row.schema)
  );
}

function isServed(row: ResourceRow): boolean {
  return row.verbs.includes('list') && row.verbs.includes('get');
}

function referenceTo(message: string): string {
  return `${aliasOf(packageNameOf(message))}.${shortNameOf(message)}`;
}

/** Returns all messages except those with another JSON form: a list, a union or any value. */
function jsonMessages(): readonly string[] {
  const fields = messageNames(ALL_LEVELS).flatMap((name) => messageType(name, ALL_LEVELS).declared);
  const carriers = new Set(
    fields.flatMap(({ kind, message }) => (kind === 'message' ? [] : [message?.name])),
  );
  return messageNames(ALL_LEVELS).filter((name) => !carriers.has(name));
}

function grouped<T>(
  items: readonly T[],
  groupOfItem: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groupOfItem(item);
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  return groups;
}

/** Returns `core/v1` for `core/v1.Pod`. */
function packageNameOf(message: string): string {
  return message.slice(0, message.lastIndexOf('.'));
}

/** Returns `Pod` for `core/v1.Pod`. */
function shortNameOf(message: string): string {
  return message.slice(message.lastIndexOf('.') + 1);
}

function groupOf(message: string): string {
  return message.slice(0, message.indexOf('/'));
}

/** Returns `core-v1` for `core/v1`. */
function fileOf(packageName: string): string {
  return packageName.replace('/', '-');
}

/** Returns `coreV1` for `core/v1`. */
function aliasOf(packageName: string): string {
  return packageName.replace(/\/(.)/u, (_match, first: string) => first.toUpperCase());
}
