import type { Strategy } from '../strategy';
import { runtimeClassRules } from '../validation/runtime-classes';

/** node. */
export const node: Readonly<Record<string, Strategy>> = {
  runtimeclasses: { requiresResourceVersion: true, ...runtimeClassRules },
};
