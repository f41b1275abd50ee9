import { createHash } from 'node:crypto';
import type { ApiObject } from '../../../shared/object/object';
import type { JsonPathGetter } from '../../../shared/structural/json-path';
import type { Visits } from '../../../shared/structural/json-path-evaluation';
import { createVisits } from '../../../shared/structural/json-path-evaluation';
import { JsonPathError, compileJsonPath } from '../../../shared/structural/json-path';
import { canonicalTime } from '../../../shared/meta/time';
import type { Cell, ObjectTable, RowOf } from '../../engine/registry/object-table';
import { Age, NAME_HEADER } from '../../engine/registry/object-table';
import { printedText } from './printed-text';
import { ownKeyMap } from '../../../shared/own-key-map';

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

/** What the paths of all columns of a version may have together: it takes some 20 ms to read them. */
export const COLUMN_PATHS_CHARS_MAX = 64 * 1024;

/** The table of one version of a definition, as decoded JSON. The id is a hash of its columns. */
export function customTable(version: Readonly<Record<string, unknown>>): {
  readonly table: ObjectTable;
  readonly id: string;
} {
  const columns = customColumns(version);
  const id = createHash('sha256').update(JSON.stringify(columns)).digest('base64url');
  return { table: { columns: [NAME_HEADER, ...columns], row: customRow(columns) }, id };
}

/**
 * The columns behind the name, of one version of a definition as decoded JSON. Definitions are checked when they are written, but not so
 * closely that every path that was taken can be followed: the first that cannot, or for which there is no room, is the end of the columns.
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
  let charsLeft = COLUMN_PATHS_CHARS_MAX;
  const end = columns.findIndex(({ jsonPath }) => {
    charsLeft -= jsonPath.length;
    return charsLeft < 0 || !isPath(jsonPath);
  });
  return end < 0 ? columns : columns.slice(0, end);
}

function isPath(path: string): boolean {
  try {
    compileJsonPath(path);
    return true;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}

/**
 * The rows of a custom resource: the name, then a cell for each column. The objects are in the version of the columns. The cells of one row
 * share what they may cost; those that nothing is left for are null.
 */
export function customRow(columns: readonly CustomColumn[]): RowOf {
  const cells = columns.map(({ type, jsonPath }) => ({ type, find: compileJsonPath(jsonPath) }));
  return (object) => {
    const visits = createVisits();
    return [
      object.metadata.name ?? '',
      ...cells.map(({ type, find }) => cellOf(type, find, { object, visits })),
    ];
  };
}

/** So many characters of a cell are printed in the time of one visit. */
const CHARS_PER_VISIT = 16;

/** A cell has room for one value: of several, the first one counts. Null where there is nothing, or something of another type. */
function cellOf(
  type: string,
  find: JsonPathGetter,
  { object, visits }: { readonly object: ApiObject; readonly visits: Visits },
): Cell {
  const found = find(object, visits);
  if (found.length === 0) return null;
  const [value] = found;
  if (type !== 'string') return CELLS.get(type)?.(value) ?? null;
  const text = printedText(value);
  visits.left -= text.length / CHARS_PER_VISIT;
  return text;
}

const CELLS = ownKeyMap<(value: unknown) => Cell>({
  integer: (value) => {
    if (typeof value === 'bigint') return value;
    return typeof value === 'number' ? wholeNumber(value) : null;
  },
  number: (value) => (typeof value === 'bigint' || typeof value === 'number' ? Number(value) : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value) => (typeof value === 'string' ? ageSince(value) : null),
});

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
