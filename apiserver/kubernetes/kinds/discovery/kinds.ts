import { kindsOf } from '../kind';
import { endpointSlices } from './endpoint-slices';

export const discovery = kindsOf('discovery', { endpointslices: endpointSlices });
