import { GROUP } from '../../../shared/names';
import { runtimeClassRow } from './columns';
import { runtimeClassRules } from './runtime-classes-rules';
import type { KindGroup } from '../kind';

export const node: KindGroup = {
  group: GROUP.node,
  kinds: {
    runtimeclasses: {
      strategy: { requiresResourceVersion: true, ...runtimeClassRules },
      row: runtimeClassRow,
    },
  },
};
