import type { RowOf } from '../columns/cells';
import { sliceItems } from '../columns/format';
import { ageOf, listAt, nameOf, scalarOr, textAt, textsAt } from '../columns/read';

export const endpointSliceRow: RowOf = (slice) => [
  nameOf(slice),
  textAt(slice, 'addressType'),
  sliceItems(listAt(slice, 'ports').map((port) => scalarOr(scalarOr('*', port, 'name'), port, 'port'))),
  sliceItems(listAt(slice, 'endpoints').flatMap((each) => textsAt(each, 'addresses'))),
  ageOf(slice),
];
