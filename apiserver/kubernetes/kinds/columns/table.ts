import type { ApiObject } from '../../../../shared/object/object';
import type { Cell, RowOf } from './cells';

/** The header of a column, as `columnDefinitions` of a Table tell it. */
export interface ColumnHeader {
  readonly name: string;
  readonly type: string;
  /** `name` where the cell tells how the object is called; else empty. */
  readonly format: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  /** What it is about, where its name does not tell. */
  readonly description?: string;
}

/** The columns of a kind, and the cells that an object fills them with, in the same order. */
export interface KindTable<T extends ApiObject = ApiObject> {
  readonly columns: readonly ColumnHeader[];
  readonly row: RowOf<T>;
  /** The path of an integer (`spec.priority`) by which the rows of a list, or of a page of one, are ordered. Default: as the list is. */
  readonly rowOrder?: string;
}

/** One column: what it is called, and what an object shows in it. `Derived` is what several cells of a row are made of. */
export interface Column<T, Derived = unknown> {
  readonly name: string;
  /** Default: string. */
  readonly type?: 'boolean' | 'date' | 'integer';
  readonly format?: 'name';
  /** Only shown with `-o wide`. */
  readonly isWide?: true;
  readonly cell: (object: T, derived: Derived) => Cell;
}

/** The table of a kind, from its columns in their order. */
export function tableOf<T extends ApiObject>(columns: readonly Column<T>[]): KindTable<T> {
  return derivedTableOf(() => undefined, columns);
}

/** The table of a kind of which several cells are made of one thing, which `derive` finds out once for each row. */
export function derivedTableOf<T extends ApiObject, Derived>(
  derive: (object: T) => Derived,
  columns: readonly Column<T, Derived>[],
): KindTable<T> {
  return {
    columns: columns.map(({ name, type = 'string', format = '', isWide = false }) => ({
      name,
      type,
      format,
      priority: isWide ? 1 : 0,
    })),
    row: (object) => {
      const derived = derive(object);
      return columns.map(({ cell }) => cell(object, derived));
    },
  };
}
