import type { Strategy } from '../../registry/strategy';
import { runtimeClassRules } from './runtime-classes-rules';

/** node. */
export const node: Readonly<Record<string, Strategy>> = {
  runtimeclasses: { requiresResourceVersion: true, ...runtimeClassRules },
};
