import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject } from '../object/clone';
import { stringifyExact } from '../object/exact-text';

/** Differences that are listed; the rest is counted. */
const DIFFERENCES_SHOWN_MAX = 10;
/** Longest value that is shown, in characters. */
const VALUE_CHARS_MAX = 100;
/** Values that are compared at most, since a large object may differ everywhere. */
const VALUES_COMPARED_MAX = 10_000;

/**
 * Describes what a refused update would change. It follows a reason such as `spec is immutable after creation`, where
 * upstream appends a diff of its structs. It is empty where nothing differs, else a line break and lines that end with one:
 *
 *     spec.containers[0].args[1]: absent -> "-v"
 *     spec.nodeSelector[example.com/tier]: "web" -> absent
 *     and 3 more
 *
 * Each line is `path: old -> new` for the smallest part that differs. List items have their index in the path. A key
 * that is no plain word is in brackets, and in quotes if it has other characters than `.`, `-` and `/`. Values are
 * compact JSON, truncated to 100 characters with `...`, or `absent`. Fields are sorted by name. At most 10 differences
 * are listed, then the number of further ones, or `and maybe more` where not everything was compared.
 */
export function describeDiff(path: string, next: unknown, previous: unknown): string {
  const found: Found = { lines: [], count: 0, toCompare: VALUES_COMPARED_MAX };
  compare({ below: undefined, step: path }, { next, previous }, found);
  const { lines, count, toCompare } = found;
  if (toCompare < 0) lines.push('and maybe more');
  else if (count > lines.length) lines.push(`and ${String(count - lines.length)} more`);
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

interface Found {
  readonly lines: string[];
  /** Number of all differences, including those without a line. */
  count: number;
  toCompare: number;
}

interface Sides<T> {
  readonly next: T;
  readonly previous: T;
}

/** Position of a value; its path is formatted only for a difference that is listed. */
interface Place {
  /** Undefined for the root. */
  readonly below: Place | undefined;
  readonly step: string | number;
}

function compare(place: Place, { next, previous }: Sides<unknown>, found: Found): void {
  if (next === previous) return;
  found.toCompare -= 1;
  if (found.toCompare < 0) return;
  if (Array.isArray(next) && Array.isArray(previous)) compareLists(place, { next, previous }, found);
  else if (isJsonObject(next) && isJsonObject(previous)) compareObjects(place, { next, previous }, found);
  else addLine(place, { next, previous }, found);
}

function compareLists(below: Place, { next, previous }: Sides<readonly unknown[]>, found: Found): void {
  const length = Math.max(next.length, previous.length);
  for (let index = 0; index < length && found.toCompare >= 0; index += 1) {
    compare({ below, step: index }, { next: next[index], previous: previous[index] }, found);
  }
}

function compareObjects(below: Place, { next, previous }: Sides<JsonObject>, found: Found): void {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(previous)])];
  // Sorting more keys than can be compared is wasted.
  for (const key of keys.length > found.toCompare ? keys : keys.sort()) {
    if (found.toCompare < 0) return;
    compare({ below, step: key }, { next: getOwn(next, key), previous: getOwn(previous, key) }, found);
  }
}

function addLine(place: Place, { next, previous }: Sides<unknown>, found: Found): void {
  found.count += 1;
  if (found.lines.length === DIFFERENCES_SHOWN_MAX) return;
  found.lines.push(`${pathOf(place)}: ${shown(previous)} -> ${shown(next)}`);
}

const PLAIN_WORD = /^\w+$/u;
const PLAIN_KEY = /^[\w./-]+$/u;

function pathOf({ below, step }: Place): string {
  if (below === undefined) return String(step);
  const path = pathOf(below);
  if (typeof step === 'number') return `${path}[${String(step)}]`;
  if (!PLAIN_WORD.test(step)) return `${path}[${PLAIN_KEY.test(step) ? cut(step) : shown(step)}]`;
  return `${path === '' ? '' : `${path}.`}${cut(step)}`;
}

function shown(value: unknown): string {
  return value === undefined ? 'absent' : cut(beginning(value, VALUE_CHARS_MAX));
}

/** Matches half of a surrogate pair at the cut. */
const HALF_AT_END = /\p{Surrogate}$/u;

function cut(text: string): string {
  if (text.length <= VALUE_CHARS_MAX) return text;
  return `${text.slice(0, VALUE_CHARS_MAX).replace(HALF_AT_END, '')}...`;
}

/** Returns the JSON of a value, or a prefix of it that is longer than `chars`. */
function beginning(value: unknown, chars: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, chars + 1));
  if (Array.isArray(value)) {
    let items = '';
    for (const item of value) {
      if (items.length > chars) break;
      items += `${items === '' ? '' : ','}${beginning(item, chars - items.length)}`;
    }
    return `[${items}]`;
  }
  if (!isJsonObject(value)) return stringifyExact(value);
  let fields = '';
  for (const key in value) {
    if (fields.length > chars) break;
    const field = getOwn(value, key);
    if (field === undefined) continue;
    fields += `${fields === '' ? '' : ','}${beginning(key, chars)}:${beginning(field, chars - fields.length)}`;
  }
  return `{${fields}}`;
}
