import type { Spanned } from '../api-level';
import { isAtLevel } from '../api-level';

/**
 * Changes of behaviour between releases that have neither a row of their own in the other tables nor a feature gate: the first release that
 * behaves so, or with `until` the last one. In alphabetical order.
 */
const CHANGES = {
  /** Volumes may be for one pod alone: the access mode `ReadWriteOncePod`. */
  accessOfOnePod: { since: '1.22' },
  /** Errors of addresses and networks are at their element of a list, and have one text in all kinds. */
  addressErrors: { since: '1.33' },
  /** Policies and match conditions are counted. */
  admissionExpressions: { since: '1.26' },
  /** Errors of label selectors in pod affinity terms are at `labelSelector`. */
  affinitySelectorPaths: { since: '1.26' },
  /** IPv6 addresses of endpoints are in canonical form, and unchanged endpoints are not validated again. */
  canonicalEndpoints: { since: '1.33' },
  /** Most fields of a CSIDriver may change. */
  csiDriverChanges: { since: '1.23' },
  /** Secrets of CSI volumes have names of objects, and the paths of errors name them. */
  csiSecretNames: { since: '1.25' },
  /** Each source of a claim is copied to the other field, and both are validated. */
  dataSourceRefs: { since: '1.24' },
  /** Options of `dnsConfig` of pods are limited to 32 search paths and 2048 characters, instead of 6 and 256. */
  dnsSearchLimits: { since: '1.26' },
  /** Jobs with an index for each pod may change their completions together with their parallelism. */
  elasticIndexedJobs: { since: '1.27' },
  /** Ephemeral containers may not mount parts of volumes, and what they may not have is not validated besides. */
  ephemeralContainerRules: { since: '1.25' },
  /** `pods/ephemeralcontainers` shows the pod. */
  ephemeralContainersOfPods: { since: '1.22' },
  /** The class annotation of an Ingress may equal its class. */
  equalIngressClasses: { since: '1.27' },
  /** Errors of events in the core group name `reportingComponent`. */
  eventComponents: { since: '1.23' },
  /** Services with external IPs have an external traffic policy, too. */
  externallyAccessibleServices: { since: '1.23' },
  /** Errors of handlers and probes come after those of all other fields of a container. */
  handlersAreLast: { since: '1.25' },
  /** An empty handler of a RuntimeClass is missing instead of invalid. */
  handlersAreRequired: { since: '1.36' },
  /** The paths of errors of `hostAliases` have indices. */
  hostAliasIndices: { since: '1.30' },
  /** Variables may show `status.hostIPs`. */
  hostIPsInVariables: { since: '1.29' },
  /** With `hostNetwork`, templates may leave host ports out, and a wrong one is an error of `hostPort`. */
  hostPortsOfTemplates: { since: '1.28' },
  /** Sysctls of a namespace that the pod shares with its host are refused. */
  hostSysctls: { since: '1.29' },
  /** Changed parameters of a StorageClass are invalid instead of forbidden. */
  immutableStorageClasses: { since: '1.36' },
  /** The names of indexed Jobs leave room for an index in host names. */
  indexedHostnames: { since: '1.23' },
  /** Handlers and probes of init containers that end are forbidden, and not validated besides. */
  initContainerHandlers: { since: '1.28' },
  /** Jobs count their pods by a finalizer of each. */
  jobFinalizers: { since: '1.31' },
  /** Jobs have labels with the domain of their group besides the old ones. */
  jobLabelsWithDomain: { since: '1.27' },
  /** New StatefulSets are named by DNS labels. */
  labelNamesOfStatefulSets: { since: '1.27' },
  /** Values of label selectors in `matchExpressions` are validated as label values. */
  labelSelectorValues: { since: '1.31' },
  /** The ID that a CSI driver has for a node has up to 256 bytes. */
  longNodeIds: { since: '1.22' },
  /** `manualSelector` of Jobs is false by default. */
  manualSelectorDefault: { since: '1.31' },
  /** `minReadySeconds` of StatefulSets is validated. */
  minReadyOfStatefulSets: { since: '1.22' },
  /** A negative grace period of a pod becomes 1. */
  negativeGracePeriods: { since: '1.27' },
  /** Values of required node affinity terms are validated as label values. */
  nodeAffinityValues: { since: '1.32' },
  /** Load balancers may expose the port of node agents. */
  nodeAgentPorts: { since: '1.33' },
  /** What a new ControllerRevision remembers is an object. */
  objectsInRevisions: { since: '1.31' },
  /** Pods have a generation. */
  podGenerations: { since: '1.33' },
  /** Pods can be selected by `spec.hostNetwork`. */
  podHostNetworkSelector: { since: '1.30' },
  /** The quality of service class of a pod may not change. */
  podQosIsFixed: { since: '1.27' },
  /** Templates of pods and claims in StatefulSets are validated as a whole. */
  podRulesOfStatefulSets: { since: '1.34' },
  /** Tables of PriorityClasses show the preemption policy. */
  preemptionPolicyColumn: { since: '1.32' },
  /** The path of a changed value of a PriorityClass is `value`. */
  priorityValuePaths: { since: '1.25' },
  /** Grace periods of probes are positive. */
  probeGracePeriods: { since: '1.22' },
  /** The path of a projected token stays inside its volume. */
  projectedTokenPaths: { since: '1.30' },
  /** Tables of ResourceQuotas end with the age. */
  quotaAgeColumnLast: { since: '1.32' },
  /** Rules of custom resources that fail on unchanged parts only warn. */
  ratchetedRules: { since: '1.30' },
  /** Disks that many pods of one template mount must be read-only. */
  readOnlySharedDisks: { until: '1.27' },
  /** Tables of CertificateSigningRequests show the requested duration. */
  requestedDurationColumn: { since: '1.22' },
  /** The history of StatefulSets can be limited otherwise. */
  revisionHistoryOfStatefulSets: { since: '1.33' },
  /** What an autoscaler scales is of a group that it names. */
  scaledGroups: { since: '1.34' },
  /** A missing maximum of replicas is a required value. */
  scaledMaximum: { since: '1.36' },
  /** Seccomp annotations and fields of new pods are no longer copied from each other. */
  seccompFieldsOnly: { since: '1.27' },
  /** The paths of missing keys of a Secret name them. */
  secretKeyPaths: { since: '1.24' },
  /** Tables of ServiceAccounts show the number of Secrets. */
  secretsColumn: { until: '1.31' },
  /** The name of the Service of a new StatefulSet is a DNS label. */
  serviceNamesOfStatefulSets: { since: '1.33' },
  /** The scheduling directives of a suspended Job that never started may change. */
  suspendedJobTemplates: { since: '1.23' },
  /** The parts of the name of a sysctl may be separated by slashes. */
  sysctlSlashes: { since: '1.23' },
  /** Pod templates, Jobs and CronJobs have a generation. */
  templateGenerations: { since: '1.23' },
  /** An unknown policy of termination messages is an unsupported value. */
  terminationMessagePolicies: { since: '1.25' },
  /** Schedules of CronJobs name no time zone. */
  timeZonesInFields: { since: '1.25' },
  /** The label selectors of topology spread constraints are validated. */
  topologySpreadSelectors: { since: '1.25' },
  /** Unmasked `/proc` needs a user namespace. */
  unmaskedProcMounts: { since: '1.30' },
  /** Validation rules of custom resources are evaluated. */
  validationRules: { since: '1.25' },
  /** Tables of volumes and claims show the class of attributes. */
  volumeAttributesColumns: { since: '1.29' },
  /** Writes warn of fields of valid objects that are deprecated or hardly meant so. */
  warningsOfObjects: { since: '1.22' },
  /** A limited priority level may have no concurrency shares of its own. */
  zeroConcurrencyShares: { since: '1.29' },
} as const satisfies Readonly<Record<string, Spanned>>;

export type Change = keyof typeof CHANGES;

/** Returns whether a change of behaviour is in force at the API level of this process. */
export function isInForce(change: Change): boolean {
  return isAtLevel(CHANGES[change]);
}
