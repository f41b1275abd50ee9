import type {
  PoolStatus,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestStatus,
} from '../../../../shared/api/types/resource-v1alpha3';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, tooLong, tooMany } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { Age } from '../../../engine/registry/object-table';
import { NAME } from '../columns/common';
import { NONE } from '../columns/format';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { immutable, optionalSubdomain, requiredText } from '../rules/primitives';
import { poolName } from './device-names';
import { limitedList } from './lists';

const LIMIT_MAX = 1000;
const POOLS_MAX = 1000;
const CONDITIONS_MAX = 10;
const ERROR_BYTES_MAX = 256;

/** A request for the state of the pools of a driver, which a controller answers once in the status. */
const poolStatusRules: Pick<
  Strategy<ResourcePoolStatusRequest>,
  'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validateNew: ({ spec: { driver, poolName: pool, limit } }) => [
    ...requiredText(driver, 'spec.driver', caselessProblems),
    ...(pool === undefined ? [] : poolName(pool, 'spec.poolName')),
    ...(limit === undefined ? [] : between(limit, 'spec.limit', { min: 1, max: LIMIT_MAX })),
  ],
  validateUpdate: (next, previous) => immutable(next.spec, previous.spec, 'spec'),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next, previous) =>
        previous.status === undefined
          ? validateStatus(next.status)
          : immutable(next.status, previous.status, 'status'),
    },
  },
};

function caselessProblems(name: string): readonly string[] {
  return dns1123SubdomainProblems(name.toLowerCase());
}

function between(
  value: number | bigint,
  path: string,
  { min, max = Infinity }: { readonly min: number; readonly max?: number },
): FieldError[] {
  if (value < min) return [invalid(path, value, `must be greater than or equal to ${String(min)}`)];
  return value > max ? [invalid(path, value, `must be less than or equal to ${String(max)}`)] : [];
}

function validateStatus(status: ResourcePoolStatusRequestStatus | undefined): FieldError[] {
  if (status === undefined) return [];
  const { poolCount, pools, conditions = [] } = status;
  return [
    ...(poolCount === undefined
      ? [required('status.poolCount')]
      : between(poolCount, 'status.poolCount', { min: 0 })),
    ...limitedList(pools, 'status.pools', { max: POOLS_MAX, rule: validatePool }),
    ...(conditions.length > CONDITIONS_MAX
      ? [tooMany('status.conditions', conditions.length, CONDITIONS_MAX)]
      : []),
    ...validateConditions(conditions, 'status.conditions'),
  ];
}

const COUNTS = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const;

function validatePool(pool: PoolStatus, path: string): FieldError[] {
  const { validationError: error = '', resourceSliceCount: slices } = pool;
  return [
    ...requiredText(pool.driver, `${path}.driver`, caselessProblems),
    ...poolName(pool.poolName ?? '', `${path}.poolName`),
    ...between(pool.generation, `${path}.generation`, { min: 0 }),
    ...(slices === undefined ? [] : between(slices, `${path}.resourceSliceCount`, { min: 1 })),
    ...COUNTS.flatMap((name) => between(pool[name] ?? 0, `${path}.${name}`, { min: 0 })),
    ...optionalSubdomain(pool.nodeName, `${path}.nodeName`),
    ...(Buffer.byteLength(error) > ERROR_BYTES_MAX
      ? [tooLong(`${path}.validationError`, error, ERROR_BYTES_MAX)]
      : []),
  ];
}

/** The state that ended the request, if one did. */
function resultOf({ status }: ResourcePoolStatusRequest): string | undefined {
  return (status?.conditions ?? []).find(
    ({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'),
  )?.type;
}

/** A column with the sum over all pools; `-` while there is no answer. */
function sumColumn(name: string, valueOf: (pool: PoolStatus) => number): Column<ResourcePoolStatusRequest> {
  return {
    name,
    cell: (request) => {
      const { status } = request;
      if (status === undefined || resultOf(request) === 'Failed') return '-';
      return String((status.pools ?? []).reduce((sum, pool) => sum + valueOf(pool), 0));
    },
  };
}

function statusText(request: ResourcePoolStatusRequest): string {
  const result = resultOf(request) ?? 'Pending';
  const { poolCount = 0, pools = [] } = request.status ?? {};
  const isPart = result === 'Complete' && poolCount > pools.length;
  return isPart ? `${result} (${String(pools.length)}/${String(poolCount)} pools)` : result;
}

export const resourcePoolStatusRequests: Kind<ResourcePoolStatusRequest> = {
  strategy: {
    statusLeavesMetadata: true,
    requiresResourceVersion: true,
    compat: { returnsDeletedObject: true },
    ...poolStatusRules,
  },
  table: tableOf<ResourcePoolStatusRequest>([
    NAME,
    { name: 'Driver', cell: ({ spec }) => spec.driver },
    sumColumn('Total', ({ totalDevices = 0 }) => totalDevices),
    sumColumn('Available', ({ availableDevices = 0 }) => availableDevices),
    sumColumn('Allocated', ({ allocatedDevices = 0 }) => allocatedDevices),
    sumColumn('Unavailable', ({ unavailableDevices = 0 }) => unavailableDevices),
    sumColumn('Errors', ({ validationError }) => (validationError === undefined ? 0 : 1)),
    { name: 'Pools', type: 'integer', cell: ({ status }) => status?.poolCount ?? 0 },
    { name: 'Status', cell: statusText },
    {
      name: 'Completed',
      cell: (request) => {
        const complete = (request.status?.conditions ?? []).find(
          ({ type, status }) => type === 'Complete' && status === 'True',
        );
        return complete === undefined ? NONE : new Age(complete.lastTransitionTime ?? undefined);
      },
    },
  ]),
};
