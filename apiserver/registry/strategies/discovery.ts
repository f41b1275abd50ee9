import type { Strategy } from '../strategy';
import { endpointSlices } from './endpoint-slices';

/** discovery. */
export const discovery: Readonly<Record<string, Strategy>> = {
  endpointslices: endpointSlices,
};
