/**
 * The two dialects of names: the project's own (neutral) and Kubernetes'. The process uses one, chosen by `--dialect=orch|kubernetes` (or
 * ORCH_DIALECT) before anything else loads. Only `names.ts` translates.
 */

export const DIALECTS = ['orch', 'kubernetes'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Exact pairs: neutral (orch) spelling, Kubernetes spelling. */
const EXACT: readonly (readonly [string, string])[] = [
  ['application/vnd.orch.protobuf', 'application/vnd.kubernetes.protobuf'],
  ['orch-system', 'kube-system'],
  ['orch-public', 'kube-public'],
  ['orch-node-lease', 'kube-node-lease'],
  ['orch', 'kubernetes'],
  ['orch/apiserver-client', 'kubernetes.io/kube-apiserver-client'],
  ['orch/apiserver-client-node-agent', 'kubernetes.io/kube-apiserver-client-kubelet'],
  ['orch/node-agent-serving', 'kubernetes.io/kubelet-serving'],
  ['orch/legacy-unknown', 'kubernetes.io/legacy-unknown'],
  ['bootstrap.orch/token', 'bootstrap.kubernetes.io/token'],
  ['orch.io/service-account-token', 'kubernetes.io/service-account-token'],
  ['orch/deprecated', 'k8s.io/deprecated'],
  ['orch/removed-release', 'k8s.io/removed-release'],
  ['ORCH_EXEC_INFO', 'KUBERNETES_EXEC_INFO'],
  ['system:controller-manager', 'system:kube-controller-manager'],
  ['system:scheduler', 'system:kube-scheduler'],
  ['system:network-proxy', 'system:kube-proxy'],
  ['system:dns', 'system:kube-dns'],
  ['orch-root-ca.crt', 'kube-root-ca.crt'],
  ['controller-manager', 'kube-controller-manager'],
  ['scheduler', 'kube-scheduler'],
  ['dns', 'kube-dns'],
  ['orch-apiserver', 'kube-apiserver'],
  ['aggregator', 'kube-aggregator'],
  ['orch-system-service-accounts', 'kube-system-service-accounts'],
  ['system::leader-locking-controller-manager', 'system::leader-locking-kube-controller-manager'],
  ['system::leader-locking-scheduler', 'system::leader-locking-kube-scheduler'],
  ['system:aggregator', 'system:kube-aggregator'],
  ['system:node-agent-api-admin', 'system:kubelet-api-admin'],
  [
    'system:certificates.orch:apiserver-client-node-agent-approver',
    'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
  ],
  [
    'system:certificates.orch:apiserver-client-approver',
    'system:certificates.k8s.io:kube-apiserver-client-approver',
  ],
  [
    'system:certificates.orch:node-agent-serving-approver',
    'system:certificates.k8s.io:kubelet-serving-approver',
  ],
  ['api-approved.orch', 'api-approved.kubernetes.io'],
  ['X-Orch-PF-FlowSchema-UID', 'X-Kubernetes-PF-FlowSchema-UID'],
  ['X-Orch-PF-PriorityLevel-UID', 'X-Kubernetes-PF-PriorityLevel-UID'],
  ['abac.authorization.orch', 'abac.authorization.kubernetes.io'],
  ['orch/initial-events-end', 'k8s.io/initial-events-end'],
  [
    'orch-apiserver-legacy-service-account-token-tracking',
    'kube-apiserver-legacy-service-account-token-tracking',
  ],
  ['orch/apiserver-serving', 'kubernetes.io/kube-apiserver-serving'],
];

/** Beginnings of labels, annotations, taints, finalizers, secret types and roles. The longest match wins; exact pairs come first. */
const PREFIXES: readonly (readonly [string, string])[] = [
  ['orch.io/', 'kubernetes.io/'],
  ['node.orch/', 'node.kubernetes.io/'],
  ['ingressclass.orch/', 'ingressclass.kubernetes.io/'],
  ['storageclass.orch/', 'storageclass.kubernetes.io/'],
  ['rbac.authorization.orch/', 'rbac.authorization.kubernetes.io/'],
  ['rbac.authorization.orch/aggregate-to-', 'rbac.authorization.k8s.io/aggregate-to-'],
  ['endpointslice.orch/', 'endpointslice.kubernetes.io/'],
  ['service.orch/', 'service.kubernetes.io/'],
  ['topology.orch/', 'topology.kubernetes.io/'],
  ['batch.orch/', 'batch.kubernetes.io/'],
  ['deployment.orch/', 'deployment.kubernetes.io/'],
  ['controller.orch/', 'controller.kubernetes.io/'],
  ['apf.orch/', 'apf.kubernetes.io/'],
  ['system:certificates.orch:', 'system:certificates.k8s.io:'],
  ['resource.orch/', 'resource.kubernetes.io/'],
  ['apiserver.orch/', 'apiserver.kubernetes.io/'],
  ['apps.orch/', 'apps.kubernetes.io/'],
  ['flowcontrol.orch/v1beta3-preserve', 'flowcontrol.k8s.io/v1beta3-preserve'],
  ['statefulset.orch/', 'statefulset.kubernetes.io/'],
  ['ipaddress.orch/', 'ipaddress.kubernetes.io/'],
  ['pod-security.orch/', 'pod-security.kubernetes.io/'],
  ['apiserver.latency.orch/', 'apiserver.latency.k8s.io/'],
  ['deviceclass.resource.orch/', 'deviceclass.resource.kubernetes.io/'],
  ['requests.deviceclass.resource.orch/', 'requests.deviceclass.resource.kubernetes.io/'],
];

const NEUTRAL_GROUP_SUFFIX = '.orch';
const KUBERNETES_GROUP_SUFFIX = '.k8s.io';

/**
 * The value of `--dialect` on the command line, else of ORCH_DIALECT, else the default of the bundle, else `orch`. A value that is no dialect is
 * left to the flags.
 */
function readDialect(argv: readonly string[], env: NodeJS.ProcessEnv): Dialect {
  if (typeof ORCH_INSTANCE !== 'undefined') return ORCH_INSTANCE.dialect;
  const flag = argv.findLast((word, at) => word.startsWith('--dialect=') || argv[at - 1] === '--dialect');
  const value = flag?.replace(/^--dialect=/, '') ?? env['ORCH_DIALECT'];
  if (value === undefined && typeof ORCH_DEFAULT_DIALECT !== 'undefined') return ORCH_DEFAULT_DIALECT;
  return value === 'kubernetes' ? 'kubernetes' : 'orch';
}

/**
 * What all modules of an instance share. The bundle of the package is a function of this parameter, so that one process can have an instance for
 * each dialect and API level (ADR 80). Not declared in programs.
 */
declare global {
  const ORCH_INSTANCE: { readonly dialect: Dialect; readonly apiLevel?: string | undefined } | undefined;
  /** Captures, test suites and clients have the names of Kubernetes: the bundles of `orch` and of `orch/client` define this. */
  const ORCH_DEFAULT_DIALECT: Dialect | undefined;
}

export const dialect: Dialect = readDialect(process.argv, process.env);

const exactNames = new Map(EXACT);
const prefixesByLength = [...PREFIXES].sort(([a], [b]) => b.length - a.length);

/** Translates one neutral identifier (as the tables spell them) into a dialect, by default that of this process. Unlisted ones stay as they are. */
export function fromNeutral(name: string, to: Dialect = dialect): string {
  if (to === 'orch') return name;
  const exact = exactNames.get(name);
  if (exact !== undefined) return exact;
  const prefix = prefixesByLength.find(([neutral]) => name.startsWith(neutral));
  return prefix === undefined ? name : prefix[1] + name.slice(prefix[0].length);
}

/** Translates a neutral API group name: every group with the suffix `.orch`; the others are the same in both dialects. */
export function groupFromNeutral(group: string, to: Dialect = dialect): string {
  if (to === 'orch' || !group.endsWith(NEUTRAL_GROUP_SUFFIX)) return group;
  return group.slice(0, -NEUTRAL_GROUP_SUFFIX.length) + KUBERNETES_GROUP_SUFFIX;
}

/** Translates `group/version`, or leaves `v1` of the core group. */
export function apiVersionFromNeutral(apiVersion: string): string {
  const [group, version] = apiVersion.split('/');
  return group === undefined || version === undefined ? apiVersion : `${groupFromNeutral(group)}/${version}`;
}
