import type { DefaultsTable } from './contract';

const flowSchemaSpec = zeros({ matchingPrecedence: 1000 });
const limited = zeros({ assuredConcurrencyShares: 30 });
const queuing = zeros({ handSize: 8, queues: 64, queueLengthLimit: 50 });

export const FLOWCONTROL: DefaultsTable = {
  'flowcontrol/v1beta1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1alpha1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1beta1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1alpha1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1beta1.QueuingConfiguration': queuing,
  'flowcontrol/v1alpha1.QueuingConfiguration': queuing,
};

/** Returns defaults for numbers in which zero means unset. */
function zeros<Name extends string>(values: Readonly<Record<Name, number>>) {
  return {
    derive: (object: Readonly<Record<Name, number>>) =>
      Object.fromEntries(Object.entries(values).filter(([name]) => object[name as Name] === 0)) as Partial<
        typeof values
      >,
  };
}
