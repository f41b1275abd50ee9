import { AUDIT_LOG_FORMATS, AUDIT_MODES } from '../../engine/audit/audit-options';
import type { FlagRow } from '../../../shared/flags/flag-row';
import { AUDIT_VERSIONS } from '../../engine/audit/event';
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
      help: 'How audit events are written: blocking makes requests wait until they are written, blocking-strict also rejects a request whose first event cannot be written, batch buffers them and writes them asynchronously.',
    },
    {
      name: `audit-${name}-version`,
      type: 'enum',
      values: VERSIONS,
      default: VERSION,
      group: GROUP,
      help: 'The API version of the written audit events.',
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
      help: 'The maximum number of buffered events; further events are dropped and counted. Only in batch mode.',
    },
    {
      name: `audit-${name}-batch-max-size`,
      type: 'int',
      unit: 'Events',
      default: defaults.batchSize,
      min: 0,
      group: GROUP,
      help: 'The maximum number of events in a batch. Only in batch mode.',
    },
    {
      name: `audit-${name}-batch-max-wait`,
      type: 'duration',
      default: defaults.batchWait,
      group: GROUP,
      help: 'The maximum time to wait before a batch that is not full is written. Only in batch mode.',
    },
    {
      name: `audit-${name}-batch-throttle-enable`,
      type: 'bool',
      default: defaults.throttle,
      group: GROUP,
      help: 'Enable throttling of batches. Only in batch mode.',
    },
    {
      name: `audit-${name}-batch-throttle-qps`,
      type: 'string',
      default: defaults.rate,
      group: GROUP,
      help: 'The average maximum number of batches per second; fractions are allowed. Only in batch mode.',
    },
    {
      name: `audit-${name}-batch-throttle-burst`,
      type: 'int',
      default: defaults.burst,
      min: 0,
      group: GROUP,
      help: 'The maximum burst of batches when the rate limit was not used before. Only in batch mode.',
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
      help: 'Enable truncation of large events and batches.',
    },
    {
      name: `audit-${name}-truncate-max-event-size`,
      type: 'int',
      unit: 'Bytes',
      default: 102_400,
      min: 1,
      group: GROUP,
      help: 'The maximum size of an event in bytes. The request and response objects of a larger event are removed; if it is still too large, it is dropped.',
    },
    {
      name: `audit-${name}-truncate-max-batch-size`,
      type: 'int',
      unit: 'Bytes',
      default: 10_485_760,
      min: 1,
      group: GROUP,
      help: 'The maximum size of a batch in bytes; a larger batch is split.',
    },
  ] as const;
}

/** The flags of audit. Names and defaults are kube-apiserver's. */
export const AUDIT_FLAG_ROWS = [
  {
    name: 'audit-policy-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The audit policy file. If empty, auditing is disabled.',
  },
  {
    name: 'audit-log-path',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The file that audit events are written to; - means standard output. If empty, the audit log is disabled.',
  },
  {
    name: 'audit-log-format',
    type: 'enum',
    values: AUDIT_LOG_FORMATS,
    default: 'json',
    group: GROUP,
    help: 'The format of the audit log: one JSON object per line (json), or one line of text per event without objects (legacy).',
  },
  {
    name: 'audit-log-maxage',
    type: 'int',
    unit: 'Days',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'The maximum number of days to retain old audit log files, by the timestamp in their names. 0 means no limit.',
  },
  {
    name: 'audit-log-maxbackup',
    type: 'int',
    unit: 'Files',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'The maximum number of old audit log files to retain. 0 means no limit.',
  },
  {
    name: 'audit-log-maxsize',
    type: 'int',
    unit: 'Mb',
    default: 0,
    min: 0,
    group: GROUP,
    help: 'The maximum size of the audit log file in megabytes before it is rotated. 0 means 100.',
  },
  {
    name: 'audit-log-compress',
    type: 'bool',
    default: false,
    group: GROUP,
    help: 'Compress rotated audit log files with gzip.',
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
    help: 'File in kubeconfig format with the address and credentials of the audit webhook. If empty, the audit webhook is disabled.',
  },
  {
    name: 'audit-webhook-initial-backoff',
    type: 'duration',
    default: '10s',
    group: GROUP,
    help: 'How long to wait before the first failed request to the webhook is retried.',
  },
  {
    name: 'audit-webhook-batch-initial-backoff',
    type: 'duration',
    default: '0s',
    group: GROUP,
    help: 'The former name of --audit-webhook-initial-backoff; takes precedence over it unless 0.',
    deprecated: 'use --audit-webhook-initial-backoff',
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
