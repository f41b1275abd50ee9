import type { ResourceName } from '../../cluster/cluster-reader';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import { serviceUnavailable } from '../../../../shared/errors/status-error';
import type { Log } from '../../../../shared/log/log';
import { GROUP } from '../../../../shared/names';
import { CacheFollower } from '../../../engine/watch-cache/cache-follower';
import type { StoredResource } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import type { ClusterCache } from '../../../engine/watch-cache/cluster-cache';
import type { Entry } from '../../../engine/watch-cache/state/entry';
import type { Webhook, WebhookType } from './webhook';
import { webhooksOf } from './webhook';

/** The resources that configure webhooks. */
export const CONFIGURATIONS: Readonly<Record<WebhookType, ResourceName>> = {
  mutating: { group: GROUP.admissionregistration, resource: 'mutatingwebhookconfigurations' },
  validating: { group: GROUP.admissionregistration, resource: 'validatingwebhookconfigurations' },
};

export interface ConfigurationSources {
  /** The stored resources; kinds that are not served are absent. */
  readonly stored: readonly StoredResource[];
  readonly cache: ClusterCache;
  readonly log: Log;
}

const WAIT_MS_MAX = 1_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * The webhooks of one type in the watch cache, ordered by the names of their configurations and their order within. Each version of a
 * configuration is compiled once.
 */
export class WebhookConfigurations {
  readonly #follower: CacheFollower | undefined;
  readonly #byName = new Map<string, readonly Webhook[]>();
  #webhooks: readonly Webhook[] = [];
  #hasChanged = false;

  constructor(type: WebhookType, { stored, cache, log }: ConfigurationSources) {
    const { group, resource } = CONFIGURATIONS[type];
    const found = stored.find((each) => each.group === group && each.resource === resource);
    if (found === undefined) return;
    this.#follower = new CacheFollower(cache.resource(found.keyPrefix), {
      reset: () => {
        this.#hasChanged = true;
        this.#byName.clear();
      },
      changed: (name, entry) => {
        this.#hasChanged = true;
        if (entry === undefined) this.#byName.delete(name);
        else this.#byName.set(name, compiled({ type, stored: found, log }, entry));
      },
    });
  }

  /** False while they are refilled; `webhooks` is incomplete then. */
  get isPrepared(): boolean {
    return this.#follower?.isPrepared ?? true;
  }

  /** The same array until something changes. */
  get webhooks(): readonly Webhook[] {
    this.#follower?.catchUp();
    if (this.#hasChanged) {
      this.#hasChanged = false;
      const names = [...this.#byName.keys()].sort();
      this.#webhooks = names.flatMap((name) => this.#byName.get(name) ?? []);
    }
    return this.#webhooks;
  }

  /** Throws ServiceUnavailable (503) if they are not ready in time: no request bypasses them meanwhile. */
  async whenPrepared(signal: AbortSignal): Promise<void> {
    if (this.isPrepared) return;
    try {
      await withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => this.#follower?.whenPrepared(inTime));
    } catch (error) {
      if (signal.aborted) throw error;
      throw serviceUnavailable(
        'admission waits for webhook configurations to be refilled',
        RETRY_AFTER_SECONDS,
      );
    }
  }
}

/** An unreadable configuration is skipped; otherwise it could not even be corrected. */
function compiled(
  { type, stored, log }: { readonly type: WebhookType; readonly stored: StoredResource; readonly log: Log },
  entry: Entry,
): readonly Webhook[] {
  try {
    return webhooksOf(type, currentOfEntry(stored, entry).object);
  } catch (error) {
    log.error(
      { type, configuration: entry.name, error: String(error) },
      'invalid webhook configuration ignored',
    );
    return [];
  }
}
