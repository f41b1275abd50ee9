import type { APIService } from '../../../../shared/api/types/apiregistration-v1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

export const apiServiceTable = tableOf<APIService>([
  NAME,
  {
    name: 'Service',
    cell: ({ spec: { service } }) =>
      service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
  },
  { name: 'Available', cell: availability },
  AGE,
]);

function availability({ status }: APIService): string {
  const found = status?.conditions?.find(({ type }) => type === 'Available');
  if (found === undefined) return 'Unknown';
  return found.status === 'True' ? found.status : `${found.status} (${found.reason ?? ''})`;
}
