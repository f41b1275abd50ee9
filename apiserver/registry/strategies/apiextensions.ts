import type { Strategy } from '../strategy';
import { customResourceDefinitionRules } from '../validation/custom-resource-definitions';

/** apiextensions. */
export const apiextensions: Readonly<Record<string, Strategy>> = {
  customresourcedefinitions: {
    ...customResourceDefinitionRules,
    statusLeavesMetadata: true,
    tracksGeneration: true,
    requiresResourceVersion: true,
  },
};
