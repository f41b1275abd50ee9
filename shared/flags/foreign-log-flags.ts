import type { ForeignFlag } from './foreign-flag';

const LOG = 'the log goes to standard error, one line for each message';

/** Flags of the logging library that all programs of Kubernetes v1.21 have. */
export const FOREIGN_LOG_FLAGS: readonly ForeignFlag[] = [
  { name: 'add-dir-header', isSwitch: true, reason: LOG },
  { name: 'alsologtostderr', isSwitch: true, reason: LOG },
  { name: 'experimental-logging-sanitization', isSwitch: true, reason: 'secrets are never logged' },
  { name: 'log-backtrace-at', reason: LOG },
  { name: 'log-dir', taken: [''], reason: LOG },
  { name: 'log-file', taken: [''], reason: LOG },
  { name: 'log-file-max-size', reason: LOG },
  { name: 'log-flush-frequency', reason: LOG },
  { name: 'logtostderr', isSwitch: true, taken: ['true'], reason: LOG },
  { name: 'one-output', isSwitch: true, reason: LOG },
  { name: 'skip-headers', isSwitch: true, reason: LOG },
  { name: 'skip-log-headers', isSwitch: true, reason: LOG },
  { name: 'stderrthreshold', reason: LOG },
  { name: 'vmodule', taken: [''], reason: 'verbosity is one for all modules, see -v' },
];
