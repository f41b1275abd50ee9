import type { FlagValues } from '../../../shared/flags/flag-row';
import type { AuditBackendOptions, AuditOptions } from '../../engine/audit/audit-options';
import type { BatchOptions } from '../../engine/audit/batch';
import { AUDIT_VERSIONS } from '../../engine/audit/event';
import type { AUDIT_FLAG_ROWS } from './audit-flag-rows';

export type AuditFlags = FlagValues<typeof AUDIT_FLAG_ROWS>;

const MB = 1_048_576;
const DEFAULT_MAXSIZE_MB = 100;

/** The flag names differ in one word. */
const BACKENDS = [
  { word: 'Log', name: 'log' },
  { word: 'Webhook', name: 'webhook' },
] as const;
type Word = (typeof BACKENDS)[number]['word'];

/** Returns the errors of the flags, one sentence each. */
export function auditErrors(flags: AuditFlags): string[] {
  return BACKENDS.filter(({ word }) => isUsed(flags, word)).flatMap(({ word, name }) => {
    const errors: string[] = [];
    const batch = batchOptions(flags, word);
    if (flags[`audit${word}Mode`] === 'batch') {
      if (batch.bufferEventsMax < 1) errors.push(`--audit-${name}-batch-buffer-size must be at least 1`);
      if (batch.batchEventsMax < 1) errors.push(`--audit-${name}-batch-max-size must be at least 1`);
      if (batch.throttle !== undefined && !(batch.throttle.perSecond > 0))
        errors.push(`--audit-${name}-batch-throttle-qps must be a number above 0`);
      if (batch.throttle !== undefined && batch.throttle.burst < 1)
        errors.push(`--audit-${name}-batch-throttle-burst must be at least 1`);
    }
    const longestEvent = flags[`audit${word}TruncateMaxEventSizeBytes`];
    if (flags[`audit${word}TruncateMaxBatchSizeBytes`] < longestEvent) {
      errors.push(
        `--audit-${name}-truncate-max-batch-size must not be below --audit-${name}-truncate-max-event-size`,
      );
    }
    return errors;
  });
}

/** Returns warnings to log at startup. */
export function auditWarnings(flags: AuditFlags): string[] {
  const backends = BACKENDS.filter(({ word }) => isUsed(flags, word));
  if (flags.auditPolicyFile !== '' && backends.length === 0) {
    return ['Nothing is audited: --audit-policy-file needs --audit-log-path or --audit-webhook-config-file.'];
  }
  if (flags.auditPolicyFile === '' && backends.length > 0) {
    return ['Nothing is audited: there is no --audit-policy-file.'];
  }
  return [];
}

/** Returns undefined if nothing is audited. */
export function auditOptions(flags: AuditFlags): AuditOptions | undefined {
  const usesLog = isUsed(flags, 'Log');
  const usesWebhook = isUsed(flags, 'Webhook');
  if (flags.auditPolicyFile === '' || !(usesLog || usesWebhook)) return undefined;
  const log = {
    ...backendOptions(flags, 'Log'),
    file: flags.auditLogPath,
    format: flags.auditLogFormat,
    bytesMax: (flags.auditLogMaxsizeMb || DEFAULT_MAXSIZE_MB) * MB,
    backupsMax: flags.auditLogMaxbackupFiles,
    ageDaysMax: flags.auditLogMaxageDays,
    compress: flags.auditLogCompress,
  };
  const webhook = {
    ...backendOptions(flags, 'Webhook'),
    configFile: flags.auditWebhookConfigFile,
    initialBackoffMs: flags.auditWebhookBatchInitialBackoffMs || flags.auditWebhookInitialBackoffMs,
  };
  return {
    policyFile: flags.auditPolicyFile,
    ...(usesLog ? { log } : {}),
    ...(usesWebhook ? { webhook } : {}),
  };
}

function isUsed(flags: AuditFlags, word: Word): boolean {
  return (word === 'Log' ? flags.auditLogPath : flags.auditWebhookConfigFile) !== '';
}

function backendOptions(flags: AuditFlags, word: Word): AuditBackendOptions {
  const version = flags[`audit${word}Version`].split('/')[1];
  return {
    mode: flags[`audit${word}Mode`],
    batch: batchOptions(flags, word),
    truncation: flags[`audit${word}TruncateEnabled`]
      ? {
          eventBytesMax: flags[`audit${word}TruncateMaxEventSizeBytes`],
          batchBytesMax: flags[`audit${word}TruncateMaxBatchSizeBytes`],
        }
      : undefined,
    version: AUDIT_VERSIONS.find((each) => each === version) ?? 'v1',
  };
}

function batchOptions(flags: AuditFlags, word: Word): BatchOptions {
  const perSecond = Number(flags[`audit${word}BatchThrottleQps`]);
  const burst = flags[`audit${word}BatchThrottleBurst`];
  return {
    bufferEventsMax: flags[`audit${word}BatchBufferSizeEvents`],
    batchEventsMax: flags[`audit${word}BatchMaxSizeEvents`],
    batchWaitMs: flags[`audit${word}BatchMaxWaitMs`],
    throttle: flags[`audit${word}BatchThrottleEnable`] ? { perSecond, burst } : undefined,
  };
}
