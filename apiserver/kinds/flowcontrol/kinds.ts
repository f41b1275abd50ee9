import { GROUP } from '../../../shared/names';
import { flowSchemaRow, priorityLevelRow } from './columns';
import { flowSchemaRules } from './flow-schemas-rules';
import { priorityLevelRules } from './priority-levels-rules';
import type { KindGroup } from '../kind';

export const flowcontrol: KindGroup = {
  group: GROUP.flowcontrol,
  kinds: {
    flowschemas: {
      strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...flowSchemaRules },
      row: flowSchemaRow,
    },
    prioritylevelconfigurations: {
      strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...priorityLevelRules },
      row: priorityLevelRow,
    },
  },
};
