import type { EndpointSlice } from '../../../../shared/api/types/discovery-v1';
import { AGE, NAME } from '../columns/common';
import { sliceItems } from '../columns/format';
import { tableOf } from '../columns/table';

export const endpointSliceTable = tableOf<EndpointSlice>([
  NAME,
  { name: 'AddressType', cell: ({ addressType }) => addressType },
  {
    name: 'Ports',
    cell: ({ ports }) => sliceItems((ports ?? []).map(({ name = '*', port = name }) => String(port))),
  },
  {
    name: 'Endpoints',
    cell: ({ endpoints }) => sliceItems((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  },
  AGE,
]);
