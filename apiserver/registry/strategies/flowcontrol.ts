import type { Strategy } from '../strategy';
import { flowSchemaRules } from '../validation/flow-schemas';
import { priorityLevelRules } from '../validation/priority-levels';

/** flowcontrol. */
export const flowcontrol: Readonly<Record<string, Strategy>> = {
  flowschemas: { statusLeavesMetadata: true, tracksGeneration: true, ...flowSchemaRules },
  prioritylevelconfigurations: { statusLeavesMetadata: true, tracksGeneration: true, ...priorityLevelRules },
};
