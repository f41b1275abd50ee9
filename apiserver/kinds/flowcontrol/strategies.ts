import type { Strategy } from '../../registry/strategy';
import { flowSchemaRules } from './flow-schemas-rules';
import { priorityLevelRules } from './priority-levels-rules';

/** flowcontrol. */
export const flowcontrol: Readonly<Record<string, Strategy>> = {
  flowschemas: { statusLeavesMetadata: true, tracksGeneration: true, ...flowSchemaRules },
  prioritylevelconfigurations: { statusLeavesMetadata: true, tracksGeneration: true, ...priorityLevelRules },
};
