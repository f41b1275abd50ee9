import type { BatchOptions } from './batch';
import type { AuditVersion } from './event';
import type { TruncationOptions } from './truncation';

/** How events reach a backend: asynchronously, or with the request waiting. */
export const AUDIT_MODES = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof AUDIT_MODES)[number];

export const AUDIT_LOG_FORMATS = ['legacy', 'json'] as const;
export type AuditLogFormat = (typeof AUDIT_LOG_FORMATS)[number];

export interface AuditBackendOptions {
  readonly mode: AuditMode;
  /** For the mode `batch`. */
  readonly batch: BatchOptions;
  readonly truncation: TruncationOptions | undefined;
  readonly version: AuditVersion;
}

export interface AuditLogOptions extends AuditBackendOptions {
  /** `-` is the standard output. */
  readonly file: string;
  readonly format: AuditLogFormat;
  readonly bytesMax: number;
  /** 0: unlimited. */
  readonly backupsMax: number;
  /** 0: unlimited. */
  readonly ageDaysMax: number;
  readonly compress: boolean;
}

export interface AuditWebhookOptions extends AuditBackendOptions {
  readonly configFile: string;
  readonly initialBackoffMs: number;
}

/** At least one backend is configured. */
export interface AuditOptions {
  readonly policyFile: string;
  readonly log?: AuditLogOptions;
  readonly webhook?: AuditWebhookOptions;
}
