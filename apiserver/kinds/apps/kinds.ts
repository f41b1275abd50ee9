import { GROUP } from '../../../shared/names';
import { scaleBySelector } from '../autoscaling/scale';
import type { KindGroup } from '../kind';
import { TEMPLATE } from '../pod-template/kept-template';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import { controllerRevisionRow, daemonSetRow, deploymentRow, replicaSetRow, statefulSetRow } from './columns';
import { daemonSets, deployments, replicaSets, statefulSets } from './strategies';
import { validateControllerRevision, validateControllerRevisionUpdate } from './workloads-rules';

const scale = { is: 'view', view: scaleBySelector } as const;

export const apps: KindGroup = {
  group: GROUP.apps,
  kinds: {
    controllerrevisions: {
      strategy: { validate: validateControllerRevision, validateUpdate: validateControllerRevisionUpdate },
      row: controllerRevisionRow,
    },
    daemonsets: { strategy: withPrivilegeRule(daemonSets, TEMPLATE), row: daemonSetRow },
    deployments: {
      strategy: withPrivilegeRule(deployments, TEMPLATE),
      row: deploymentRow,
      subresources: { scale },
    },
    replicasets: {
      strategy: withPrivilegeRule(replicaSets, TEMPLATE),
      row: replicaSetRow,
      subresources: { scale },
    },
    statefulsets: {
      strategy: withPrivilegeRule(statefulSets, TEMPLATE),
      row: statefulSetRow,
      subresources: { scale },
    },
  },
};
