import { isIP } from 'node:net';
import type { IPAddress } from '../../../shared/api/types/networking-v1';
import type { Service } from '../../../shared/api/types/core-v1';
import { Slices } from '../../../shared/concurrency/slices';
import type { Log } from '../../../shared/log/log';
import { ADDRESS_ALLOCATOR, LABEL } from '../../../shared/names';
import type { StoredResource } from '../../engine/registry/resource';
import { CacheFollower } from '../../engine/watch-cache/cache-follower';
import { ChangeSignal } from '../../engine/watch-cache/change-signal';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { ClusterReader } from '../cluster/cluster-reader';
import { IP_ADDRESSES, SERVICES } from '../cluster/resources';
import type { WriteContext } from '../../engine/registry/write-context';
import { createDefaultCidr } from './default-service-cidr';
import { reconcileLoop } from './reconcile-loop';
import { heldAddresses } from '../kinds/service-allocation/service-spec';
import { canonicalAddress } from '../kinds/service-allocation/value-range';
import type { ServiceName, StoredAddresses } from './address-objects';
import { serviceOf } from './address-objects';

/** The longest request: the object of an address is made before its Service. */
const WRITE_MS_MAX = 60_000;
/** How long a write may take to remove the object of an address that it no longer needs. */
const REVERT_MS_MAX = 5_000;
const LOOK_MS_MAX = 30_000;
const FIRST_RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
export interface AddressRepairOptions {
  readonly addresses: StoredAddresses;
  readonly cache: ClusterCache;
  readonly services: StoredResource;
  readonly ipAddresses: StoredResource;
  readonly newReading: () => Pick<ClusterReader, 'get' | 'freshen'>;
  readonly log: Log;
}

/** The background work of the allocator. */
export interface AddressUpkeep {
  /** Creates the default ServiceCIDR, without which no Service gets an address. */
  ensureDefault(signal: AbortSignal): Promise<void>;
  /** Keeps the default ServiceCIDR and all IPAddress objects right, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAddressUpkeep(
  options: AddressRepairOptions & {
    /** The networks of `--service-cluster-ip-range`. */
    readonly cidrs: readonly string[];
    readonly store: () => WriteContext;
  },
): AddressUpkeep {
  const { addresses, cidrs, newReading, log, store } = options;
  const ensure = createDefaultCidr({ endpoint: addresses.cidrs, cidrs, newReading, log });
  const reconcile = async (signal: AbortSignal): Promise<void> => ensure(store(), signal);
  return {
    ensureDefault: reconcile,
    async run(signal) {
      const failure = 'failed to reconcile the default ServiceCIDR';
      await Promise.all([
        reconcileLoop({ reconcile, log, failure }, signal),
        new AddressRepair(options).run(signal),
      ]);
    },
  };
}

/**
 * Keeps Services and IPAddress objects in step: creates missing and replaces wrong objects, and removes those without a Service (upstream:
 * `pkg/registry/core/service/ipallocator/controller/repairip.go`). Every replica runs it.
 */
class AddressRepair {
  readonly #options: AddressRepairOptions;
  readonly #changes: ChangeSignal;
  readonly #followers: readonly CacheFollower[];
  /** What must be looked at, by `service namespace/name` and `address name`. Bounded by the number of these objects. */
  readonly #due = new Map<string, { readonly atMs: number; readonly failures: number }>();
  /** The Service that had an address when it was last looked at. */
  readonly #holders = new Map<string, string>();
  /** The addresses that a Service had when it was last looked at. */
  readonly #held = new Map<string, readonly string[]>();
  #hasNewNetworks = false;
  /** What was reported and still holds. */
  readonly #reported = new Set<string>();

  constructor(options: AddressRepairOptions) {
    const { addresses, cache, services, ipAddresses } = options;
    this.#options = options;
    const noteDue = (key: string): void => void this.#due.set(key, { atMs: 0, failures: 0 });
    const followed: readonly {
      readonly stored: StoredResource;
      readonly changed: (key: string) => void;
    }[] = [
      { stored: services, changed: (key) => noteDue(`service ${key}`) },
      { stored: ipAddresses, changed: (key) => noteDue(`address ${key}`) },
      { stored: addresses.cidrs.stored, changed: () => void (this.#hasNewNetworks = true) },
    ];
    const caches = followed.map(({ stored, changed }) => ({
      cached: cache.resource(stored.keyPrefix),
      changed,
    }));
    this.#changes = new ChangeSignal(caches.map(({ cached }) => cached));
    this.#followers = caches.map(
      ({ cached, changed }) => new CacheFollower(cached, { reset: () => undefined, changed }),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const follower of this.#followers) {
        await follower.whenPrepared(signal).catch(() => undefined);
        follower.catchUp();
      }
      if (this.#hasNewNetworks) {
        // Other networks change which addresses are outside all of them.
        this.#hasNewNetworks = false;
        for (const key of this.#held.keys()) this.#due.set(`service ${key}`, { atMs: 0, failures: 0 });
      }
      const now = Date.now();
      const slices = new Slices();
      let nextMs = now + LOOK_MS_MAX;
      for (const [key, { atMs, failures }] of this.#due) {
        if (signal.aborted) return;
        if (atMs <= now) {
          this.#due.delete(key);
          await this.#handle(key, failures, signal);
        }
        nextMs = Math.min(nextMs, this.#due.get(key)?.atMs ?? nextMs);
        if (slices.due()) await slices.pause();
      }
      await this.#changes.wait(Math.max(0, nextMs - Date.now()), signal);
    }
  }

  async #handle(key: string, failures: number, signal: AbortSignal): Promise<void> {
    const at = key.indexOf(' ');
    const name = key.slice(at + 1);
    try {
      const waitMs =
        key.slice(0, at) === 'service'
          ? await this.#checkService(name, signal)
          : await this.#checkAddress(name, signal);
      if (waitMs > 0) this.#due.set(key, { atMs: Date.now() + waitMs, failures: 0 });
    } catch (error) {
      if (signal.aborted) return;
      const atMs = Date.now() + Math.min(RETRY_MS_MAX, FIRST_RETRY_MS * 2 ** failures);
      this.#due.set(key, { atMs, failures: failures + 1 });
      this.#options.log.warn({ key, error: String(error) }, 'failed to repair the address of a Service');
    }
  }

  async #checkService(key: string, signal: AbortSignal): Promise<number> {
    const { addresses, newReading } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const service = newReading().get(SERVICES, name, namespace);
    const held = service === undefined ? [] : heldAddresses(service.spec);
    this.#noteHeld(key, held);
    for (const address of held) {
      const owner = { namespace, name };
      this.#holders.set(address, key);
      const isOutside = !addresses.contains(address);
      this.#report(`outside ${key} ${address}`, isOutside, { owner, address });
      if (isOutside) continue;
      const current = newReading().get(IP_ADDRESSES, address);
      if (current === undefined) await this.#create(address, owner, signal);
      else if (this.#mustReplace(current, owner)) {
        await addresses.delete(current, signal);
        await this.#create(address, owner, signal);
      }
    }
    return 0;
  }

  /** A server of a level without these objects, or one that ends before it can, does not remove those of addresses that a Service had. */
  #noteHeld(key: string, held: readonly string[]): void {
    for (const address of this.#held.get(key) ?? []) {
      const atMs = Date.now() + REVERT_MS_MAX;
      if (!held.includes(address)) this.#due.set(`address ${address}`, { atMs, failures: 0 });
    }
    if (held.length > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }

  async #create(address: string, owner: ServiceName, signal: AbortSignal): Promise<void> {
    const { addresses, newReading, log } = this.#options;
    // The Service may be gone.
    const reading = newReading();
    if (!holds(reading.get(SERVICES, owner.name, owner.namespace), address)) return;
    if (await addresses.add(address, owner, signal)) {
      log.info({ service: owner, address }, 'created the IPAddress of a Service');
    }
  }

  /** Whether the object of an address that a Service has is not that Service's, or has lost its labels. */
  #mustReplace(current: IPAddress, owner: ServiceName): boolean {
    const parent = serviceOf(current);
    if (parent === undefined) return true;
    const address = current.metadata.name ?? '';
    if (parent.name === owner.name && parent.namespace === owner.namespace) return !hasLabels(current);
    const other = this.#options.newReading().get(SERVICES, parent.name, parent.namespace);
    if (other === undefined) return true;
    const isShared = holds(other, address);
    this.#report(`shared ${owner.namespace}/${owner.name} ${address}`, isShared, { owner, address });
    return !isShared || !hasLabels(current);
  }

  /** Returns the milliseconds after which the address must be looked at again; 0 if it is right or gone. */
  async #checkAddress(address: string, signal: AbortSignal): Promise<number> {
    const { addresses, newReading, log } = this.#options;
    const reading = newReading();
    const holder = this.#holders.get(address);
    if (holder !== undefined) {
      const [namespace = '', name = ''] = holder.split('/');
      if (holds(reading.get(SERVICES, name, namespace), address)) await this.#checkService(holder, signal);
      else this.#holders.delete(address);
    }
    const before = this.#leak(reading, address);
    if (typeof before === 'number') return before;
    // A cache that is behind, or is being refilled, may lack the Service.
    await reading.freshen(signal);
    const leaked = this.#leak(newReading(), address);
    if (typeof leaked === 'number') return leaked;
    await addresses.delete(leaked, signal);
    log.info({ address }, 'removed an IPAddress that belongs to no Service');
    return 0;
  }

  /** Returns the object if it must be removed, or the milliseconds to wait. */
  #leak(reading: Pick<ClusterReader, 'get'>, address: string): IPAddress | number {
    const current = reading.get(IP_ADDRESSES, address);
    if (current?.metadata.labels?.[LABEL.addressManager] !== ADDRESS_ALLOCATOR) return 0;
    const parent = serviceOf(current);
    if (parent === undefined) return current;
    const service = reading.get(SERVICES, parent.name, parent.namespace);
    if (holds(service, address)) return 0;
    const isPending = service === undefined || service.spec.type === 'ExternalName';
    const graceMs = isPending ? WRITE_MS_MAX : REVERT_MS_MAX;
    const ageMs = Date.now() - Date.parse(current.metadata.creationTimestamp ?? '');
    return ageMs < graceMs ? graceMs - ageMs : current;
  }

  #report(
    key: string,
    isSo: boolean,
    facts: { readonly owner: ServiceName; readonly address: string },
  ): void {
    if (!isSo) {
      this.#reported.delete(key);
      return;
    }
    if (this.#reported.has(key)) return;
    if (this.#reported.size >= REPORTED_MAX) this.#reported.clear();
    this.#reported.add(key);
    const { owner: service, address } = facts;
    const message = key.startsWith('outside')
      ? 'the cluster IP is in no ServiceCIDR; recreate the Service'
      : 'the cluster IP belongs to several Services; recreate one of them';
    this.#options.log.warn({ service, address }, message);
  }
}

/** Reports that are remembered, so that each is logged once. */
const REPORTED_MAX = 10_000;

function holds(service: Service | undefined, address: string): boolean {
  return service !== undefined && heldAddresses(service.spec).includes(canonicalAddress(address));
}

function hasLabels({ metadata: { name = '', labels = {} } }: IPAddress): boolean {
  return (
    labels[LABEL.addressFamily] === (isIP(name) === 6 ? 'IPv6' : 'IPv4') &&
    labels[LABEL.addressManager] === ADDRESS_ALLOCATOR
  );
}
