import type { DefaultsTable, MessageDefaults } from './contract';

const priorityClass: MessageDefaults<{ readonly preemptionPolicy?: string }> = {
  values: { preemptionPolicy: 'PreemptLowerPriority' },
};

export const SCHEDULING: DefaultsTable = {
  'scheduling/v1.PriorityClass': priorityClass,
  'scheduling/v1beta1.PriorityClass': priorityClass,
  'scheduling/v1alpha1.PriorityClass': priorityClass,
};
