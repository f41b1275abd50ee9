import { describeGates } from '../shared/flags/feature-gates';
import { LOG_FORMATS } from '../shared/log/pino-log';
import { METRIC_FLAGS } from '../shared/metrics/metric-choice';
import { DIALECTS, NAMESPACE, USER, dialect } from '../shared/names';
import { SIGNING_FLAGS } from './certificates/signing-flags';
import { CONTROLLERS } from './controllers';
import { MANAGER_GATES } from './runtime/controller';
import { SERVING_FLAGS } from './runtime/serving/serving-flags';

/** The flags, with the names, meanings and defaults of kube-controller-manager v1.21. */
export const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig file with the address of the API server and the credentials of this process.',
  },
  {
    name: 'controllers',
    type: 'stringList',
    default: ['*'],
    group: 'Generic',
    help: `The controllers to enable: * enables all that are on by default, foo enables the controller foo, -foo disables it. On by default: ${namesOf(false)}. Off by default: ${namesOf(true)}. storage-version-gc is only there with the feature gates APIServerIdentity and StorageVersionAPI.`,
  },
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: dialect,
    group: 'Generic',
    help: 'The dialect of API names; must be that of the API server.',
  },
  {
    name: 'feature-gates',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: `Enables or disables features, as <gate>=<true|false>, separated by commas. All of Kubernetes are taken, so that one value serves all programs of a cluster. ${describeGates(MANAGER_GATES)}`,
  },
  {
    name: 'kube-api-request-timeout',
    type: 'duration',
    default: '30s',
    group: 'Generic',
    help: 'The timeout of a request to the API server.',
  },
  {
    name: 'use-service-account-credentials',
    type: 'bool',
    default: false,
    group: 'Generic',
    help: 'Use a separate service account with least privilege for each controller. The user of the kubeconfig must then be allowed to list and watch everything, and to create service accounts and their tokens.',
  },
  ...SERVING_FLAGS,
  ...METRIC_FLAGS,
  {
    name: 'leader-elect',
    type: 'bool',
    default: true,
    group: 'Leader election',
    help: 'Run the controllers only while holding the leader election lease, so that one of several replicas is active and the others stand by.',
  },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    group: 'Leader election',
    help: 'How long candidates wait after the last renewal of the lease before they try to acquire it.',
  },
  {
    name: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    group: 'Leader election',
    help: 'How long the leader retries to renew its lease before it gives up leadership. Must be shorter than the lease duration.',
  },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    group: 'Leader election',
    help: 'The time between two attempts to acquire or renew the lease.',
  },
  {
    name: 'leader-elect-resource-name',
    type: 'string',
    default: USER.controllerManager.replace(/^system:/, ''),
    group: 'Leader election',
    help: 'The name of the lease.',
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    default: NAMESPACE.system,
    group: 'Leader election',
    help: 'The namespace of the lease.',
  },
  {
    name: 'concurrent-namespace-syncs',
    type: 'int',
    default: 10,
    min: 1,
    max: 1000,
    group: 'Namespace controller',
    help: 'The number of namespaces that are reconciled concurrently.',
  },
  {
    name: 'namespace-sync-period',
    type: 'duration',
    default: '5m',
    group: 'Namespace controller',
    help: 'The resync period of terminating namespaces.',
  },
  {
    name: 'enable-garbage-collector',
    type: 'bool',
    default: true,
    group: 'Garbage collector controller',
    help: 'Enable the garbage collector: it deletes objects whose owners no longer exist, and handles foreground deletion and orphaning.',
  },
  {
    name: 'concurrent-gc-syncs',
    type: 'int',
    default: 20,
    min: 1,
    max: 1000,
    group: 'Garbage collector controller',
    help: 'The number of garbage collector workers.',
  },
  {
    name: 'concurrent-resource-quota-syncs',
    type: 'int',
    default: 5,
    min: 1,
    max: 1000,
    group: 'ResourceQuota controller',
    help: 'The number of resource quotas that are reconciled concurrently.',
  },
  {
    name: 'resource-quota-sync-period',
    type: 'duration',
    default: '5m',
    group: 'ResourceQuota controller',
    help: 'The period after which the usage of every quota is recalculated.',
  },
  {
    name: 'service-account-private-key-file',
    type: 'string',
    default: '',
    group: 'Service account tokens',
    help: 'The private key (PEM) that signs the tokens of service accounts in Secrets; the API server must know it (--service-account-key-file). If empty, the controller serviceaccount-token does nothing.',
  },
  {
    name: 'concurrent-serviceaccount-token-syncs',
    type: 'int',
    default: 5,
    min: 1,
    max: 1_000,
    group: 'Service account tokens',
    help: 'The number of service accounts and of their Secrets that are worked on at once.',
  },
  {
    name: 'root-ca-file',
    type: 'string',
    default: '',
    group: 'Root CA publisher',
    help: 'CA bundle (PEM) that is published to pods, and put into the Secrets of service accounts, for verifying the API server. Defaults to that of the kubeconfig.',
  },
  ...SIGNING_FLAGS,
  {
    name: 'logging-format',
    type: 'enum',
    values: LOG_FORMATS,
    default: 'text',
    group: 'Logs',
    help: 'The log format.',
  },
  {
    name: 'v',
    short: 'v',
    type: 'int',
    default: 0,
    min: 0,
    max: 10,
    group: 'Logs',
    help: 'The log verbosity; 4 and above include debug messages.',
  },
] as const;

function namesOf(isOffByDefault: boolean): string {
  const some = CONTROLLERS.filter((each) => (each.isOffByDefault ?? false) === isOffByDefault);
  return some.map(({ name }) => name).join(', ');
}
