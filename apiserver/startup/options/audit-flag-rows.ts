import { AUDIT_LOG_FORMATS, AUDIT_MODES } from '../../audit/audit-options';
import type { FlagRow } from '../../../shared/flags/flag-row';
import { AUDIT_VERSIONS } from '../../audit/event';
import { GROUP as API_GROUP } from '../../../shared/names';

const GROUP = 'Auditing';
const VERSIONS = AUDIT_VERSIONS.map((version) => `${API_GROUP.audit}/${version}`);
const VERSION = `${API_GROUP.audit}/v1`;

interface Defaults<Mode extends string> {
  readonly mode: Mode;
  readonly batchSize: number;
  readonly batchWait: string;
  readonly throttle: boolean;
  readonly rate: string;
  readonly burst: number;
}

/** The flags that both backends have. */
function backendRows<Name extends 'log' | 'webhook', Mode extends string>(
  name: Name,
  defaults: Defaults<Mode>,
) {
  return [
    {
      name: `audit-${name}-mode`,
      type: 'enum',
      values: AUDIT_MODES,
      default: defaults.mode,
      group: GROUP,
      help: 'Whether requests wait until their events are written (blocking), are also refused when the first one cannot be (blocking-strict), or events are collected and written behind their back (batch).',
    },
    {
      name: `audit-${name}-version`,
      type: 'enum',
      values: VERSIONS,
      default: VERSION,
      group: GROUP,
      help: 'The API version in which events are written.',
    },
    ...batchRows(name, defaults),
    ...truncateRows(name),
  ] as const;
}

function batchRows<Name extends 'log' | 'webhook'>(name: Name, defaults: Defaults<string>) {
  return [
    {
      name: `audit-${name}-batch-buffer-size`,
      type: 'int',
      unit: 'Events',
      default: 10_000,
      min: 0,
      group: GROUP,
      help: 'How many events may wait to be written; more are dropped and counted. For the mode batch.',
    },
    {
      name: `audit-${name}-batch-max-size`,
      type: 'int',
      unit: 'Events',
      default: defaults.batchSize,
      min: 0,
      group: GROUP,
      help: 'How many events a batch may have. For the mode batch.',
    },
    {
      name: `audit-${name}-batch-max-wait`,
      type: 'duration',
      default: defaults.batchWait,
      group: GROUP,
      help: 'How long a batch that is not full waits for more events. For the mode batch.',
    },
    {
      name: `audit-${name}-batch-throttle-enable`,
      type: 'bool',
      default: defaults.throttle,
      group: GROUP,
      help: 'Whether the number of batches per second is limited. For the mode batch.',
    },
    {
      name: `audit-${name}-batch-throttle-qps`,
      type: 'string',
      default: defaults.rate,
      group: GROUP,
      help: 'How many batches may be written per second on average; a fraction is possible. For the mode batch.',
    },
    {
      name: `audit-${name}-batch-throttle-burst`,
      type: 'int',
      default: defaults.burst,
      min: 0,
      group: GROUP,
      help: 'How many batches may be written at once after a pause. For the mode batch.',
    },
  ] as const;
}

function truncateRows<Name extends 'log' | 'webhook'>(name: Name) {
  return [
    {
      name: `audit-${name}-truncate-enabled`,
      type: 'bool',
      default: false,
      group: GROUP,
      help: 'Whether the sizes of events and batches are limited.',
    },
    {
      name: `audit-${name}-truncate-max-event-size`,
      type: 'int',
      unit: 'Bytes',
      default: 102_400,
      min: 1,
      group: GROUP,
      help: 'The longest event in bytes. A longer one goes without the objects of request and answer; if that does not help, it is dropped.',
    },
    {
      name: `audit-${name}-truncate-max-batch-size`,
      type: 'int',
      unit: 'Bytes',
      default: 10_485_760,
      min: 1,
      group: GROUP,
      help: 'The longest batch in bytes; what is more goes into the next one.',
    },
  ] as const;
}

/** What of the requests is written down, and where. Names and defaults are kube-apiserver's. */
export const AUDIT_FLAG_ROWS = [
  {
    name: 'audit-policy-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The file that tells what is written down of which requests. Without it nothing is audited.',
  },
  {
    name: 'audit-log-path',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The file that audit events are written to; - is the standard output. If empty, there is no audit log.',
  },
  {
    name: 'audit-log-format',
    type: 'enum',
    values: AUDIT_LOG_FORMATS,
    default: 'json',
    group: GROUP,
    help: 'How events look in the audit log: one JSON object a line, or one line of text without the objects (legacy).',
  },
  {
    name: 'audit-log-maxage',
    type: 'int',
    unit: 'Days',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'After how many days old audit logs are removed, by the time in their names. 0 is never.',
  },
  {
    name: 'audit-log-maxbackup',
    type: 'int',
    unit: 'Files',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'How many old audit logs are kept. 0 is any number.',
  },
  {
    name: 'audit-log-maxsize',
    type: 'int',
    unit: 'Mb',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'At how many megabytes a new audit log is begun and the old one renamed. 0 is 100.',
  },
  {
    name: 'audit-log-compress',
    type: 'bool',
    default: false,
    group: GROUP,
    help: 'Compress old audit logs with gzip.',
  },
  ...backendRows('log', {
    mode: 'blocking',
    batchSize: 1,
    batchWait: '0s',
    throttle: false,
    rate: '0',
    burst: 0,
  }),
  {
    name: 'audit-webhook-config-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'A kubeconfig whose server audit events are sent to. If empty, there is no audit webhook.',
  },
  {
    name: 'audit-webhook-initial-backoff',
    type: 'duration',
    default: '10s',
    group: GROUP,
    help: 'How long to wait before events that the webhook did not take are sent again.',
  },
  ...backendRows('webhook', {
    mode: 'batch',
    batchSize: 400,
    batchWait: '30s',
    throttle: true,
    rate: '10',
    burst: 15,
  }),
] as const satisfies readonly FlagRow[];
