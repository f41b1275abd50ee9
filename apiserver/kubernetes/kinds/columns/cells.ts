import type { ApiObject } from '../../../../shared/object/object';
import { Age } from './age';

/** One cell of a Table, null for none. An `Age` becomes text when the answer is written; every other cell depends on the object alone. */
export type Cell = string | number | bigint | boolean | null | Age;

/** The cells of an object in its hub version, in the order of the kind's columns. The result may be kept as long as the object. */
export type RowOf<T extends ApiObject = ApiObject> = (object: T) => readonly Cell[];

/** The cells of a row at one moment, in milliseconds since the epoch. */
export function cellsAt(
  row: readonly Cell[],
  now: number,
): readonly (string | number | bigint | boolean | null)[] {
  return row.map((cell) => (cell instanceof Age ? cell.text(now) : cell));
}
