import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import { serviceUnavailable } from '../../../../shared/errors/status-error';
import type { Log } from '../../../../shared/log/log';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { StoredResource } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import { CacheFollower } from '../../../engine/watch-cache/cache-follower';
import type { ClusterCache } from '../../../engine/watch-cache/cluster-cache';
import type { Reading, ResourceName } from '../../cluster/cluster-reader';
import { UNCONFIRMED_MS_MAX } from '../../cluster/cluster-reader';
import { resourceEndpoint } from '../webhooks/reviewed-request';
import type { WriteKind } from '../webhooks/rules';
import { WriteKinds } from '../write-kinds';
import type { KindMatch } from './matching';
import { matchKind } from './matching';
import type { Binding, Policy } from './policy';
import { bindingOf } from './policy';

export interface PolicySourceParts {
  readonly stored: readonly StoredResource[];
  readonly cache: ClusterCache;
  readonly newReading: () => Reading;
  readonly log: Log;
}

/** A policy that may apply to a kind of write, with its bindings. */
export interface PolicyHook<P extends Policy> {
  readonly policy: P;
  readonly match: KindMatch;
  readonly bindings: readonly { readonly binding: Binding; readonly match: KindMatch }[];
}

const WAIT_MS_MAX = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** The resources of one kind of policies. */
export interface PolicyKind<P extends Policy> {
  readonly policies: ResourceName;
  readonly bindings: ResourceName;
  readonly policyOf: (object: ApiObject) => P;
}

/**
 * Finds the policies that may apply to a write. Policies and bindings come from the watch cache, each version is read once. A policy
 * without bindings applies to nothing.
 */
export class PolicySource<P extends Policy> {
  readonly #parts: PolicySourceParts;
  readonly #policies: Followed<P>;
  readonly #bindings: Followed<Binding>;
  /** Policies by kind of write, until something changes. */
  #known = new WriteKinds<readonly PolicyHook<P>[]>();

  constructor(kind: PolicyKind<P>, parts: PolicySourceParts) {
    this.#parts = parts;
    this.#policies = new Followed(kind.policies, kind.policyOf, parts);
    this.#bindings = new Followed(kind.bindings, bindingOf, parts);
  }

  /** Returns undefined if `settle` must be awaited first. */
  hooks(attributes: AdmissionAttributes): readonly PolicyHook<P>[] | undefined {
    return this.#isPrepared && this.#isFresh() ? this.#hooks(attributes) : undefined;
  }

  /** Waits until the cache is fresh. Throws Timeout (504) or ServiceUnavailable (503): no request bypasses policies meanwhile. */
  async settle(attributes: AdmissionAttributes, signal: AbortSignal): Promise<readonly PolicyHook<P>[]> {
    if (!this.#isFresh()) await this.#parts.newReading().freshen(signal);
    try {
      await withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => {
        // One may be refilled again while the other one is.
        while (!this.#isPrepared) {
          await this.#policies.whenPrepared(inTime);
          await this.#bindings.whenPrepared(inTime);
        }
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw serviceUnavailable('admission waits for policies to be refilled', RETRY_AFTER_SECONDS);
    }
    return this.#hooks(attributes);
  }

  get #isPrepared(): boolean {
    return this.#policies.isPrepared && this.#bindings.isPrepared;
  }

  #isFresh(): boolean {
    return this.#parts.cache.isConfirmedWithin(UNCONFIRMED_MS_MAX);
  }

  #hooks(attributes: AdmissionAttributes): readonly PolicyHook<P>[] {
    const hasChanged = [this.#policies.catchUp(), this.#bindings.catchUp()].includes(true);
    if (hasChanged) this.#known = new WriteKinds();
    if (this.#bindings.byName.size === 0) return [];
    const { operation } = attributes;
    const { subresource } = attributes.write;
    return this.#known.of(attributes, () =>
      this.#hooksOf({ operation, subresource, endpoint: resourceEndpoint(attributes) }),
    );
  }

  /** Policies and bindings in the order of their names. */
  #hooksOf(write: WriteKind): readonly PolicyHook<P>[] {
    const bindings = new Map<string, Binding[]>();
    for (const binding of sortedByName(this.#bindings.byName)) {
      bindings.set(binding.policyName, [...(bindings.get(binding.policyName) ?? []), binding]);
    }
    return sortedByName(this.#policies.byName).flatMap((policy) => {
      const match = matchKind(policy.match, write);
      if (match === undefined) return [];
      const bound = (bindings.get(policy.name) ?? []).flatMap((binding) => {
        const ofBinding = matchKind(binding.match, write);
        return ofBinding === undefined ? [] : [{ binding, match: ofBinding }];
      });
      return bound.length === 0 ? [] : [{ policy, match, bindings: bound }];
    });
  }
}

function sortedByName<T extends { readonly name: string }>(byName: ReadonlyMap<string, T>): T[] {
  return Array.from(byName.values()).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The objects of a resource, read once for each version. */
class Followed<T> {
  readonly byName = new Map<string, T>();
  readonly #follower: CacheFollower | undefined;
  #hasChanged = false;

  constructor(
    { group, resource }: ResourceName,
    read: (object: ApiObject) => T,
    { stored, cache, log }: PolicySourceParts,
  ) {
    const found = stored.find((each) => each.group === group && each.resource === resource);
    if (found === undefined) return;
    this.#follower = new CacheFollower(cache.resource(found.keyPrefix), {
      reset: () => {
        this.#hasChanged = true;
        this.byName.clear();
      },
      changed: (name, entry) => {
        this.#hasChanged = true;
        this.byName.delete(name);
        if (entry === undefined) return;
        try {
          this.byName.set(name, read(currentOfEntry(found, entry).object));
        } catch (error) {
          log.error({ resource, name, error: String(error) }, 'invalid admission policy ignored');
        }
      },
    });
  }

  get isPrepared(): boolean {
    return this.#follower?.isPrepared ?? true;
  }

  /** Returns whether there were changes since the last call, also those of a refill, which happen before it. */
  catchUp(): boolean {
    this.#follower?.catchUp();
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  async whenPrepared(signal: AbortSignal): Promise<void> {
    await this.#follower?.whenPrepared(signal);
  }
}
