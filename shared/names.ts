/**
 * Every identifier with the project's or Kubernetes' own name, spelled once, in the dialect of the process. A test forbids such literals
 * elsewhere.
 */
import type { Dialect } from './dialect';
import { dialect, fromNeutral, groupFromNeutral } from './dialect';

export type { Dialect } from './dialect';
export { DIALECTS, dialect, fromNeutral, groupFromNeutral, apiVersionFromNeutral } from './dialect';

/** Beginning of the labels of namespaces and the audit annotations of Pod Security. */
export const POD_SECURITY_PREFIX = fromNeutral('pod-security.orch/');

/** API groups, by the short name the schema tables use for their package. */
export const GROUP = {
  core: '',
  apps: 'apps',
  autoscaling: 'autoscaling',
  batch: 'batch',
  extensions: 'extensions',
  policy: 'policy',
  admission: groupFromNeutral('admission.orch'),
  admissionregistration: groupFromNeutral('admissionregistration.orch'),
  apidiscovery: groupFromNeutral('apidiscovery.orch'),
  apiextensions: groupFromNeutral('apiextensions.orch'),
  apiregistration: groupFromNeutral('apiregistration.orch'),
  audit: groupFromNeutral('audit.orch'),
  authentication: groupFromNeutral('authentication.orch'),
  authorization: groupFromNeutral('authorization.orch'),
  certificates: groupFromNeutral('certificates.orch'),
  coordination: groupFromNeutral('coordination.orch'),
  discovery: groupFromNeutral('discovery.orch'),
  events: groupFromNeutral('events.orch'),
  flowcontrol: groupFromNeutral('flowcontrol.apiserver.orch'),
  imagepolicy: groupFromNeutral('imagepolicy.orch'),
  apiserverConfig: groupFromNeutral('apiserver.config.orch'),
  apiserverinternal: groupFromNeutral('internal.apiserver.orch'),
  meta: groupFromNeutral('meta.orch'),
  networking: groupFromNeutral('networking.orch'),
  node: groupFromNeutral('node.orch'),
  rbac: groupFromNeutral('rbac.authorization.orch'),
  resource: groupFromNeutral('resource.orch'),
  scheduling: groupFromNeutral('scheduling.orch'),
  storage: groupFromNeutral('storage.orch'),
  storagemigration: groupFromNeutral('storagemigration.orch'),
} as const;

export const MEDIA_TYPE = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: fromNeutral('application/vnd.orch.protobuf'),
  jsonPatch: 'application/json-patch+json',
  mergePatch: 'application/merge-patch+json',
  strategicMergePatch: `application/strategic-merge-patch+json`,
  applyPatch: 'application/apply-patch+yaml',
} as const;

/** Kubernetes' media type of Protobuf, accepted in both dialects. */
export const KUBERNETES_PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Kubernetes' group of aggregated discovery, accepted in both dialects. */
export const KUBERNETES_DISCOVERY_GROUP = 'apidiscovery.k8s.io';

/** Kubernetes' group of Tables and metadata, accepted in both dialects. */
export const KUBERNETES_META_GROUP = 'meta.k8s.io';

/** On answers: which flow schema and which priority level the request belongs to. */
export const FLOW_HEADER = {
  schema: fromNeutral('X-Orch-PF-FlowSchema-UID'),
  priorityLevel: fromNeutral('X-Orch-PF-PriorityLevel-UID'),
} as const;

export const NAMESPACE = {
  default: 'default',
  /** Objects of the control plane itself. Cannot be deleted. */
  system: fromNeutral('orch-system'),
  /** Readable by everyone, also without credentials. Cannot be deleted. */
  public: fromNeutral('orch-public'),
  /** The heartbeat Leases of nodes. */
  nodeLease: fromNeutral('orch-node-lease'),
} as const;

/** The value of the label of IPAddresses that belong to Services. */
export const ADDRESS_ALLOCATOR = 'ipallocator.k8s.io';

/** The API server's own Service and Endpoints in the default namespace. */
export const API_SERVICE_NAME = fromNeutral('orch');

export const FINALIZER = {
  /** In `spec.finalizers` of a Namespace: held until its content is gone. */
  namespaceContent: fromNeutral('orch'),
  orphan: 'orphan',
  foregroundDeletion: 'foregroundDeletion',
  /** On a claim until no pod uses it, and on a volume until no claim has it. */
  claimProtection: fromNeutral('orch.io/pvc-protection'),
  volumeProtection: fromNeutral('orch.io/pv-protection'),
  /** On a VolumeAttributesClass until no volume and no claim has it. */
  classProtection: fromNeutral('orch.io/vac-protection'),
  /** On a ServiceCIDR, until no address of it is in use. */
  serviceCidr: `${GROUP.networking}/service-cidr-finalizer`,
  /** On a CustomResourceDefinition that is being deleted, until nothing of the resource is left. */
  customResourceCleanup: `customresourcecleanup.${groupFromNeutral('apiextensions.orch')}`,
} as const;

export const LABEL = {
  /** On every Namespace: its own name. */
  metadataName: fromNeutral('orch.io/metadata.name'),
  /** On an IPAddress: `IPv4` or `IPv6`, and what made it. The same in both dialects. */
  addressFamily: 'ipaddress.kubernetes.io/ip-family',
  addressManager: 'ipaddress.kubernetes.io/managed-by',
  hostname: fromNeutral('orch.io/hostname'),
  os: fromNeutral('orch.io/os'),
  arch: fromNeutral('orch.io/arch'),
  topologyZone: fromNeutral('topology.orch/zone'),
  /** On a Node: what it is for, as the value, and as the end of the key (the same in both dialects). */
  nodeRole: fromNeutral('orch.io/role'),
  nodeRolePrefix: 'node-role.kubernetes.io/',
  /** On an APIService: the server made it of what it serves itself. The same in both dialects. */
  automanaged: 'kube-aggregator.kubernetes.io/automanaged',
  /** On a Lease: the program that renews it. The same in both dialects. */
  component: 'k8s.io/component',
  /** On the pods of a Job: which one made them. */
  jobControllerUid: fromNeutral('batch.orch/controller-uid'),
  jobName: fromNeutral('batch.orch/job-name'),
  /** Stands in the selector of a disruption budget that policy/v1beta1 and policy/v1 read differently. The same in both dialects. */
  budgetOfEmptySelector: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match',
} as const;

export const ANNOTATION = {
  /** Marks the bookmark that ends the initial events of a streaming list. The same in both dialects. */
  initialEventsEnd: 'k8s.io/initial-events-end',
  /** Kept by client-side apply. The same in both dialects. */
  lastAppliedConfiguration: 'kubectl.kubernetes.io/last-applied-configuration',
  /** Fields that autoscaling/v1 cannot express. The same in both dialects. */
  autoscalerMetrics: 'autoscaling.alpha.kubernetes.io/metrics',
  autoscalerBehavior: 'autoscaling.alpha.kubernetes.io/behavior',
  autoscalerCurrentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  autoscalerConditions: 'autoscaling.alpha.kubernetes.io/conditions',
  /** On a role or binding of the server's own: `false` where it is to stay as it is. */
  autoUpdate: fromNeutral('rbac.authorization.orch/autoupdate'),
  /** On a PriorityLevelConfiguration of an older version: no shares are no shares, and not the default. */
  preserveZeroConcurrencyShares: fromNeutral('flowcontrol.orch/v1beta3-preserve-zero-concurrency-shares'),
  /** On a Pod that a node agent runs from a file of its own. */
  mirrorPod: fromNeutral('orch.io/config.mirror'),
  /** The old home of a pod's seccomp profile. The same in both dialects, as are the next three. */
  seccompPod: 'seccomp.security.alpha.kubernetes.io/pod',
  /** Followed by the name of a container. */
  seccompContainerPrefix: 'container.seccomp.security.alpha.kubernetes.io/',
  /** Followed by the name of a container. */
  appArmorContainerPrefix: 'container.apparmor.security.beta.kubernetes.io/',
  /** On a pod: how much it costs to delete it, beside others of its set. */
  podDeletionCost: fromNeutral('controller.orch/pod-deletion-cost'),
  /** The old home of a pod's tolerations. */
  podTolerations: 'scheduler.alpha.kubernetes.io/tolerations',
  /** The old home of a node's taints, and which pods a node would rather not run. */
  nodeTaints: 'scheduler.alpha.kubernetes.io/taints',
  nodeAvoidsPods: 'scheduler.alpha.kubernetes.io/preferAvoidPods',
  /** On the Secret of a service account token: the account. */
  serviceAccountName: fromNeutral('orch.io/service-account.name'),
  serviceAccountUid: fromNeutral('orch.io/service-account.uid'),
  /** On a Namespace: the nodes its pods run on, and what they tolerate by default and at most. The same in both dialects. */
  namespaceNodeSelector: 'scheduler.alpha.kubernetes.io/node-selector',
  namespaceDefaultTolerations: 'scheduler.alpha.kubernetes.io/defaultTolerations',
  namespaceTolerationsAllowed: 'scheduler.alpha.kubernetes.io/tolerationsWhitelist',
  /** On a service account: its pods may only use the secrets that it lists. */
  enforceMountableSecrets: fromNeutral('orch.io/enforce-mountable-secrets'),
  /** On a pod: what it got from the LimitRanges of its namespace. */
  limitRanger: fromNeutral('orch.io/limit-ranger'),
  /** On a pod: the security policy that admitted it. */
  securityPolicy: fromNeutral('orch.io/psp'),
  /** On a pod, after a word of its author: data for the image policy webhook. */
  imagePolicyInfix: `.${groupFromNeutral('image-policy.orch')}/`,
  /** On a volume: its provisioner. The same in both dialects. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  isDefaultIngressClass: fromNeutral('ingressclass.orch/is-default-class'),
  /** The old home of an Ingress's class. */
  ingressClass: fromNeutral('orch.io/ingress.class'),
  /** The approval of a kind in a group of the project's own. */
  apiApproved: fromNeutral('api-approved.orch'),
  /** The old homes of a Service's source ranges and a claim's class. The same in both dialects, as are those below. */
  loadBalancerSourceRanges: 'service.beta.kubernetes.io/load-balancer-source-ranges',
  betaStorageClass: 'volume.beta.kubernetes.io/storage-class',
  betaMountOptions: 'volume.beta.kubernetes.io/mount-options',
  /** On a Service: how its endpoints are chosen by zone, and the name of the same before. */
  topologyMode: fromNeutral('service.orch/topology-mode'),
  topologyAwareHints: fromNeutral('service.orch/topology-aware-hints'),
  isDefaultStorageClass: fromNeutral('storageclass.orch/is-default-class'),
  betaIsDefaultStorageClass: 'storageclass.beta.kubernetes.io/is-default-class',
  appArmorDefaultProfile: 'apparmor.security.beta.kubernetes.io/defaultProfileName',
  appArmorAllowedProfiles: 'apparmor.security.beta.kubernetes.io/allowedProfileNames',
  seccompDefaultProfile: 'seccomp.security.alpha.kubernetes.io/defaultProfileName',
  seccompAllowedProfiles: 'seccomp.security.alpha.kubernetes.io/allowedProfileNames',
} as const;

/** Keys of the taints that a node has because of its state. */
export const TAINT = {
  notReady: fromNeutral('node.orch/not-ready'),
  unreachable: fromNeutral('node.orch/unreachable'),
  memoryPressure: fromNeutral('node.orch/memory-pressure'),
  diskPressure: fromNeutral('node.orch/disk-pressure'),
  pidPressure: fromNeutral('node.orch/pid-pressure'),
  networkUnavailable: fromNeutral('node.orch/network-unavailable'),
  outOfService: fromNeutral('node.orch/out-of-service'),
  unschedulable: fromNeutral('node.orch/unschedulable'),
} as const;

/** The ConfigMap in every namespace by which pods know the API server, and the key in it. */
export const ROOT_CA = { configMap: fromNeutral('orch-root-ca.crt'), key: 'ca.crt' } as const;

/** Where the containers of a pod find the token of its service account. */
export const SERVICE_ACCOUNT_MOUNT_PATH = `/var/run/secrets/${fromNeutral('orch.io/serviceaccount')}`;

/** On a pod template: the last requested restart of its pods. The same in both dialects. */
export const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

/** Audit annotations of the stages of a request. */
export const AUDIT_ANNOTATION = {
  deprecated: fromNeutral('orch/deprecated'),
  removedRelease: fromNeutral('orch/removed-release'),
  authorizationDecision: `${GROUP.authorization}/decision`,
  authorizationReason: `${GROUP.authorization}/reason`,
  /** A token of a Secret, which has no end, was used; the value is whose. */
  legacyToken: `${GROUP.authentication}/legacy-token`,
  /** A token of a pod was used after the time it should have been renewed. */
  staleToken: `${GROUP.authentication}/stale-token`,
  /** The policy that gave a new pod its context, and the one that validated it. */
  securityPolicyOfAdmission: `${groupFromNeutral('podsecuritypolicy.policy.orch')}/admit-policy`,
  securityPolicyOfValidation: `${groupFromNeutral('podsecuritypolicy.policy.orch')}/validate-policy`,
  /** Annotations requested by the image policy webhook, and `failed-open` if it did not answer. */
  imagePolicyPrefix: `imagepolicywebhook.${groupFromNeutral('image-policy.orch')}/`,
  /** An object was too long for the event and is left out. */
  truncated: `${GROUP.audit}/truncated`,
  /** Validations of policies that failed, for bindings with the action Audit. */
  policyFailure: `${groupFromNeutral('validation.policy.admission.orch')}/validation_failure`,
  /** Effects of admission webhooks, each followed by the webhook. */
  webhookMutation: `${groupFromNeutral('mutation.webhook.admission.orch')}/`,
  webhookPatch: `${groupFromNeutral('patch.webhook.admission.orch')}/`,
  webhookIgnored: {
    mutating: `${groupFromNeutral('failed-open.mutation.webhook.admission.orch')}/`,
    validating: `${groupFromNeutral('failed-open.validating.webhook.admission.orch')}/`,
  },
} as const;

/** The types of Secrets with rules for their content. */
export const SECRET_TYPE = {
  bootstrapToken: fromNeutral('bootstrap.orch/token'),
  serviceAccountToken: fromNeutral('orch.io/service-account-token'),
  dockerConfig: fromNeutral('orch.io/dockercfg'),
  dockerConfigJson: fromNeutral('orch.io/dockerconfigjson'),
  basicAuth: fromNeutral('orch.io/basic-auth'),
  sshAuth: fromNeutral('orch.io/ssh-auth'),
  tls: fromNeutral('orch.io/tls'),
} as const;

/** Upstream's names of its kind tables in refusals. The same in both dialects. */
export const SCHEME = {
  builtIn: 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30',
  apiextensions: 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:52',
  apiregistration: 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:32',
  scales: 'k8s.io/client-go/scale/util.go:146',
} as const;

/** The domain of KWOK's labels and annotations, by which stand-in nodes behave. The same in both dialects, as is the group of metrics. */
export const KWOK_DOMAIN = 'kwok.x-k8s.io';
export const METRICS_GROUP = 'metrics.k8s.io';

/** The group of volume snapshots, whose kinds are custom resources. The same in both dialects. */
export const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';

/** Stands between the name of a storage class and what a quota limits of it. */
export const STORAGE_CLASS_QUOTA = `.storageclass.${GROUP.storage}/`;

/** Suffixes of groups that allow only approved custom resources. */
export const PROTECTED_GROUP_SUFFIXES: readonly string[] = [
  groupFromNeutral('.orch'),
  `.${fromNeutral('orch.io/').slice(0, -1)}`,
];

/** The signers of certificate requests. */
export const SIGNER = {
  apiServerClient: fromNeutral('orch/apiserver-client'),
  apiServerClientNodeAgent: fromNeutral('orch/apiserver-client-node-agent'),
  nodeAgentServing: fromNeutral('orch/node-agent-serving'),
  /** The signer of a certificates v1beta1 request without one. */
  legacyUnknown: fromNeutral('orch/legacy-unknown'),
} as const;

/** Labels of nodes: the namespaces of keys that are the project's own, and what of them a node may set on itself. */
export const NODE_LABEL = {
  /** Keys with these prefixes, or subdomains of them, belong to the project. */
  ownNamespaces: [
    fromNeutral('orch.io/').slice(0, -1),
    'kubernetes.io',
    'k8s.io',
    groupFromNeutral('.orch').slice(1),
  ],
  /** Keys with this prefix, or a subdomain of it, isolate nodes, which must not set them themselves. */
  restrictedNamespace: 'node-restriction.kubernetes.io',
  /** Keys that a node sets on itself. */
  ofNodes: [
    fromNeutral('orch.io/hostname'),
    fromNeutral('orch.io/os'),
    fromNeutral('orch.io/arch'),
    fromNeutral('topology.orch/zone'),
    fromNeutral('topology.orch/region'),
    fromNeutral('node.orch/instance-type'),
    'failure-domain.beta.kubernetes.io/zone',
    'failure-domain.beta.kubernetes.io/region',
    'beta.kubernetes.io/instance-type',
    'beta.kubernetes.io/os',
    'beta.kubernetes.io/arch',
  ],
  /** And namespaces of keys that it may choose freely. */
  namespacesOfNodes: ['kubelet.kubernetes.io', fromNeutral('node.orch/').slice(0, -1)],
} as const;

/** On a volume: where it is, by the names of today and by those of before. */
export const VOLUME_TOPOLOGY_LABELS = [
  { zone: fromNeutral('topology.orch/zone'), region: fromNeutral('topology.orch/region') },
  {
    zone: 'failure-domain.beta.kubernetes.io/zone',
    region: 'failure-domain.beta.kubernetes.io/region',
  },
] as const;

/** Returns names of servers and credential plugins of a dialect that this process need not speak. */
export const namesIn = (of: Dialect) => ({
  apiService: fromNeutral('orch', of),
  publicNamespace: fromNeutral('orch-public', of),
  rbacGroup: groupFromNeutral('rbac.authorization.orch', of),
  certificatesGroup: groupFromNeutral('certificates.orch', of),
  execGroup: groupFromNeutral('client.authentication.orch', of),
  /** The environment variable with the input of a plugin. */
  execVariable: fromNeutral('ORCH_EXEC_INFO', of),
});

/** The group of the policies that the authorization mode ABAC reads from a file. */
export const ABAC_GROUP = fromNeutral('abac.authorization.orch');

/** The user of a node's agent: `system:node:<name>`, in a group. */
export const NODE_USER = { prefix: 'system:node:', group: 'system:nodes' } as const;

export const USER = {
  anonymous: 'system:anonymous',
  apiServer: 'system:apiserver',
  controllerManager: fromNeutral('system:controller-manager'),
  scheduler: fromNeutral('system:scheduler'),
} as const;

/** Health checks of parts of the start: this, and then the name of the part. */
export const HOOK_PREFIX = 'poststarthook/';

/** The parts of the start of an API server, as its health checks call them. */
export const START_HOOK = {
  admission: `start-${fromNeutral('orch-apiserver')}-admission-initializer`,
  informers: 'generic-apiserver-start-informers',
  flowConfigurationConsumer: 'priority-and-fairness-config-consumer',
  flowFilter: 'priority-and-fairness-filter',
  definitionInformers: 'start-apiextensions-informers',
  definitionControllers: 'start-apiextensions-controllers',
  definitionsRead: 'crd-informer-synced',
  bootstrapController: 'bootstrap-controller',
  policy: 'rbac/bootstrap-roles',
  priorityClasses: 'scheduling/bootstrap-system-priority-classes',
  flowConfigurationProducer: 'priority-and-fairness-config-producer',
  authenticationInfo: 'start-cluster-authentication-info-controller',
  identityLease: `start-${fromNeutral('orch-apiserver')}-identity-lease-controller`,
  expiredIdentities: `start-${fromNeutral('orch-apiserver')}-identity-lease-garbage-collector`,
  aggregatorInformers: `start-${fromNeutral('aggregator')}-informers`,
  apiServiceRegistration: 'apiservice-registration-controller',
  apiServiceAvailability: 'apiservice-status-available-controller',
  storageVersions: 'built-in-resources-storage-version-updater',
  autoregistration: `${fromNeutral('orch-apiserver')}-autoregistration`,
  /** The one without the prefix: everything that the server itself serves is registered. */
  autoregisterCompletion: 'autoregister-completion',
  openApi: 'apiservice-openapi-controller',
} as const;

/** The health check of the store where that is etcd. */
export const STORE_CHECK = dialect === 'orch' ? 'store' : 'etcd';

/** As whom the API server owns the fields that it writes by itself. */
export const API_SERVER_MANAGER = fromNeutral('orch-apiserver');

export const USER_GROUP = {
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
} as const;

/** Users and groups of service accounts: `system:serviceaccount:<namespace>:<name>`. */
export const SERVICE_ACCOUNT = {
  userPrefix: 'system:serviceaccount:',
  group: 'system:serviceaccounts',
  /** Followed by the namespace. */
  groupPrefix: 'system:serviceaccounts:',
  /** In the extra of a user with a pod-bound token. The same in both dialects. */
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
} as const;

/** Names in service account tokens. */
export const ACCOUNT_TOKEN = {
  /** The default issuer of tokens. */
  issuer: `https://${API_SERVICE_NAME}.default.svc`,
  /** The claim that holds the account and the object that the token is bound to. */
  claim: fromNeutral('orch.io/').slice(0, -1),
  /** The issuer of tokens in Secrets, which do not expire. */
  legacyIssuer: `${fromNeutral('orch')}/serviceaccount`,
  legacyNamespace: fromNeutral('orch.io/serviceaccount/namespace'),
  legacySecretName: fromNeutral('orch.io/serviceaccount/secret.name'),
  legacyAccountName: fromNeutral('orch.io/serviceaccount/service-account.name'),
  legacyAccountUid: fromNeutral('orch.io/serviceaccount/service-account.uid'),
} as const;

/** Begins the WebSocket subprotocol that carries a bearer token in base64url, for browsers, which cannot send other headers. */
export const WEB_SOCKET_TOKEN_PREFIX = `${groupFromNeutral('base64url.bearer.authorization.orch')}.`;

/** Begins the names that belong to the project itself: labels, resources and options with it are not free to use. */
export const RESERVED_PREFIX = fromNeutral('orch.io/');
