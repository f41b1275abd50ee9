import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { ageOf, at, listAt, nameOf, textAt } from '../columns/read';

export const apiServiceRow: RowOf = (apiService) => {
  const service = at(apiService, 'spec', 'service');
  return [
    nameOf(apiService),
    service === undefined ? 'Local' : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`,
    availability(apiService),
    ageOf(apiService),
  ];
};

function availability(apiService: ApiObject): string {
  const found = listAt(apiService, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === 'Available',
  );
  if (found === undefined) return 'Unknown';
  const status = textAt(found, 'status');
  return status === 'True' ? status : `${status} (${textAt(found, 'reason')})`;
}
