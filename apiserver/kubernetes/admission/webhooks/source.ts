import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import { API_SERVER_USER } from '../../../engine/registry/api-server-user';
import type { ClusterCache } from '../../../engine/watch-cache/cluster-cache';
import type { Reading } from '../../cluster/cluster-reader';
import { UNCONFIRMED_MS_MAX } from '../../cluster/cluster-reader';
import { WriteKinds } from '../write-kinds';
import type { WebhookCaller } from './call';
import type { ConfigurationSources } from './configurations';
import { CONFIGURATIONS, WebhookConfigurations } from './configurations';
import type { Invocation } from './rules';
import { invocationsOf } from './rules';
import { resourceEndpoint } from './reviewed-request';
import type { Webhook, WebhookType } from './webhook';

export interface SourceParts {
  readonly configurations: ConfigurationSources;
  readonly cache: Pick<ClusterCache, 'isConfirmedWithin'>;
  readonly newReading: () => Reading;
  readonly caller: WebhookCaller;
}

/** Finds the webhooks that match a write by their rules. */
export class WebhookSource {
  readonly #parts: SourceParts;
  readonly #configurations: WebhookConfigurations;
  #webhooks: readonly Webhook[] = [];
  /** Matching webhooks by kind of write, until the webhooks change. */
  #known = new WriteKinds<readonly Invocation[]>();

  constructor(type: WebhookType, parts: SourceParts) {
    this.#parts = parts;
    this.#configurations = new WebhookConfigurations(type, parts.configurations);
  }

  /** Returns undefined if `settle` must be awaited first. */
  invocations(attributes: AdmissionAttributes): readonly Invocation[] | undefined {
    const isSettled = this.#configurations.isPrepared && this.#isFresh();
    return isSettled ? this.#invocations(attributes) : undefined;
  }

  /** Waits until the cache is fresh. Throws Timeout (504) or ServiceUnavailable (503). */
  async settle(attributes: AdmissionAttributes, signal: AbortSignal): Promise<readonly Invocation[]> {
    if (!this.#isFresh()) await this.#parts.newReading().freshen(signal);
    await this.#configurations.whenPrepared(signal);
    return this.#invocations(attributes);
  }

  #isFresh(): boolean {
    return this.#parts.cache.isConfirmedWithin(UNCONFIRMED_MS_MAX);
  }

  #invocations(attributes: AdmissionAttributes): readonly Invocation[] {
    const { webhooks } = this.#configurations;
    if (webhooks !== this.#webhooks) {
      this.#webhooks = webhooks;
      this.#known = new WriteKinds();
      this.#parts.caller.retain(webhooks);
    }
    if (webhooks.length === 0) return [];
    const { operation } = attributes;
    const { subresource } = attributes.write;
    return this.#known.of(attributes, () =>
      invocationsOf(webhooks, { operation, subresource, endpoint: resourceEndpoint(attributes) }),
    );
  }
}

/**
 * Reports writes without webhooks: webhook configurations, so that a broken webhook can be removed, and the server's own writes, so that
 * it can start.
 */
export function isExempt({ write: { endpoint, user } }: AdmissionAttributes): boolean {
  return user === API_SERVER_USER || isConfiguration(endpoint);
}

function isConfiguration({ row: { group, resource } }: Endpoint): boolean {
  const { mutating, validating } = CONFIGURATIONS;
  return group === mutating.group && (resource === mutating.resource || resource === validating.resource);
}
