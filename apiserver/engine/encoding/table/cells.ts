import type { ApiObject } from '../../../../shared/object/object';
import type { ColumnHeader, ObjectTable } from '../../registry/object-table';
import { Age } from '../../registry/object-table';
import { ownKeyMap } from '../../../../shared/own-key-map';

/** The JSON of a row's cells, and of its conditions if there are any. Ages are separate pieces, because they change while the object does not. */
export type CellsJson = readonly (string | Age)[];

export function cellsJson(
  { row, rowConditions }: Pick<ObjectTable, 'row' | 'rowConditions'>,
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
  const conditions = rowConditions?.(object) ?? [];
  const more = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`;
  return [...pieces, `${text}]${more}`];
}

/** The cells at one moment, in milliseconds since the epoch. */
export function cellsAt(cells: CellsJson, now: number): string {
  let text = '';
  for (const piece of cells) text += typeof piece === 'string' ? piece : JSON.stringify(piece.text(now));
  return text;
}

/** Descriptions of the columns that many kinds have. Other columns of built-in kinds have none. */
const DESCRIPTIONS = ownKeyMap<string>({
  Name: 'Name must be unique within a namespace. It is chosen by the client, or made by the server from generateName, and cannot be changed.',
  Age: 'How long ago the server created the object, from its creationTimestamp.',
  'Created At':
    'When the server created the object, in RFC 3339 form and in UTC, from its creationTimestamp.',
});

/** Formats the `columnDefinitions` of a Table as JSON. */
export function columnDefinitionsJson(columns: readonly ColumnHeader[]): string {
  return JSON.stringify(
    columns.map(({ name, type, format, priority, description = '' }) => ({
      name,
      type,
      format,
      description: description === '' ? (DESCRIPTIONS.get(name) ?? '') : description,
      priority,
    })),
  );
}
