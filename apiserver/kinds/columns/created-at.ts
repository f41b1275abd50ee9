import type { RowOf } from './cells';
import { nameOf } from './read';

/** The two cells of a built-in kind without columns of its own: Name and Created At. */
export const createdAtRow: RowOf = (object) => [
  nameOf(object),
  object.metadata.creationTimestamp ?? ZERO_TIME,
];

/** What the zero time looks like where it has to be written. */
const ZERO_TIME = '0001-01-01T00:00:00Z';
