import { apiLevel, API_LEVELS, formatApiLevel } from '../../shared/api-level';
import { LOG_FORMATS } from '../../shared/log/pino-log';
import { DIALECTS, NAMESPACE, dialect } from '../../shared/names';

/** Flags that several programs have. */

export const API_LEVEL_FLAG = {
  name: 'api-level',
  type: 'enum',
  values: API_LEVELS,
  default: formatApiLevel(apiLevel),
  group: 'Generic',
  help: 'The Kubernetes release whose API the API server serves; must not be older than that of the API server, whose newer fields would be lost.',
} as const;

export const DIALECT_FLAG = {
  name: 'dialect',
  type: 'enum',
  values: DIALECTS,
  default: dialect,
  group: 'Generic',
  help: 'The dialect of API names; must be that of the API server.',
} as const;

export const LOG_FLAGS = [
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

/** Returns the flags of leader election with this default name of the lease. */
export const electionFlags = <const Lease extends string>(lease: Lease) =>
  [
    {
      name: 'leader-elect',
      type: 'bool',
      default: true,
      group: 'Leader election',
      help: 'Work only while holding the leader election lease, so that one of several replicas is active and the others stand by.',
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
      default: lease,
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
  ] as const;

/** The values of these flags. */
export interface ElectionFlags {
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDurationMs: number;
  readonly leaderElectRenewDeadlineMs: number;
  readonly leaderElectRetryPeriodMs: number;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
}

/** Returns what is wrong with the values, one sentence each. */
export function electionProblems(values: ElectionFlags): string[] {
  if (!values.leaderElect) return [];
  const { leaderElectLeaseDurationMs, leaderElectRenewDeadlineMs, leaderElectRetryPeriodMs } = values;
  return [
    ...(leaderElectRetryPeriodMs > 0 ? [] : ['--leader-elect-retry-period must be more than 0']),
    ...(leaderElectLeaseDurationMs > leaderElectRenewDeadlineMs
      ? []
      : ['--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline']),
    ...(leaderElectRenewDeadlineMs > 1.2 * leaderElectRetryPeriodMs
      ? []
      : ['--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period']),
  ];
}

/** Returns the options of the election; undefined without one. */
export function electionOf(values: ElectionFlags) {
  return values.leaderElect
    ? {
        lease: {
          namespace: values.leaderElectResourceNamespace,
          name: values.leaderElectResourceName,
        },
        leaseDurationMs: values.leaderElectLeaseDurationMs,
        renewDeadlineMs: values.leaderElectRenewDeadlineMs,
        retryPeriodMs: values.leaderElectRetryPeriodMs,
      }
    : undefined;
}
