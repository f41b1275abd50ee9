import type { StorageVersion } from '../../../../shared/api/types/apiserverinternal-v1alpha1';
import { AGE, NAME } from '../columns/common';
import { sliceItems, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';

export const storageVersionTable = tableOf<StorageVersion>([
  NAME,
  { name: 'CommonEncodingVersion', cell: ({ status }) => status?.commonEncodingVersion ?? UNSET },
  {
    name: 'StorageVersions',
    cell: ({ status }) =>
      sliceItems(
        (status?.storageVersions ?? []).map(
          ({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`,
        ),
      ),
  },
  AGE,
]);
