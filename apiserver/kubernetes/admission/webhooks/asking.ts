import { randomUUID } from 'node:crypto';
import type { StatusReason } from '../../../../shared/errors/status-error';
import { StatusError, badRequest, internalError } from '../../../../shared/errors/status-error';
import type { Log } from '../../../../shared/log/log';
import { AUDIT_ANNOTATION } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { converting } from '../../../engine/registry/conversion-needed';
import { holderOf } from '../../../engine/request/holder';
import type { Reading } from '../../cluster/cluster-reader';
import type { WebhookCaller } from './call';
import { CallFailure } from './call-failure';
import type { WebhookResult } from './review';
import { questionOf, refusalCode, resultIn } from './review';
import type { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import type { Webhook } from './webhook';
import type { Rejection, WebhookMetrics } from './webhook-metrics';

export interface AskingParts {
  readonly caller: WebhookCaller;
  readonly metrics: WebhookMetrics;
  readonly log: Log;
}

/** One call of one webhook about one write. */
export interface Asking {
  readonly invocation: Invocation;
  readonly attributes: AdmissionAttributes;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly cluster: Reading;
  /** 0, or 1 for the reinvocation. */
  readonly round: number;
}

/** The webhook denied the request. */
class Refusal extends StatusError {}

/** Per answer; further ones are dropped. */
const ANNOTATIONS_MAX = 64;
const WARNING_CHARACTERS_MAX = 16_384;

/** When to retry after 429. */
const RETRY_AFTER_SECONDS = 1;

/** Interval of log lines about failures of one webhook. */
const LOG_INTERVAL_MS = 1_000;
const toldAt = new WeakMap<Webhook, number>();

/** Calls the webhook and applies `use` to the answer. Returns undefined when the request continues without it. Throws the refusal. */
export async function ask<T>(
  parts: AskingParts,
  asking: Asking,
  use: (result: WebhookResult) => T,
  signal: AbortSignal,
): Promise<T | undefined> {
  const { hook } = asking.invocation;
  const { operation } = asking.attributes;
  const startedAt = performance.now();
  let rejection: Rejection | undefined;
  try {
    const result = await resultOf(parts, asking, signal);
    return await converting(() => use(result), signal);
  } catch (error) {
    // An aborted caller gets its own reason instead of the webhook's failure.
    const failure = signal.aborted && error instanceof CallFailure ? (signal.reason as Error) : error;
    noteFailure(parts, hook, signal.aborted ? 'abandoned' : failure);
    if (failure instanceof CallFailure && mayGoOn(hook, failure)) {
      goOn(parts, asking);
      return undefined;
    }
    rejection = rejectionOf(failure);
    throw failure instanceof CallFailure ? failureStatus(failure) : failure;
  } finally {
    parts.metrics.observe(
      { name: hook.name, type: hook.type, operation },
      performance.now() - startedAt,
      rejection,
    );
  }
}

async function resultOf(
  { caller }: AskingParts,
  asking: Asking,
  signal: AbortSignal,
): Promise<WebhookResult> {
  const { invocation, attributes, cluster } = asking;
  const { hook } = invocation;
  const { reviewVersion: version } = hook;
  if (attributes.write.dryRun && !hook.bearsDryRuns) {
    throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
  }
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(hook, why, { reason: 'version' });
  }
  const uid = randomUUID();
  const question = await converting(() => questionOf({ ...asking, uid, version }), signal);
  const holder = holderOf(attributes.write.user);
  const body = await caller.call(hook, { body: question.body, cluster, holder }, signal);
  const result = understood(hook, () => resultIn(body, question, hook.type));
  passOn(hook, result, attributes);
  if (!result.isAllowed) throw refusal(hook, result);
  return result;
}

/** Passes on warnings and annotations within the limits of responses and audit events. */
function passOn(
  { name }: Webhook,
  { auditAnnotations, warnings }: WebhookResult,
  { write: { annotate, warn } }: AdmissionAttributes,
): void {
  for (const [key, value] of Object.entries(auditAnnotations).slice(0, ANNOTATIONS_MAX)) {
    annotate?.(`${name}/${key}`, value);
  }
  let characters = 0;
  for (const warning of warnings) {
    if (warning !== '') warn?.(warning);
    characters += warning.length + 1;
    if (characters > WARNING_CHARACTERS_MAX) return;
  }
}

function understood(hook: Webhook, read: () => WebhookResult): WebhookResult {
  try {
    return read();
  } catch (error) {
    throw new CallFailure(hook, (error as Error).message, { reason: 'answer', cause: error });
  }
}

/** Prefixes the reason with the webhook's name, as kube-apiserver does. */
function refusal({ name }: Webhook, { status }: WebhookResult): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const { reason = '', message = '', details } = status;
  const why = message === '' ? reason : message;
  return new Refusal(
    reason as StatusReason | '',
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    {
      code: refusalCode(status),
      ...(details === undefined ? {} : { details }),
    },
  );
}

function rejectionOf(error: unknown): Rejection {
  if (error instanceof Refusal) return { cause: 'no_error', code: error.status.code };
  const cause = error instanceof CallFailure ? 'calling_webhook_error' : 'apiserver_internal_error';
  return { cause, code: 0 };
}

function noteFailure({ caller, log }: AskingParts, hook: Webhook, failure: unknown): void {
  if (failure === 'abandoned') caller.note(hook, failure, 'the request was given up');
  if (!(failure instanceof CallFailure)) return;
  caller.note(hook, failure.reason, failure.message);
  tell(log, hook, failure);
}

/** A busy webhook has not failed, so no request may bypass it. */
function mayGoOn({ failsOpen }: Webhook, { reason }: CallFailure): boolean {
  return failsOpen && reason !== 'overload';
}

function failureStatus({ reason, message }: CallFailure): StatusError {
  return reason === 'overload'
    ? new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } })
    : internalError(message);
}

function goOn({ metrics }: AskingParts, { invocation, attributes, round }: Asking): void {
  const { hook, index } = invocation;
  metrics.ignored(hook);
  const key = `${AUDIT_ANNOTATION.webhookIgnored[hook.type]}round_${String(round)}_index_${String(index)}`;
  attributes.write.annotate?.(key, hook.name);
}

function tell(log: Log, hook: Webhook, failure: CallFailure): void {
  const now = performance.now();
  if (now - (toldAt.get(hook) ?? -Infinity) < LOG_INTERVAL_MS) return;
  toldAt.set(hook, now);
  log.warn(
    { type: hook.type, configuration: hook.configuration, webhook: hook.name, error: failure.message },
    hook.failsOpen
      ? 'admission webhook call failed; failing open'
      : 'admission webhook call failed; failing closed',
  );
}
