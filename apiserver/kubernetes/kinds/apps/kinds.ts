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
import { TEMPLATE_GENERATION } from './template-generation';
import { controllerRevisionRules } from './workloads-rules';

/** The revision that an old version of Deployments was to go back to. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

const scale = { is: 'view', view: scaleBySelector } as const;

export const apps = kindsOf('apps', {
  controllerrevisions: { strategy: controllerRevisionRules, table: controllerRevisionTable },
  daemonsets: {
    strategy: daemonSets,
    table: daemonSetTable,
    fieldAnnotations: [TEMPLATE_GENERATION],
  },
  deployments: {
    strategy: deployments,
    table: deploymentTable,
    subresources: { scale },
    fieldAnnotations: [ROLLBACK_TO],
  },
  replicasets: { strategy: replicaSets, table: replicaSetTable, subresources: { scale } },
  statefulsets: {
    strategy: statefulSets,
    table: statefulSetTable,
    subresources: { scale: { is: 'view', view: { ...scaleBySelector, missing: 'object' } } },
  },
});
