import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, tooMany } from '../../../../shared/errors/field-error';
import type { Rule } from '../rules/primitives';
import { forEachItem, repeatsIn } from '../rules/primitives';

/**
 * Lists and maps of the group have sizes. The items of a longer list are not validated, as upstream, so that a large
 * object costs no more than its limits.
 */

/** Validates a list of at most `max` items. */
export function limitedList<Item>(
  items: readonly Item[] | null | undefined,
  path: string,
  { max, rule }: { readonly max: number; readonly rule: Rule<Item> },
): FieldError[] {
  const given = items ?? [];
  return given.length > max ? [tooMany(path, given.length, max)] : forEachItem(given, path, rule);
}

/** Validates a list of at most `max` items that differ in their keys. */
export function limitedSet<Item>(
  items: readonly Item[] | null | undefined,
  path: string,
  {
    max,
    rule,
    keyOf,
  }: { readonly max: number; readonly rule: Rule<Item>; readonly keyOf: (item: Item) => string },
): FieldError[] {
  const given = items ?? [];
  if (given.length > max) return [tooMany(path, given.length, max)];
  const keys = given.map(keyOf);
  const isRepeated = repeatsIn(keys);
  return [
    ...forEachItem(given, path, rule),
    ...forEachItem(keys, path, (key, at, index) => (isRepeated(index) ? [duplicate(at, key)] : [])),
  ];
}

/** Validates a map of at most `max` entries: each key at the path of the map, each value at its own. */
export function limitedMap<Value>(
  entries: Readonly<Record<string, Value>> | undefined,
  path: string,
  {
    max,
    keyRule,
    rule,
  }: { readonly max: number; readonly keyRule: Rule<string>; readonly rule: Rule<Value> },
): FieldError[] {
  const given = Object.entries(entries ?? {});
  if (given.length > max) return [tooMany(path, given.length, max)];
  return given.flatMap(([key, value]) => [
    ...keyRule(key, path),
    ...rule(value, `${path}[${shortened(key)}]`),
  ]);
}

const KEY_CHARS_MAX = 96;
const ELLIPSIS = '...';

/** Shortens a key in its middle, as upstream does in paths. */
function shortened(key: string): string {
  if (key.length <= KEY_CHARS_MAX) return key;
  const remaining = KEY_CHARS_MAX - ELLIPSIS.length;
  return `${key.slice(0, Math.ceil(remaining / 2))}${ELLIPSIS}${key.slice(-Math.floor(remaining / 2))}`;
}
