import { GROUP } from '../../../shared/names';
import { endpointSliceRow } from './columns';
import { endpointSlices } from './endpoint-slices-strategy';
import type { KindGroup } from '../kind';

export const discovery: KindGroup = {
  group: GROUP.discovery,
  kinds: {
    endpointslices: { strategy: endpointSlices, row: endpointSliceRow },
  },
};
