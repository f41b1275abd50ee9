import type { Strategy } from '../strategy';
import { endpointSliceRules } from '../validation/endpoint-slices';

/** discovery. */
export const discovery: Readonly<Record<string, Strategy>> = {
  endpointslices: { tracksGeneration: true, ...endpointSliceRules },
};
