/** The number of objects of a kind that are reconciled concurrently, as in kube-controller-manager. */
const CONCURRENT = { type: 'int', default: 5, min: 1, max: 1_000, group: 'Workload controllers' } as const;

/** The flags of the controllers of workloads, with the names, meanings and defaults of kube-controller-manager. */
export const WORKLOAD_FLAGS = [
  {
    ...CONCURRENT,
    name: 'concurrent-deployment-syncs',
    help: 'The number of Deployments that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-replicaset-syncs',
    help: 'The number of ReplicaSets that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-rc-syncs',
    help: 'The number of ReplicationControllers that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-statefulset-syncs',
    help: 'The number of StatefulSets that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-daemonset-syncs',
    default: 2,
    help: 'The number of DaemonSets that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-cron-job-syncs',
    help: 'The number of CronJobs that are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-endpoint-syncs',
    help: 'The number of Services whose Endpoints are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-service-endpoint-syncs',
    help: 'The number of Services whose EndpointSlices are reconciled concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'mirroring-concurrent-service-endpoint-syncs',
    help: 'The number of Endpoints that are mirrored concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'mirroring-max-endpoints-per-subset',
    default: 1_000,
    help: 'The most addresses of one subset of Endpoints that are mirrored.',
  },
  {
    ...CONCURRENT,
    name: 'max-endpoints-per-slice',
    default: 100,
    help: 'The most endpoints of an EndpointSlice.',
  },
  {
    name: 'terminated-pod-gc-threshold',
    type: 'int',
    default: 12_500,
    max: 2_147_483_647,
    group: 'Workload controllers',
    help: 'The number of pods that have ended from which on the oldest are deleted. 0 or less: none are.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-ttl-after-finished-syncs',
    help: 'The number of finished Jobs that are deleted concurrently.',
  },
  {
    ...CONCURRENT,
    name: 'concurrent-validating-admission-policy-status-syncs',
    help: 'The number of ValidatingAdmissionPolicies whose expressions are checked concurrently.',
  },
] as const;
