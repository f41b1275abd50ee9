/**
 * A table that is looked up by words of clients. It has the rows that are written down, and nothing that every object has: `constructor` and
 * `toString` are no rows.
 */
export function ownKeyMap<Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  return new Map(Object.entries(rows));
}
