import { fromNeutral, groupFromNeutral } from './names';

/** Labels and annotations that the workload controllers write and read. As in `names.ts`, each is spelled once. */

export const WORKLOAD_LABEL = {
  /** On the ReplicaSets of a Deployment and their pods: a hash of the template. The same in both dialects. */
  podTemplateHash: 'pod-template-hash',
  /** On Endpoints: the controller that wrote them. The same in both dialects. */
  endpointsManagedBy: 'endpoints.kubernetes.io/managed-by',
  /** On an EndpointSlice: its Service, and the controller that wrote it. */
  serviceName: fromNeutral('orch.io/service-name'),
  sliceManagedBy: fromNeutral('endpointslice.orch/managed-by'),
  /** On a pod of a StatefulSet or DaemonSet: the ControllerRevision of its template. The same in both dialects. */
  controllerRevision: 'controller-revision-hash',
  /** On the ControllerRevision of a StatefulSet: a hash of what it remembers. */
  revisionHash: fromNeutral('controller.orch/hash'),
  /** On a pod of a StatefulSet: its own name and its ordinal. */
  statefulPodName: fromNeutral('statefulset.orch/pod-name'),
  podIndex: fromNeutral('apps.orch/pod-index'),
  /** On a pod of a DaemonSet with such an annotation: the number of its template. The same in both dialects. */
  templateGeneration: 'pod-template-generation',
  /** On Endpoints that are not mirrored to slices. */
  skipMirror: fromNeutral('endpointslice.orch/skip-mirror'),
  /** On the endpoints of a Service without an address of its own. */
  headless: fromNeutral('service.orch/headless'),
} as const;

export const WORKLOAD_ANNOTATION = {
  /** On a ReplicaSet and its Deployment: the number of the rollout. kubectl reads them, so they are the same in both dialects. */
  deploymentRevision: 'deployment.kubernetes.io/revision',
  deploymentRevisionHistory: 'deployment.kubernetes.io/revision-history',
  /** On a ReplicaSet: the sizes that its Deployment had when the set was last scaled. */
  desiredReplicas: 'deployment.kubernetes.io/desired-replicas',
  maxReplicas: 'deployment.kubernetes.io/max-replicas',
  /** On a Deployment: the revision to go back to. The same in both dialects. */
  rollbackTo: 'deprecated.deployment.rollback.to',
  /** On the pod of an indexed Job: its index. */
  completionIndex: fromNeutral('batch.orch/job-completion-index'),
  /** On such a pod: how often its index has failed before, and how often by failures that do not count. */
  indexFailures: fromNeutral('batch.orch/job-index-failure-count'),
  ignoredIndexFailures: fromNeutral('batch.orch/job-index-ignored-failure-count'),
  /** On a DaemonSet of a removed API: the number of its template. The same in both dialects. */
  templateGeneration: 'deprecated.daemonset.template.generation',
  /** On a Job of a CronJob: when it was due. */
  scheduledTime: fromNeutral('batch.orch/cronjob-scheduled-timestamp'),
  /** On an object that was the lock of a leader election. The same in both dialects. */
  leader: 'control-plane.alpha.kubernetes.io/leader',
  /** On Endpoints: when the change happened that they follow, and that there are more than they have. The same in both dialects. */
  lastChangeTriggerTime: 'endpoints.kubernetes.io/last-change-trigger-time',
  overCapacity: 'endpoints.kubernetes.io/over-capacity',
} as const;

/** On the pods of a Job until they are counted in its status. */
export const JOB_TRACKING_FINALIZER = fromNeutral('batch.orch/job-tracking');

/** The value of `spec.managedBy` that names the controller of this project; another one is left to its own controller. */
export const JOB_CONTROLLER_NAME = fromNeutral('orch.io/job-controller');

/** The value of the label `sliceManagedBy` for slices that are made of pods. */
export const ENDPOINTSLICE_MANAGER = groupFromNeutral('endpointslice-controller.orch');

/** Where events about schedules of CronJobs point. */
export const CRON_JOB_GUIDE = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';

/** The value of the label `sliceManagedBy` for slices that mirror Endpoints. */
export const SLICE_MIRROR = groupFromNeutral('endpointslicemirroring-controller.orch');
