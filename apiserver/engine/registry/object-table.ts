import { parseTime } from '../../../shared/meta/time';
import type { ApiObject } from '../../../shared/object/object';

/** A cell that shows how long ago something happened: the only cell that changes while its object does not. */
export class Age {
  readonly #sinceMs: number | undefined;
  readonly #within: AgeText;

  /**
   * @param time a Time or MicroTime as decoded JSON; any other value gives an unknown age
   * @param within the text around the age
   */
  constructor(time: unknown, within: AgeText = { before: '', after: '' }) {
    this.#sinceMs = typeof time === 'string' ? parseTime(time) : undefined;
    this.#within = within;
  }

  get isUnknown(): boolean {
    return this.#sinceMs === undefined;
  }

  /** The age at `now`, in milliseconds since the epoch. */
  text(now: number): string {
    if (this.#sinceMs === undefined) return '<unknown>';
    return `${this.#within.before}${humanDuration(now - this.#sinceMs)}${this.#within.after}`;
  }
}

interface AgeText {
  readonly before: string;
  readonly after: string;
}

/** One cell of a Table; null for an empty one. An `Age` becomes text when the response is written, all other cells depend on the object alone. */
export type Cell = string | number | bigint | boolean | null | Age;

/** Computes the cells of an object in its hub version, in the order of the columns. Callers may cache the result as long as the object. */
export type RowOf<T extends ApiObject = ApiObject> = (object: T) => readonly Cell[];

/** The header of a column, as in `columnDefinitions` of a Table. */
export interface ColumnHeader {
  readonly name: string;
  readonly type: string;
  /** `name` for the column with the object's name, else empty. */
  readonly format: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  readonly description?: string;
}

/** How the objects of a resource are shown in a Table. */
export interface ObjectTable<T extends ApiObject = ApiObject> {
  readonly columns: readonly ColumnHeader[];
  readonly row: RowOf<T>;
  /** The path of an integer (`spec.priority`) by which the rows of a list, or of a page of one, are sorted. Default: the order of the list. */
  readonly rowOrder?: string;
  /** The `conditions` of a row. */
  readonly rowConditions?: (object: T) => readonly object[];
}

/** The header of the first column of every table. */
export const NAME_HEADER: ColumnHeader = { name: 'Name', type: 'string', format: 'name', priority: 0 };

/** The zero time, shown for an object without a creationTimestamp. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

/** The table of a kind without columns of its own. */
export const CREATED_AT_TABLE: ObjectTable = {
  columns: [NAME_HEADER, { name: 'Created At', type: 'date', format: '', priority: 0 }],
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ZERO_TIME],
};

const SECOND_MS = 1000;

/**
 * A duration in milliseconds in at most two units, coarser as it grows: `119s`, `9m59s`, `3h5m`, `47h`, `7d23h`, `5y324d`. A clock that
 * is up to two seconds behind counts as now; further in the future is `<invalid>`.
 */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / SECOND_MS);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${String(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${String(minutes)}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${String(hours)}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${String(days)}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${String(years)}y`;
}

function withRest(amount: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${String(amount)}${unit}` : `${String(amount)}${unit}${String(rest)}${restUnit}`;
}
