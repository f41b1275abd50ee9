import type { Strategy } from '../strategy';
import { apiServiceRules } from '../validation/api-services';

/** apiregistration. */
export const apiregistration: Readonly<Record<string, Strategy>> = {
  apiservices: { statusLeavesMetadata: true, requiresResourceVersion: true, ...apiServiceRules },
};
