import { describeGates } from '../../../shared/flags/feature-gates';
import type { FlagRow } from '../../../shared/flags/flag-row';
import { LOG_FORMATS } from '../../../shared/log/pino-log';
import { METRIC_FLAGS } from '../../../shared/metrics/metric-choice';
import { apiLevel, API_LEVELS, formatApiLevel } from '../../../shared/api-level';
import { dialect, DIALECTS } from '../../../shared/names';
import { DEFAULT_PLUGIN_NAMES, PLUGIN_NAMES } from '../../kubernetes/admission/plugins';
import { MODES } from '../authorization-modes';
import { STORAGE_GROUP } from '../../engine/storage/backend-row';
import { STORE_FLAGS } from '../../engine/storage/open';
import { ACCOUNT_TOKEN_FLAGS } from './account-token-flags';
import { AUDIT_FLAG_ROWS } from './audit-flag-rows';
import { AUTHENTICATION_FLAGS } from './authentication-flags';
import { AUTHORIZATION_WEBHOOK_FLAGS } from './authorization-webhook-flags';
import { OPERATION_FLAGS } from './operation-flags';
import { OWN_GATES } from './own-gates';
import { FLOW_FLAGS } from './flow-flags';
import { SERVING_FLAGS } from './serving-flags';
import { SHARED_ANSWER_FLAGS } from './shared-answer-options';
import { CONNECT_FLAGS } from './connect-flags';
import { WEBHOOK_FLAGS } from './webhook-flags';

const GROUP = {
  generic: 'Generic',
  watchCache: 'Watch cache',
  authentication: 'Authentication',
  authorization: 'Authorization',
  admission: 'Admission',
  logs: 'Logs',
} as const;

/** The command line of orch-apiserver. Names and defaults are kube-apiserver's where it has the flag. */
export const FLAG_ROWS = [
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: dialect,
    group: GROUP.generic,
    help: 'The dialect of API names: the native one, or that of Kubernetes, which works with unmodified Kubernetes clients. A store keeps the dialect it was first used with.',
  },
  {
    name: 'api-level',
    type: 'enum',
    values: API_LEVELS,
    default: formatApiLevel(apiLevel),
    group: GROUP.generic,
    help: 'The Kubernetes release whose API is served. The answers of 1.21 and 1.36 are compared with those of a real server; the releases between follow from the same tables.',
  },
  {
    name: 'advertise-address',
    type: 'string',
    default: '',
    group: GROUP.generic,
    help: 'The IP address on which to advertise this server to members of the cluster. Defaults to --bind-address; if that is unspecified, to an address of this host.',
  },
  {
    name: 'external-hostname',
    type: 'string',
    default: '',
    group: GROUP.generic,
    help: 'The host name at which external clients reach this server. It is included in the self-signed certificate.',
  },
  {
    name: 'runtime-config',
    type: 'stringList',
    default: [],
    group: GROUP.generic,
    help: 'Enables or disables APIs, as <key>[=true|false]: <group>/<version> for one version of a group; api/all, api/ga, api/beta and api/alpha for all versions of that stability. Alpha versions are disabled by default.',
  },
  {
    name: 'feature-gates',
    type: 'stringList',
    default: [],
    group: GROUP.generic,
    help: `Enables or disables features, as <gate>=<true|false>, separated by commas; the same on all replicas. ${describeGates(OWN_GATES)}`,
  },
  {
    name: 'allow-privileged',
    type: 'bool',
    default: false,
    group: GROUP.generic,
    help: 'Allow privileged containers. If false, pods and pod templates with privileged containers are rejected.',
  },
  {
    name: 'request-timeout',
    type: 'duration',
    default: '1m0s',
    group: GROUP.generic,
    help: 'The maximum duration of a request other than a watch.',
  },
  {
    name: 'min-request-timeout',
    type: 'int',
    unit: 'Seconds',
    default: 1800,
    min: 1,
    group: GROUP.generic,
    help: 'The minimum timeout in seconds of watches that request none. The timeout is chosen at random between this value and twice this value, to spread load.',
  },
  ...FLOW_FLAGS,
  {
    name: 'shutdown-delay-duration',
    type: 'duration',
    default: '0s',
    group: GROUP.generic,
    help: 'How long to keep serving after a termination signal with /readyz failing, so that load balancers notice. Open watches are ended gradually during this time.',
  },
  {
    name: 'livez-grace-period',
    type: 'duration',
    default: '0s',
    group: GROUP.generic,
    help: 'The grace period after the start during which /livez does not fail because of components that are still starting.',
  },
  ...OPERATION_FLAGS,
  {
    name: 'event-ttl',
    type: 'duration',
    default: '1h0m0s',
    group: GROUP.generic,
    help: 'How long to retain Events.',
  },
  {
    name: 'service-cluster-ip-range',
    type: 'string',
    default: '10.0.0.0/24',
    group: GROUP.generic,
    help: 'The CIDR range from which cluster IPs are assigned to Services; with two of different IP families, separated by a comma, Services may have an address of each. It must not overlap with the networks of nodes and pods, and must be the same on all replicas.',
  },
  {
    name: 'service-node-port-range',
    type: 'string',
    default: '30000-32767',
    group: GROUP.generic,
    help: 'The port range from which node ports are assigned to Services of type NodePort and LoadBalancer. It must be the same on all replicas.',
  },
  ...SERVING_FLAGS,
  ...STORE_FLAGS,
  {
    name: 'encryption-provider-config',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'The file with the EncryptionConfiguration: which resources are encrypted in the store, and with which keys or key management service. It must be the same on all replicas.',
  },
  {
    name: 'experimental-encryption-provider-config',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'The former name of --encryption-provider-config.',
    deprecated: 'use --encryption-provider-config',
  },
  {
    name: 'watch-cache-ring-budget',
    type: 'int',
    unit: 'Mb',
    default: 64,
    min: 1,
    group: GROUP.watchCache,
    help: 'The maximum megabytes of recent events that the watch cache keeps for watches that resume.',
  },
  {
    name: 'watch-cache-derived-budget',
    type: 'int',
    unit: 'Mb',
    default: 128,
    min: 1,
    group: GROUP.watchCache,
    help: 'The maximum megabytes of cached encodings of objects in the watch cache.',
  },
  {
    name: 'watch-cache-snapshot-budget',
    type: 'int',
    unit: 'Mb',
    default: 64,
    min: 1,
    group: GROUP.watchCache,
    help: 'The maximum megabytes that the watch cache keeps beyond its newest state in snapshots for exact and paginated lists.',
  },
  {
    name: 'cache-check-interval',
    type: 'duration',
    default: '5m0s',
    group: GROUP.watchCache,
    help: 'How often to check the consistency of the watch cache with the store; the cache of an inconsistent resource is rebuilt. 0 disables the check.',
  },
  {
    name: 'token-auth-file',
    type: 'string',
    default: '',
    group: GROUP.authentication,
    help: 'CSV file of static bearer tokens: token, user name, user uid and, in one quoted field, comma-separated groups. Changes require a restart.',
  },
  ...AUTHENTICATION_FLAGS,
  ...SHARED_ANSWER_FLAGS,
  ...ACCOUNT_TOKEN_FLAGS,
  {
    name: 'anonymous-auth',
    type: 'bool',
    default: true,
    group: GROUP.authentication,
    help: 'Accept requests without credentials as the user system:anonymous. Always disabled with the authorization mode AlwaysAllow.',
  },
  {
    name: 'authorization-mode',
    type: 'stringList',
    values: MODES,
    default: ['AlwaysAllow'],
    group: GROUP.authorization,
    help: 'The authorization modes, in the order in which they are consulted.',
  },
  {
    name: 'authorization-policy-file',
    type: 'string',
    default: '',
    group: GROUP.authorization,
    help: 'The file with the policies of the authorization mode ABAC, one JSON object on each line.',
  },
  ...AUTHORIZATION_WEBHOOK_FLAGS,
  {
    name: 'enable-admission-plugins',
    type: 'stringList',
    values: PLUGIN_NAMES,
    default: [],
    group: GROUP.admission,
    help: `Admission plugins to enable in addition to the default ones (${DEFAULT_PLUGIN_NAMES.join(', ')}). Their order does not matter.`,
  },
  {
    name: 'disable-admission-plugins',
    type: 'stringList',
    values: PLUGIN_NAMES,
    default: [],
    group: GROUP.admission,
    help: 'Default admission plugins to disable.',
  },
  {
    name: 'admission-control-config-file',
    type: 'string',
    default: '',
    group: GROUP.admission,
    help: 'File (YAML or JSON) of kind AdmissionConfiguration. PodNodeSelector, PodTolerationRestriction, ResourceQuota, MutatingAdmissionWebhook and ValidatingAdmissionWebhook can be configured; EventRateLimit and ImagePolicyWebhook must be.',
  },
  {
    name: 'default-not-ready-toleration-seconds',
    type: 'int',
    default: 300,
    min: 0,
    group: GROUP.admission,
    help: 'The tolerationSeconds of the toleration for notReady:NoExecute that is added to every pod without one.',
  },
  {
    name: 'default-unreachable-toleration-seconds',
    type: 'int',
    default: 300,
    min: 0,
    group: GROUP.admission,
    help: 'The tolerationSeconds of the toleration for unreachable:NoExecute that is added to every pod without one.',
  },
  ...WEBHOOK_FLAGS,
  ...AUDIT_FLAG_ROWS,
  ...METRIC_FLAGS,
  ...CONNECT_FLAGS,
  {
    name: 'logging-format',
    type: 'enum',
    values: LOG_FORMATS,
    default: 'text',
    group: GROUP.logs,
    help: 'The log format.',
  },
  {
    name: 'v',
    short: 'v',
    type: 'int',
    default: 0,
    min: 0,
    group: GROUP.logs,
    help: 'The log verbosity; 4 and above include debug messages.',
  },
] as const satisfies readonly FlagRow[];
