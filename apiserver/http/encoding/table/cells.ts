import { createHash } from 'node:crypto';
import type { ColumnRow, ResourceRow } from '../../../../shared/api/resources';
import { Age } from '../../../kinds/columns/age';
import type { RowOf } from '../../../kinds/columns/cells';
import { kindOf } from '../../../kinds/kinds';
import { createdAtRow } from '../../../kinds/columns/created-at';
import { customColumns, customRow } from '../../../custom-resources/custom-columns';
import type { ApiObject } from '../../../../shared/object/object';
import type { CustomVersion } from '../../../registry/resource';

/** A column, with what it is about where its name does not tell. */
export interface TableColumn extends ColumnRow {
  readonly description?: string;
}

/** The columns of a kind and how an object fills them. */
export interface TableOf {
  readonly columns: readonly TableColumn[];
  /** The object is in the version it is stored in; of a custom resource, in the version that is served. */
  readonly rowOf: RowOf;
  /** What the row says of the object beside its cells. */
  readonly conditionsOf?: (object: ApiObject) => readonly object[];
}

const NAME: TableColumn = { name: 'Name', type: 'string', format: 'name', priority: 0 };

const DEFAULT_TABLE: TableOf = {
  columns: [NAME, { name: 'Created At', type: 'date', format: '', priority: 0 }],
  rowOf: createdAtRow,
};

/** The table of a resource; of one without columns of its own, that with Name and Created At. */
export function tableOf(row: ResourceRow): TableOf {
  const { row: rowOf, rowConditions: conditionsOf } = kindOf(row.hub.group, row.resource);
  if (rowOf === undefined || row.columns.length === 0) return DEFAULT_TABLE;
  return { columns: row.columns, rowOf, ...(conditionsOf === undefined ? {} : { conditionsOf }) };
}

/** The table of a custom resource, made from the columns that its definition names; the id is that of these columns. */
export function customTable({ version }: CustomVersion): { readonly table: TableOf; readonly id: string } {
  const columns = customColumns(version);
  const id = createHash('sha256').update(JSON.stringify(columns)).digest('base64url');
  return { table: { columns: [NAME, ...columns], rowOf: customRow(columns) }, id };
}

/** The JSON of a row's cells, and of its conditions if it has any. Ages stand between the text around them, because they change while the object does not. */
export type CellsJson = readonly (string | Age)[];

export function cellsJson(
  { rowOf, conditionsOf }: Pick<TableOf, 'rowOf' | 'conditionsOf'>,
  object: ApiObject,
): CellsJson {
  const pieces: (string | Age)[] = [];
  let text = '[';
  rowOf(object).forEach((cell, index) => {
    if (index > 0) text += ',';
    if (cell instanceof Age) {
      pieces.push(text, cell);
      text = '';
    } else text += typeof cell === 'bigint' ? String(cell) : JSON.stringify(cell);
  });
  const conditions = conditionsOf?.(object) ?? [];
  const more = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`;
  return [...pieces, `${text}]${more}`];
}

/** The cells at one moment, in milliseconds since the epoch. */
export function cellsAt(cells: CellsJson, now: number): string {
  let text = '';
  for (const piece of cells) text += typeof piece === 'string' ? piece : JSON.stringify(piece.text(now));
  return text;
}
