import descriptionsData from './data/descriptions.json';
import { KIND_DATA } from './tables';

const MESSAGES: Readonly<Record<string, string>> = descriptionsData.messages;
const FIELDS: Readonly<Record<string, string>> = descriptionsData.fields;
const OF_EVERY_KIND: Readonly<Record<string, string>> = descriptionsData.everyKind;

/** What a message (`core/v1.Pod`) is, in a sentence; undefined for one that has none. All versions of a kind share theirs. */
export function describeMessage(message: string): string | undefined {
  const { packageName, name } = partsOf(message);
  const own = ownText(MESSAGES, name);
  if (own !== undefined || !name.endsWith('List') || !isKind(packageName, name)) return own;
  return `A list of objects of the kind ${name.slice(0, -'List'.length)}.`;
}

/** What a field of a message is, in a sentence; undefined for one that has none. */
export function describeField(message: string, field: string): string | undefined {
  const { packageName, name } = partsOf(message);
  const own = ownText(FIELDS, `${name}.${field}`);
  return own ?? (isKind(packageName, name) ? ownText(OF_EVERY_KIND, field) : undefined);
}

/** All names that the table speaks of, `Message` and `Message.field`; for the test that they exist. */
export const DESCRIBED: readonly string[] = [...Object.keys(MESSAGES), ...Object.keys(FIELDS)];

function partsOf(message: string): { readonly packageName: string; readonly name: string } {
  const dot = message.lastIndexOf('.');
  return { packageName: message.slice(0, dot), name: message.slice(dot + 1) };
}

function isKind(packageName: string, name: string): boolean {
  return KIND_DATA[packageName]?.includes(name) === true;
}

function ownText(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
