import type { Strategy } from '../../registry/strategy';
import { endpointSlices } from './endpoint-slices-strategy';

/** discovery. */
export const discovery: Readonly<Record<string, Strategy>> = {
  endpointslices: endpointSlices,
};
