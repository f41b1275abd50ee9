import { scaleBySelector } from '../autoscaling/scale';
import { kindsOf } from '../kind';
import {
  controllerRevisionTable,
  daemonSetTable,
  deploymentTable,
  replicaSetTable,
  statefulSetTable,
} from './columns';
import { daemonSets, deployments, replicaSets, statefulSets } from './strategies';
import { controllerRevisionRules } from './workloads-rules';

const scale = { is: 'view', view: scaleBySelector } as const;

export const apps = kindsOf('apps', {
  controllerrevisions: { strategy: controllerRevisionRules, table: controllerRevisionTable },
  daemonsets: { strategy: daemonSets, table: daemonSetTable },
  deployments: { strategy: deployments, table: deploymentTable, subresources: { scale } },
  replicasets: { strategy: replicaSets, table: replicaSetTable, subresources: { scale } },
  statefulsets: {
    strategy: statefulSets,
    table: statefulSetTable,
    subresources: { scale: { is: 'view', view: { ...scaleBySelector, missing: 'object' } } },
  },
});
