import type { RowOf } from '../columns/cells';
import { NONE } from '../columns/format';
import { ageOf, at, listAt, nameOf, numberAt, textAt, textOr } from '../columns/read';

export const flowSchemaRow: RowOf = (schema) => {
  const dangling = listAt(schema, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Dangling');
  return [
    nameOf(schema),
    textAt(schema, 'spec', 'priorityLevelConfiguration', 'name'),
    numberAt(schema, 'spec', 'matchingPrecedence'),
    textOr(NONE, schema, 'spec', 'distinguisherMethod', 'type'),
    ageOf(schema),
    dangling === undefined ? '?' : textAt(dangling, 'status'),
  ];
};

export const priorityLevelRow: RowOf = (level) => {
  const limited = at(level, 'spec', 'limited');
  const queuing = at(limited, 'limitResponse', 'queuing');
  const ofQueuing = (field: string): string | number | bigint =>
    queuing === undefined ? NONE : numberAt(queuing, field);
  return [
    nameOf(level),
    textAt(level, 'spec', 'type'),
    limited === undefined ? NONE : numberAt(limited, 'assuredConcurrencyShares'),
    ofQueuing('queues'),
    ofQueuing('handSize'),
    ofQueuing('queueLengthLimit'),
    ageOf(level),
  ];
};
