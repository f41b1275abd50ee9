import { scaleBySelector } from '../autoscaling/scale';
import { kindsOf } from '../kind';
import { TEMPLATE } from '../pod-template/kept-template';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import {
  controllerRevisionTable,
  daemonSetTable,
  deploymentTable,
  replicaSetTable,
  statefulSetTable,
} from './columns';
import { daemonSets, deployments, replicaSets, statefulSets } from './strategies';
import { validateControllerRevision, validateControllerRevisionUpdate } from './workloads-rules';

const scale = { is: 'view', view: scaleBySelector } as const;

export const apps = kindsOf('apps', {
  controllerrevisions: {
    strategy: { validate: validateControllerRevision, validateUpdate: validateControllerRevisionUpdate },
    table: controllerRevisionTable,
  },
  daemonsets: { strategy: withPrivilegeRule(daemonSets, TEMPLATE), table: daemonSetTable },
  deployments: {
    strategy: withPrivilegeRule(deployments, TEMPLATE),
    table: deploymentTable,
    subresources: { scale },
  },
  replicasets: {
    strategy: withPrivilegeRule(replicaSets, TEMPLATE),
    table: replicaSetTable,
    subresources: { scale },
  },
  statefulsets: {
    strategy: withPrivilegeRule(statefulSets, TEMPLATE),
    table: statefulSetTable,
    subresources: { scale },
  },
});
