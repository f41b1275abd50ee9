import { kindsOf } from '../kind';
import { controllerRevisions } from './controller-revisions';
import { daemonSets } from './daemon-sets';
import { deployments } from './deployments';
import { replicaSets } from './replica-sets';
import { statefulSets } from './stateful-sets';

export const apps = kindsOf('apps', {
  controllerrevisions: controllerRevisions,
  daemonsets: daemonSets,
  deployments,
  replicasets: replicaSets,
  statefulsets: statefulSets,
});
