import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject } from '../object/clone';
import { stringifyExact } from '../object/exact-text';

/** As many are told; of the others how many they are. */
const DIFFERENCES_SHOWN_MAX = 10;
/** A value is shown up to this length. */
const VALUE_CHARS_MAX = 100;
/** So many values are looked at: an object of megabytes may differ everywhere, or at its end alone. */
const VALUES_COMPARED_MAX = 10_000;

/**
 * What a refused change would have changed, for whoever has to find it: it follows a reason such as `spec is immutable after creation`, where
 * upstream appends a comparison of its own structs. Empty where nothing differs; else a line break, and lines that end with one:
 *
 *     spec.containers[0].args[1]: absent -> "-v"
 *     spec.nodeSelector[example.com/tier]: "web" -> absent
 *     and 3 more
 *
 * Each line is `path: old -> new`. The path is that of the smallest part that differs: items of a list stand by their index, a key that is no
 * plain word in brackets, and in quotes where it holds more than such words and `.`, `-` and `/`. The values are JSON without spaces, of which
 * what is longer than 100 characters is cut and ends in `...`; or `absent`. Fields come in the order of their names, items in that of the
 * list. At most 10 are told, then how many more there are, or `and maybe more` where not all was compared.
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
  /** Of all differences, also of those without a line. */
  count: number;
  toCompare: number;
}

interface Sides<T> {
  readonly next: T;
  readonly previous: T;
}

/** Where a value stands, in words only once a difference there is told: of most nobody is. */
interface Place {
  /** Undefined of the place where all begins. */
  readonly below: Place | undefined;
  readonly step: string | number;
}

function compare(place: Place, { next, previous }: Sides<unknown>, found: Found): void {
  if (next === previous) return;
  found.toCompare -= 1;
  if (found.toCompare < 0) return;
  if (Array.isArray(next) && Array.isArray(previous)) compareLists(place, { next, previous }, found);
  else if (isJsonObject(next) && isJsonObject(previous)) compareObjects(place, { next, previous }, found);
  else tell(place, { next, previous }, found);
}

function compareLists(below: Place, { next, previous }: Sides<readonly unknown[]>, found: Found): void {
  const length = Math.max(next.length, previous.length);
  for (let index = 0; index < length && found.toCompare >= 0; index += 1) {
    compare({ below, step: index }, { next: next[index], previous: previous[index] }, found);
  }
}

function compareObjects(below: Place, { next, previous }: Sides<JsonObject>, found: Found): void {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(previous)])];
  // More than can be compared are not worth sorting.
  for (const key of keys.length > found.toCompare ? keys : keys.sort()) {
    if (found.toCompare < 0) return;
    compare({ below, step: key }, { next: getOwn(next, key), previous: getOwn(previous, key) }, found);
  }
}

function tell(place: Place, { next, previous }: Sides<unknown>, found: Found): void {
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

/** Half a character, where a cut went through it. */
const HALF_AT_END = /\p{Surrogate}$/u;

function cut(text: string): string {
  if (text.length <= VALUE_CHARS_MAX) return text;
  return `${text.slice(0, VALUE_CHARS_MAX).replace(HALF_AT_END, '')}...`;
}

/** JSON of a value: all of it, or of its beginning more than so many characters. */
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
