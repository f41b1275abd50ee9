import { runtimeClassTable } from './columns';
import { runtimeClassRules } from './runtime-classes-rules';
import { kindsOf } from '../kind';

export const node = kindsOf('node', {
  runtimeclasses: {
    strategy: {
      metadataChecks: 'no domains',
      createsOnUpdate: true,
      requiresResourceVersion: true,
      ...runtimeClassRules,
    },
    table: runtimeClassTable,
  },
});
