import type {
  ComponentStatus,
  ConfigMap,
  Namespace,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from '../../../../shared/api/types/core-v1';
import { AGE, containerColumns, NAME } from '../columns/common';
import { countOf, labelsText } from '../columns/format';
import type { Column } from '../columns/table';
import { derivedTableOf, tableOf } from '../columns/table';
import { ownKeyMap } from '../../../../shared/own-key-map';

const HEALTH_WORDS = ownKeyMap<string>({ True: 'Healthy' });

export const componentStatusTable = derivedTableOf(
  ({ conditions = [] }: ComponentStatus) => conditions.find(({ type }) => type === 'Healthy'),
  [
    NAME,
    {
      name: 'Status',
      cell: (_status, healthy) =>
        healthy === undefined ? 'Unknown' : (HEALTH_WORDS.get(healthy.status) ?? 'Unhealthy'),
    },
    { name: 'Message', cell: (_status, healthy) => healthy?.message ?? '' },
    { name: 'Error', cell: (_status, healthy) => healthy?.error ?? '' },
  ],
);

export const configMapTable = tableOf<ConfigMap>([
  NAME,
  { name: 'Data', cell: ({ data, binaryData }) => countOf(data) + countOf(binaryData) },
  AGE,
]);

export const namespaceTable = tableOf<Namespace>([
  NAME,
  { name: 'Status', cell: ({ status }) => status?.phase ?? '' },
  AGE,
]);

export const podTemplateTable = tableOf<PodTemplate>([
  NAME,
  ...containerColumns<PodTemplate>(({ template }) => template).map(({ isWide: _always, ...shown }) => shown),
  { name: 'Pod Labels', cell: ({ template }) => labelsText(template.metadata.labels) },
]);

export const replicationControllerTable = tableOf<ReplicationController>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
  AGE,
  ...containerColumns<ReplicationController>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => labelsText(spec.selector) },
]);

const isLimit = (name: string): boolean => name.startsWith('limits.');

/** `cpu: 1/2` of every resource that is counted in the column. */
function usage(name: string, counts: (resource: string) => boolean): Column<ResourceQuota> {
  return {
    name,
    cell: ({ status: { hard = {}, used = {} } = {} }) =>
      Object.entries(hard)
        .filter(([resource]) => counts(resource))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([resource, most]) => `${resource}: ${used[resource] ?? '0'}/${most}`)
        .join(', '),
  };
}

export const resourceQuotaTable = tableOf<ResourceQuota>([
  NAME,
  AGE,
  usage('Request', (resource) => !isLimit(resource)),
  usage('Limit', isLimit),
]);

export const secretTable = tableOf<Secret>([
  NAME,
  { name: 'Type', cell: ({ type = '' }) => type },
  { name: 'Data', cell: ({ data }) => countOf(data) },
  AGE,
]);

export const serviceAccountTable = tableOf<ServiceAccount>([
  NAME,
  { name: 'Secrets', cell: ({ secrets = [] }) => secrets.length },
  AGE,
]);
