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
/** When a webhook may have room for calls again. */
const RETRY_AFTER_SECONDS = 1;

export interface ConversionCallParts {
  readonly caller: CallerOptions;
  readonly metrics: WebhookMetrics;
  readonly newReading: () => Reading;
}

/** Calls conversion webhooks as admission webhooks are called: each has a bulkhead and a circuit breaker of its own. */
export class ConversionCalls {
  readonly #caller: WebhookCaller;
  readonly #newReading: () => Reading;
  /** By definition: one entry for each whose webhook was called. */
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
        // A Service that is not there is looked for once more in a fresh state.
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

  /** Of a definition that is gone, or converts otherwise, nothing is kept. */
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
