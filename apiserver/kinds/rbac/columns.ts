import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { ageOf, listAt, nameOf, textAt } from '../columns/read';

export const bindingRow: RowOf = (binding) => [
  nameOf(binding),
  `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`,
  ageOf(binding),
  subjects(binding, 'User'),
  subjects(binding, 'Group'),
  subjects(binding, 'ServiceAccount'),
];

function subjects(binding: ApiObject, kind: 'User' | 'Group' | 'ServiceAccount'): string {
  return listAt(binding, 'subjects')
    .filter((each) => textAt(each, 'kind') === kind)
    .map((each) =>
      kind === 'ServiceAccount'
        ? `${textAt(each, 'namespace')}/${textAt(each, 'name')}`
        : textAt(each, 'name'),
    )
    .join(', ');
}
