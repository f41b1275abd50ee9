import { ownKeyMap } from '../../../../shared/own-key-map';

const IN_SPEC = ['spec', 'template'];

/** Where a resource, named with the package of its group, has a pod or a template of pods: the members that lead there. */
export const POD_PLACES = ownKeyMap<readonly string[]>({
  'core/pods': [],
  'core/podtemplates': ['template'],
  'core/replicationcontrollers': IN_SPEC,
  'apps/daemonsets': IN_SPEC,
  'apps/deployments': IN_SPEC,
  'apps/replicasets': IN_SPEC,
  'apps/statefulsets': IN_SPEC,
  'batch/cronjobs': ['spec', 'jobTemplate', ...IN_SPEC],
  'batch/jobs': IN_SPEC,
});
