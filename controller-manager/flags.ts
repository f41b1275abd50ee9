import { describeGates } from '../shared/flags/feature-gates';
import { METRIC_FLAGS } from '../shared/metrics/metric-choice';
import { USER } from '../shared/names';
import { SIGNING_FLAGS } from './certificates/signing-flags';
import { CONTROLLERS } from './controllers';
import { MANAGER_GATES } from './runtime/controller-options';
import { API_LEVEL_FLAG, DIALECT_FLAG, electionFlags, LOG_FLAGS } from './runtime/program-flags';
import { SERVING_FLAGS } from './runtime/serving/serving-flags';
import { WORKLOAD_FLAGS } from './workload-flags';

const LEASE = USER.controllerManager.replace(/^system:/, '');

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
    help: `The controllers to enable: * enables all that are on by default, foo enables the controller foo, -foo disables it. On by default: ${namesOf(false)}. Off by default: ${namesOf(true)}. storage-version-gc is only there with the feature gates APIServerIdentity and StorageVersionAPI. Not part of this program: volumes, autoscaling, the node lifecycle, cloud routes and load balancers. Beside Kubernetes' own controller manager with another lease, disable here what it runs: two that both make pods of one object disturb each other.`,
  },
  DIALECT_FLAG,
  API_LEVEL_FLAG,
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
  ...electionFlags(LEASE),
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
  ...WORKLOAD_FLAGS,
  ...LOG_FLAGS,
] as const;

function namesOf(isOffByDefault: boolean): string {
  const some = CONTROLLERS.filter((each) => (each.isOffByDefault ?? false) === isOffByDefault);
  return some.map(({ name }) => name).join(', ');
}
