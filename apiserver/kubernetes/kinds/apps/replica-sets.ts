import type { DeploymentSpec, ReplicaSet } from '../../../../shared/api/types/apps-v1';
import type { Strategy } from '../../../engine/registry/strategy';
import { scaleBySelector } from '../autoscaling/scale';
import { AGE, NAME, WORKLOAD_COLUMNS } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keepsTemplate } from '../pod-template/kept-template';
import { privilegeRule } from '../pod-template/privileged-containers';
import { fields, nonNegative } from '../rules/primitives';
import { POD_SPEC, sameSelector, selectorAndTemplate } from './workload-rules';
import { workloadStatus } from './workload-status';

const replicaSetRules: Pick<Strategy<ReplicaSet>, 'validate' | 'validateUpdate'> = {
  validate: (set, { settings }) => [
    ...counts(set.spec, 'spec'),
    ...selectorAndTemplate(set, settings),
    ...privilegeRule(set.spec.template.spec, { path: POD_SPEC, settings }),
  ],
  validateUpdate: sameSelector,
};

const counts = fields<Pick<DeploymentSpec, 'replicas' | 'minReadySeconds'>>({
  replicas: nonNegative,
  minReadySeconds: nonNegative,
});

const replicaSetStrategy: Strategy<ReplicaSet> = {
  ...keepsTemplate,
  ...replicaSetRules,
  tracksGeneration: true,
  subresources: workloadStatus('replicasets'),
};

const replicaSetTable = tableOf<ReplicaSet>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
  AGE,
  ...WORKLOAD_COLUMNS,
]);

export const replicaSets: Kind<ReplicaSet> = {
  strategy: replicaSetStrategy,
  table: replicaSetTable,
  subresources: { scale: { is: 'view', view: scaleBySelector } },
};
