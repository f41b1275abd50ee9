import { flowSchemaTable, priorityLevelTable } from './columns';
import { flowSchemaRules } from './flow-schemas-rules';
import { priorityLevelRules } from './priority-levels-rules';
import { kindsOf } from '../kind';

export const flowcontrol = kindsOf('flowcontrol', {
  flowschemas: {
    strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...flowSchemaRules },
    table: flowSchemaTable,
  },
  prioritylevelconfigurations: {
    strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...priorityLevelRules },
    table: priorityLevelTable,
  },
});
