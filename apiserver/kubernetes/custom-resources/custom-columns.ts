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

/** The supported fields of a member of `additionalPrinterColumns`. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** The default columns after the name. */
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

/** Limits the total length of the column paths of a version. Parsing that many takes about 20 ms. */
export const COLUMN_PATHS_CHARS_MAX = 64 * 1024;

/** Builds the table of one version of a definition, given as decoded JSON. The id is a hash of its columns. */
export function customTable(version: Readonly<Record<string, unknown>>): {
  readonly table: ObjectTable;
  readonly id: string;
} {
  const columns = customColumns(version);
  const id = createHash('sha256').update(JSON.stringify(columns)).digest('base64url');
  return { table: { columns: [NAME_HEADER, ...columns], row: customRow(columns) }, id };
}

/**
 * Returns the columns after the name, of one version of a definition as decoded JSON. Validation accepts some paths that cannot be
 * evaluated. The columns end at the first such path or at the length limit.
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
 * Builds the row function of a custom resource: the name, then one cell per column. The objects must be in the version of the columns.
 * All cells of a row share one cost limit; cells beyond it are null.
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

/** Number of printed characters that cost as much as one visit. */
const CHARS_PER_VISIT = 16;

/** Returns the first value as a cell. It is null if the value is missing or of another type. */
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

/** Truncates to an integer. Values outside of 64 bits become the minimum, as in Go's conversion on amd64. */
function wholeNumber(value: number): Cell {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole === 0 ? 0 : whole;
  const exact = BigInt(whole);
  return exact < INT64_MIN || exact > INT64_MAX ? INT64_MIN : exact;
}

/** Empty text and the zero time print as `<unknown>`; unparsable text prints as `<invalid>`. */
function ageSince(text: string): Cell {
  const time = text === '' || text === 'null' ? null : canonicalTime(text);
  if (time === undefined) return '<invalid>';
  return new Age(time === null ? undefined : text);
}
