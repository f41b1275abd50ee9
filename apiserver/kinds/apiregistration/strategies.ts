import type { Strategy } from '../../registry/strategy';
import { apiServiceRules } from './api-services-rules';

/** apiregistration. */
export const apiregistration: Readonly<Record<string, Strategy>> = {
  apiservices: { statusLeavesMetadata: true, requiresResourceVersion: true, ...apiServiceRules },
};
