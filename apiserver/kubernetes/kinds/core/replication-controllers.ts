import type { ReplicationController } from '../../../../shared/api/types/core-v1';
import { required } from '../../../../shared/errors/field-error';
import { labelSelectorFromMap } from '../../../../shared/meta/labels';
import { GROUP } from '../../../../shared/names';
import type { Strategy } from '../../../engine/registry/strategy';
import { POD_SPEC, replicatedTemplate } from '../apps/workload-rules';
import { labelledWorkloadStatus } from '../apps/workload-status';
import { scaleBySelectorMap } from '../autoscaling/scale';
import { AGE, containerColumns, NAME } from '../columns/common';
import { labelsText } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keepsTemplate } from '../pod-template/kept-template';
import { privilegeRule } from '../pod-template/privileged-containers';
import { nonNegative } from '../rules/primitives';

const replicationControllerRules: Pick<Strategy<ReplicationController>, 'validate'> = {
  validate: (controller, { settings }) => {
    const { spec } = controller;
    const { selector = {}, template } = spec;
    return [
      ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
      ...nonNegative(spec.replicas, 'spec.replicas'),
      ...replicatedTemplate(controller, labelSelectorFromMap(selector), {
        kind: 'ReplicationController',
        settings,
      }),
      ...(template === undefined ? [] : privilegeRule(template.spec, { path: POD_SPEC, settings })),
    ];
  },
};

const replicationControllerStrategy: Strategy<ReplicationController> = {
  ...keepsTemplate,
  ...replicationControllerRules,
  tracksGeneration: true,
  compat: { keyInErrors: 'controllers' },
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': '0' },
  subresources: labelledWorkloadStatus('replicationcontrollers'),
};

const replicationControllerTable = tableOf<ReplicationController>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
  AGE,
  ...containerColumns<ReplicationController>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => labelsText(spec.selector) },
]);

export const replicationControllers: Kind<ReplicationController> = {
  strategy: replicationControllerStrategy,
  table: replicationControllerTable,
  subresources: {
    scale: { is: 'view', view: { ...scaleBySelectorMap, missing: { group: GROUP.autoscaling } } },
  },
};
