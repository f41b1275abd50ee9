import { createHash } from 'node:crypto';
import type { ResourceRow } from '../../../../shared/api/resources';
import { resourceOf } from '../../../../shared/api/resources';
import { Age } from '../../../kubernetes/kinds/columns/age';
import { CREATED_AT_TABLE } from '../../../kubernetes/kinds/columns/common';
import type { ColumnHeader, KindTable } from '../../../kubernetes/kinds/columns/table';
import { kindOf } from '../../../kubernetes/kinds/kinds';
import { customColumns, customRow } from '../../../kubernetes/custom-resources/custom-columns';
import type { ApiObject } from '../../../../shared/object/object';
import type { CustomVersion } from '../../registry/resource';

/** The columns of a kind, how an object fills them, and what its row says beside. */
export interface TableOf extends KindTable {
  /** What the row says of the object beside its cells. */
  readonly conditionsOf?: (object: ApiObject) => readonly object[];
}

/** The table of a resource; of what a subresource shows as another kind, that of a kind without columns of its own. */
export function tableOf({ hub, resource, kind }: ResourceRow): TableOf {
  if (resourceOf(hub, resource)?.kind !== kind) return CREATED_AT_TABLE;
  const { table = CREATED_AT_TABLE, rowConditions } = kindOf(hub.group, resource);
  return rowConditions === undefined ? table : { ...table, conditionsOf: rowConditions };
}

const NAME: ColumnHeader = { name: 'Name', type: 'string', format: 'name', priority: 0 };

/** The table of a custom resource, made from the columns that its definition names; the id is that of these columns. */
export function customTable({ version }: CustomVersion): { readonly table: TableOf; readonly id: string } {
  const columns = customColumns(version);
  const id = createHash('sha256').update(JSON.stringify(columns)).digest('base64url');
  return { table: { columns: [NAME, ...columns], row: customRow(columns) }, id };
}

/** The JSON of a row's cells, and of its conditions if it has any. Ages stand between the text around them, because they change while the object does not. */
export type CellsJson = readonly (string | Age)[];

export function cellsJson(
  { row, conditionsOf }: Pick<TableOf, 'row' | 'conditionsOf'>,
  object: ApiObject,
): CellsJson {
  const pieces: (string | Age)[] = [];
  let text = '[';
  row(object).forEach((cell, index) => {
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
