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
import { invocationsOf, resourceEndpoint } from './rules';
import type { Webhook, WebhookType } from './webhook';

export interface SourceParts {
  readonly configurations: ConfigurationSources;
  readonly cache: Pick<ClusterCache, 'isConfirmedWithin'>;
  readonly newReading: () => Reading;
  readonly caller: WebhookCaller;
  readonly recentWrites: RecentConfigurationWrites;
}

/** For so long after a write of a configuration has begun, the cache is asked to be as new as the store. */
const RECENT_MS = 3_000;

/**
 * Configurations that were written through this server a moment ago: who was told that one is there, or gone, must find it so with the
 * next request.
 */
export class RecentConfigurationWrites {
  #untilMs = -Infinity;

  get areThere(): boolean {
    return performance.now() < this.#untilMs;
  }

  note(): void {
    this.#untilMs = performance.now() + RECENT_MS;
  }
}

/** Knows which webhooks are to see a write, as far as rules decide that. */
export class WebhookSource {
  readonly #parts: SourceParts;
  readonly #configurations: WebhookConfigurations;
  #webhooks: readonly Webhook[] = [];
  /** Which webhooks want what kind of write, until the webhooks change. */
  #known = new WriteKinds<readonly Invocation[]>();

  constructor(type: WebhookType, parts: SourceParts) {
    this.#parts = parts;
    this.#configurations = new WebhookConfigurations(type, parts.configurations);
  }

  /** Undefined when `settle` has to be waited for first. */
  invocations(attributes: AdmissionAttributes): readonly Invocation[] | undefined {
    const isSettled = this.#configurations.isPrepared && this.#isFresh();
    return isSettled ? this.#invocations(attributes) : undefined;
  }

  /** Waits until the cache can be believed. Throws Timeout (504) or ServiceUnavailable (503) when that takes too long. */
  async settle(attributes: AdmissionAttributes, signal: AbortSignal): Promise<readonly Invocation[]> {
    if (!this.#isFresh()) await this.#parts.newReading().freshen(signal);
    await this.#configurations.whenPrepared(signal);
    return this.#invocations(attributes);
  }

  #isFresh(): boolean {
    const { recentWrites, cache } = this.#parts;
    return !recentWrites.areThere && cache.isConfirmedWithin(UNCONFIRMED_MS_MAX);
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
 * Writes that no webhook may stand in the way of: of the configurations of webhooks, which are the way out when one of them fails, and
 * those of the server itself, which could not start.
 */
export function isExempt({ write: { endpoint, user } }: AdmissionAttributes): boolean {
  return user === API_SERVER_USER || isConfiguration(endpoint);
}

export function isConfiguration({ row: { group, resource } }: Endpoint): boolean {
  const { mutating, validating } = CONFIGURATIONS;
  return group === mutating.group && (resource === mutating.resource || resource === validating.resource);
}
