import type { Log } from '../../../shared/log/log';
import type { ClientRequests } from '../../../shared/metrics/rest-client';
import { GROUP } from '../../../shared/names';
import type { Audit, AuditParts } from './audit';
import { createAudit } from './audit';
import type {
  AuditBackendOptions,
  AuditLogFormat,
  AuditLogOptions,
  AuditOptions,
  AuditWebhookOptions,
} from './audit-options';
import { BatchBackend } from './batch';
import { BlockingBackend } from './blocking';
import type { Plugin } from './counts';
import { AuditCounts } from './counts';
import type { AuditEvent, AuditVersion } from './event';
import { eventLine } from './event-text';
import { openLogFile, standardOutput } from './log-file';
import { LogSink } from './log-sink';
import { LostEventCounter } from './lost-event-counter';
import { decideBy } from './policy';
import { readPolicyFile } from './policy-file';
import type { Backend, Sink } from './sink';
import { union } from './sink';
import { truncating } from './truncation';
import type { WebhookSinkOptions } from './webhook-sink';
import { createWebhookSink } from './webhook-sink';

export interface OpenAuditParts extends Pick<AuditParts, 'log' | 'statusOf'> {
  /** Counts the requests to the audit webhook; absent: they are not counted. */
  readonly requests?: ClientRequests;
}

/** Longer objects are left out whatever the flags say, because events are held in memory as a whole. */
const OBJECT_BYTES_MAX = 10 * 1024 * 1024;
/** The default maximum of a batch. */
const BATCH_BYTES_MAX = 10 * 1024 * 1024;
/** The webhook has concurrent requests. The log has a single writer, which takes all waiting events. */
const SENDING = {
  log: { sendsAtOnceMax: 1, takeEventsMin: 500 },
  webhook: { sendsAtOnceMax: 8, takeEventsMin: 1 },
} as const;

/** Reads the policy and opens the backends. Rejects with an Error for the operator if a file is invalid or the log cannot be written. */
export async function openAudit(
  options: AuditOptions,
  { log, statusOf, requests }: OpenAuditParts,
): Promise<Audit> {
  const { policy, version } = readPolicyFile(options.policyFile);
  if (version !== 'v1') {
    log.warn(
      { version },
      `the audit policy should be written in ${GROUP.audit}/v1: other versions are deprecated`,
    );
  }
  const counts = new AuditCounts();
  const loss = new LostEventCounter(counts, log);
  const backends: Backend[] = [];
  if (options.webhook !== undefined) backends.push(webhookBackend({ ...options.webhook, requests }, loss));
  if (options.log !== undefined) backends.push(await logBackend(options.log, loss, log));
  const audit = createAudit({
    decide: decideBy(policy),
    backend: union(backends),
    counts,
    log,
    statusOf,
    objectBytesMax: objectBytesMax(options),
  });
  return {
    ...audit,
    close: async (signal) => {
      await audit.close(signal);
      loss.flush();
    },
  };
}

async function logBackend(options: AuditLogOptions, loss: LostEventCounter, log: Log): Promise<Backend> {
  const { file, format, version } = options;
  const lines = file === '-' ? standardOutput() : await openLogFile({ ...options, log });
  return backendOf('log', new LogSink(lines, lineOf(format, version)), { options, loss });
}

function webhookBackend(
  options: AuditWebhookOptions & Pick<WebhookSinkOptions, 'requests'>,
  loss: LostEventCounter,
): Backend {
  return backendOf('webhook', createWebhookSink(options), { options, loss });
}

function backendOf(
  plugin: Plugin & ('log' | 'webhook'),
  sink: Sink,
  { options, loss }: { readonly options: AuditBackendOptions; readonly loss: LostEventCounter },
): Backend {
  const { mode, batch, truncation, version } = options;
  const backend =
    mode === 'batch'
      ? new BatchBackend({
          ...batch,
          sink,
          plugin,
          loss,
          version,
          batchBytesMax: truncation?.batchBytesMax ?? BATCH_BYTES_MAX,
          ...SENDING[plugin],
        })
      : new BlockingBackend({
          sink,
          plugin,
          loss,
          strict: mode === 'blocking-strict',
          isSlow: plugin === 'webhook',
          version,
        });
  return truncation === undefined ? backend : truncating(backend, { ...truncation, version, loss });
}

function lineOf(format: AuditLogFormat, version: AuditVersion): (event: AuditEvent) => string {
  if (format === 'legacy') return (event) => `${eventLine(event)}\n`;
  const head = `{"kind":"Event","apiVersion":"${GROUP.audit}/${version}",`;
  return (event) => `${head}${event.text(version)}\n`;
}

/** Returns the maximum object size that at least one backend would not truncate. */
function objectBytesMax({ log, webhook }: AuditOptions): number {
  const limits = [log, webhook].flatMap((each) =>
    each === undefined ? [] : [each.truncation?.eventBytesMax ?? OBJECT_BYTES_MAX],
  );
  return Math.min(OBJECT_BYTES_MAX, Math.max(...limits));
}
