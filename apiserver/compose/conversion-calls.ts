import { StatusError } from '../../shared/errors/status-error';
import type { Reading } from '../kubernetes/cluster/cluster-reader';
import type { CallerOptions } from '../kubernetes/admission/webhooks/call';
import { WebhookCaller } from '../kubernetes/admission/webhooks/call';
import { CallFailure } from '../kubernetes/admission/webhooks/call-failure';
import type { CalledWebhook } from '../kubernetes/admission/webhooks/webhook';
import type { WebhookMetrics } from '../kubernetes/admission/webhooks/webhook-metrics';
import type {
  CallConversion,
  ConversionWebhook,
} from '../kubernetes/custom-resources/conversion/conversion-webhook';

/** As upstream. */
const TIMEOUT_MS = 30_000;
/** The Retry-After value when the bulkhead of a webhook is full. */
const RETRY_AFTER_SECONDS = 1;

export interface ConversionCallParts {
  readonly caller: CallerOptions;
  readonly metrics: WebhookMetrics;
  readonly newReading: () => Reading;
}

/** Calls conversion webhooks in the same way as admission webhooks: each has its own bulkhead and circuit breaker. */
export class ConversionCalls {
  readonly #caller: WebhookCaller;
  readonly #newReading: () => Reading;
  /** Keyed by definition, with an entry for each one whose webhook was called. */
  readonly #called = new Map<string, CalledWebhook>();

  constructor({ caller, metrics, newReading }: ConversionCallParts) {
    this.#caller = new WebhookCaller(caller);
    this.#newReading = newReading;
    metrics.read(() => this.#caller.reports());
  }

  readonly call: CallConversion = async (webhook, body, signal) => {
    const called = this.#calledAs(webhook);
    const cluster = this.#newReading();
    try {
      return await this.#caller.call(called, { body, cluster }, signal).catch(async (error: unknown) => {
        // If the Service is not found, it is resolved once more from a fresh state.
        if (!(error instanceof CallFailure) || error.reason !== 'address') throw error;
        await cluster.freshen(signal);
        return this.#caller.call(called, { body, cluster }, signal);
      });
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      this.#caller.note(called, error.reason, error.message);
      if (error.reason !== 'overload') throw new Error(error.why, { cause: error });
      throw new StatusError('TooManyRequests', `conversion webhook for ${webhook.definition}: ${error.why}`, {
        details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
        cause: error,
      });
    }
  };

  /** Drops the state of a definition that is deleted or converts differently. */
  forget(definition: string): void {
    if (this.#called.delete(definition)) this.#caller.retain([...this.#called.values()]);
  }

  #calledAs({ definition, callKey, address, authorities }: ConversionWebhook): CalledWebhook {
    const known = this.#called.get(definition);
    if (known?.callKey === callKey) return known;
    const called: CalledWebhook = {
      type: 'conversion',
      configuration: definition,
      name: `conversion_webhook_for_${definition}`,
      callKey,
      failsOpen: false,
      timeoutMs: TIMEOUT_MS,
      address,
      authorities,
    };
    this.#called.set(definition, called);
    this.#caller.retain([...this.#called.values()]);
    return called;
  }
}
