import type { ColumnHeader } from '../../../kubernetes/kinds/columns/table';
import { ownKeyMap } from '../../../../shared/own-key-map';

/** What columns that many kinds have are about; the others say nothing but their name. */
const DESCRIPTIONS = ownKeyMap<string>({
  Name: 'Name must be unique within a namespace. It is chosen by the client, or made by the server from generateName, and cannot be changed.',
  Age: 'How long ago the server created the object, from its creationTimestamp.',
  'Created At':
    'When the server created the object, in RFC 3339 form and in UTC, from its creationTimestamp.',
});

/** The `columnDefinitions` of a Table, as JSON. */
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
