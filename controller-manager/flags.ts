import { LOG_FORMATS } from '../shared/log/pino-log';
import { DIALECTS, NAMESPACE, USER, dialect } from '../shared/names';
import { SIGNING_FLAGS } from './certificates/signing-flags';
import { CONTROLLERS } from './controllers';
import { SERVING_FLAGS } from './runtime/serving/serving-flags';

/** The command line. Names, meanings and defaults are those of kube-controller-manager v1.21. */
export const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig that says where the API server is and who this process is there.',
  },
  {
    name: 'controllers',
    type: 'stringList',
    default: ['*'],
    group: 'Generic',
    help: `The controllers to run: * is all, foo is the one named foo, -foo is all but that one. There are: ${namesOf(false)}; and only where they are named ${namesOf(true)}.`,
  },
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: dialect,
    group: 'Generic',
    help: 'The spelling of the names in the API; must be that of the API server.',
  },
  {
    name: 'kube-api-request-timeout',
    type: 'duration',
    default: '30s',
    group: 'Generic',
    help: 'How long one request to the API server may take.',
  },
  {
    name: 'use-service-account-credentials',
    type: 'bool',
    default: false,
    group: 'Generic',
    help: 'Let each controller act as a service account of its own, which has no more rights than the controller needs. The user of the kubeconfig then needs to list and watch everything, and to make accounts and their tokens.',
  },
  ...SERVING_FLAGS,
  {
    name: 'leader-elect',
    type: 'bool',
    default: true,
    group: 'Leader election',
    help: 'Work only while holding a lease, so that of several processes one works and the others stand by.',
  },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    group: 'Leader election',
    help: 'How long the others wait for a leader that does not renew its lease.',
  },
  {
    name: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    group: 'Leader election',
    help: 'How long a leader tries to renew before it stops leading. Shorter than the lease duration.',
  },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    group: 'Leader election',
    help: 'The time between two tries to get or renew the lease.',
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
    help: 'How many namespaces are worked on at once.',
  },
  {
    name: 'namespace-sync-period',
    type: 'duration',
    default: '5m',
    group: 'Namespace controller',
    help: 'How often terminating namespaces are looked at again without cause.',
  },
  {
    name: 'enable-garbage-collector',
    type: 'bool',
    default: true,
    group: 'Garbage collector controller',
    help: 'Delete objects whose owners are gone, and let go of owners that wait for their dependents.',
  },
  {
    name: 'concurrent-gc-syncs',
    type: 'int',
    default: 20,
    min: 1,
    max: 1000,
    group: 'Garbage collector controller',
    help: 'How many owners and dependents are worked on at once.',
  },
  {
    name: 'concurrent-resource-quota-syncs',
    type: 'int',
    default: 5,
    min: 1,
    max: 1000,
    group: 'ResourceQuota controller',
    help: 'How many quotas are calculated at once.',
  },
  {
    name: 'resource-quota-sync-period',
    type: 'duration',
    default: '5m',
    group: 'ResourceQuota controller',
    help: 'How often what is used of every quota is calculated anew without cause.',
  },
  {
    name: 'root-ca-file',
    type: 'string',
    default: '',
    group: 'Root CA publisher',
    help: 'The certificates (PEM) by which pods know the API server. By default those in the kubeconfig by which this process knows it.',
  },
  ...SIGNING_FLAGS,
  {
    name: 'logging-format',
    type: 'enum',
    values: LOG_FORMATS,
    default: 'text',
    group: 'Logs',
    help: 'The form of the log.',
  },
  {
    name: 'v',
    short: 'v',
    type: 'int',
    default: 0,
    min: 0,
    max: 10,
    group: 'Logs',
    help: 'How much is logged.',
  },
] as const;

function namesOf(isOffByDefault: boolean): string {
  const some = CONTROLLERS.filter((each) => (each.isOffByDefault ?? false) === isOffByDefault);
  return some.map(({ name }) => name).join(', ');
}
