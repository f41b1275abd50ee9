import { endpointSliceTable } from './columns';
import { endpointSlices } from './endpoint-slices-strategy';
import { kindsOf } from '../kind';

export const discovery = kindsOf('discovery', {
  endpointslices: { strategy: endpointSlices, table: endpointSliceTable },
});
