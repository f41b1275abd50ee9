import { ALL_LEVELS } from '../api-level';
import { resourcesAt } from './resources';
import type { MessageData } from './tables';
import { SCHEMA_DATA } from './tables';

/** Descriptions of fields of every kind, unless its own row has one. */
const OF_EVERY_KIND: ReadonlyMap<string, string> = new Map([
  ['spec', 'What the object should be like.'],
  ['status', 'How the object is, as seen last. Others than its author write it.'],
]);

/** Descriptions of fields by their messages. They begin with upstream's words, which scripts and upstream's e2e tests search for. */
const OF_METADATA: ReadonlyMap<string, string> = new Map([
  ['meta/v1.ListMeta', 'Standard list metadata. It holds the version of the list.'],
  ['meta/v1.ObjectMeta', "Standard object's metadata. It holds names, labels and owners."],
]);

/** Items' kind by the message of a list. */
const LISTED: ReadonlyMap<string, string> = new Map(
  resourcesAt(ALL_LEVELS).map(({ schema, listKind, resource }) => [
    schema.replace(/[^.]+$/, listKind),
    resource,
  ]),
);

/** Returns the description of a message (`core/v1.Pod`) in a sentence; undefined for none. */
export function describeMessage(message: string): string | undefined {
  const { data, name } = rowOf(message);
  if (data?.doc !== undefined || data?.kind !== true || !name.endsWith('List')) return data?.doc;
  return `A list of objects of the kind ${name.slice(0, -'List'.length)}.`;
}

/** Returns the description of a field in a sentence; undefined for none. */
export function describeField(message: string, field: string): string | undefined {
  const { data } = rowOf(message);
  const row = data !== undefined && Object.hasOwn(data.fields, field) ? data.fields[field] : undefined;
  const own = row?.doc ?? OF_METADATA.get(row?.t ?? '');
  if (own !== undefined || data?.kind !== true) return own;
  // Begins with the words that kubectl users search for.
  return field === 'items' ? `List of ${LISTED.get(message) ?? 'objects'}.` : OF_EVERY_KIND.get(field);
}

function rowOf(message: string): { readonly data: MessageData | undefined; readonly name: string } {
  const dot = message.lastIndexOf('.');
  const name = message.slice(dot + 1);
  return { data: SCHEMA_DATA[message.slice(0, dot)]?.[name], name };
}
