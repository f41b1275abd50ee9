import type { ApiObject } from '../../../../shared/object/object';
import type { Cell, ObjectTable } from '../../../engine/registry/object-table';

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
export function tableOf<T extends ApiObject>(columns: readonly Column<T>[]): ObjectTable<T> {
  return derivedTableOf(() => undefined, columns);
}

/** The table of a kind of which several cells are made of one thing, which `derive` finds out once for each row. */
export function derivedTableOf<T extends ApiObject, Derived>(
  derive: (object: T) => Derived,
  columns: readonly Column<T, Derived>[],
): ObjectTable<T> {
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
