import type { ApiObject } from '../../shared/meta/object';
import type { JsonPathGetter } from '../../shared/structural/json-path';
import { JsonPathError, jsonPathGetter } from '../../shared/structural/json-path';
import { canonicalTime } from '../../shared/meta/time';
import { Age } from './age';
import type { Cell, RowOf } from './cells';
import { printedText } from './printed-text';
import { nameOf } from './read';

/** A member of `additionalPrinterColumns`, as far as it is known. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** What a definition without columns shows behind the name. */
const DEFAULT_COLUMNS: readonly CustomColumn[] = [
  {
    name: 'Age',
    type: 'date',
    format: '',
    description: '',
    priority: 0,
    jsonPath: '.metadata.creationTimestamp',
  },
];

/**
 * The columns behind the name, of one version of a definition as decoded JSON. Definitions are checked when they are written, but not so
 * closely that every path that was taken can be followed: the first that cannot is the end of the columns.
 */
export function customColumns(version: Readonly<Record<string, unknown>>): readonly CustomColumn[] {
  const { additionalPrinterColumns: given } = version;
  if (!Array.isArray(given) || given.length === 0) return DEFAULT_COLUMNS;
  const columns = (given as readonly Partial<CustomColumn>[]).map(
    ({ name = '', type = '', format = '', description = '', priority = 0, jsonPath = '' }) => ({
      name,
      type,
      format,
      description: description === '' ? `The value at ${jsonPath} in the object.` : description,
      priority,
      jsonPath,
    }),
  );
  const end = columns.findIndex(({ jsonPath }) => !isPath(jsonPath));
  return end < 0 ? columns : columns.slice(0, end);
}

function isPath(path: string): boolean {
  try {
    jsonPathGetter(path);
    return true;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}

/** The rows of a custom resource: the name, then a cell for each column. The objects are in the version of the columns. */
export function customRow(columns: readonly CustomColumn[]): RowOf {
  const cells = columns.map(({ type, jsonPath }) => ({ type, find: jsonPathGetter(jsonPath) }));
  return (object) => [nameOf(object), ...cells.map(({ type, find }) => cellOf(type, firstOf(find, object)))];
}

/** A cell has room for one value: of several, the first one counts. */
function firstOf(find: JsonPathGetter, object: ApiObject): { readonly value: unknown } | undefined {
  const found = find(object);
  return found.length === 0 ? undefined : { value: found[0] };
}

/** Null where there is nothing, or something of another type. */
function cellOf(type: string, found: { readonly value: unknown } | undefined): Cell {
  if (found === undefined) return null;
  return type === 'string' ? printedText(found.value) : (CELLS[type]?.(found.value) ?? null);
}

const CELLS: Readonly<Record<string, (value: unknown) => Cell>> = {
  integer: (value) => {
    if (typeof value === 'bigint') return value;
    return typeof value === 'number' ? wholeNumber(value) : null;
  },
  number: (value) => (typeof value === 'bigint' || typeof value === 'number' ? Number(value) : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value) => (typeof value === 'string' ? ageSince(value) : null),
};

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The integer in front of the decimal point; what has no place in 64 bits is the smallest one, as processors have it. */
function wholeNumber(value: number): Cell {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole === 0 ? 0 : whole;
  const exact = BigInt(whole);
  return exact < INT64_MIN || exact > INT64_MAX ? INT64_MIN : exact;
}

/** No text at all, or the zero time, is an age nobody knows; text that is no time is an invalid one. */
function ageSince(text: string): Cell {
  const time = text === '' || text === 'null' ? null : canonicalTime(text);
  if (time === undefined) return '<invalid>';
  return new Age(time === null ? undefined : text);
}
