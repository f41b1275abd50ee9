import type { RowOf } from '../columns/cells';
import { sliceItems, UNSET } from '../columns/format';
import { ageOf, listAt, nameOf, textAt, textOr } from '../columns/read';

export const storageVersionRow: RowOf = (version) => [
  nameOf(version),
  textOr(UNSET, version, 'status', 'commonEncodingVersion'),
  sliceItems(
    listAt(version, 'status', 'storageVersions').map(
      (each) => `${textAt(each, 'apiServerID')}=${textAt(each, 'encodingVersion')}`,
    ),
  ),
  ageOf(version),
];
