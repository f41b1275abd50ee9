import { kindsOf } from '../kind';
import { flowSchemas } from './flow-schemas';
import { priorityLevelConfigurations } from './priority-level-configurations';

export const flowcontrol = kindsOf('flowcontrol', {
  flowschemas: flowSchemas,
  prioritylevelconfigurations: priorityLevelConfigurations,
});
