import type {
  FlowSchema,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from '../../../../shared/api/types/flowcontrol-v1beta1';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import type { ObjectTable } from '../../../engine/registry/object-table';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';

/** In the order in which the schemas are tried. */
export const flowSchemaTable: ObjectTable<FlowSchema> = {
  ...tableOf<FlowSchema>([
    NAME,
    { name: 'PriorityLevel', cell: ({ spec }) => spec.priorityLevelConfiguration.name },
    { name: 'MatchingPrecedence', cell: ({ spec }) => spec.matchingPrecedence },
    { name: 'DistinguisherMethod', cell: ({ spec }) => spec.distinguisherMethod?.type ?? NONE },
    AGE,
    { name: 'MissingPL', cell: missingPriorityLevel },
  ]),
  rowOrder: 'spec.matchingPrecedence',
};

function missingPriorityLevel({ status }: FlowSchema): string {
  const dangling = status?.conditions?.find(({ type }) => type === 'Dangling');
  return dangling === undefined ? '?' : (dangling.status ?? '');
}

export const priorityLevelTable = tableOf<PriorityLevelConfiguration>([
  NAME,
  { name: 'Type', cell: ({ spec }) => spec.type },
  { name: 'AssuredConcurrencyShares', cell: ({ spec }) => spec.limited?.assuredConcurrencyShares ?? NONE },
  ofQueuing('Queues', 'queues'),
  ofQueuing('HandSize', 'handSize'),
  ofQueuing('QueueLengthLimit', 'queueLengthLimit'),
  AGE,
]);

function ofQueuing(name: string, field: keyof QueuingConfiguration): Column<PriorityLevelConfiguration> {
  return { name, cell: ({ spec }) => spec.limited?.limitResponse.queuing?.[field] ?? NONE };
}
