import { isIP } from 'node:net';
import type { IPAddress, ParentReference, ServiceCIDR } from '../../../shared/api/types/networking-v1';
import { StatusError } from '../../../shared/errors/status-error';
import { ADDRESS_ALLOCATOR, GROUP, LABEL } from '../../../shared/names';
import { createObject } from '../../engine/registry/create';
import { deleteObject } from '../../engine/registry/delete';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import type { WriteContext } from '../../engine/registry/write-context';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { ClusterReader } from '../cluster/cluster-reader';
import { IP_ADDRESSES, SERVICE_CIDRS } from '../cluster/resources';
import type { ValueRecords } from '../kinds/service-allocation/pool';
import type { AddressObjects } from '../kinds/service-allocation/service-allocation';
import type { AddressRange } from '../kinds/service-allocation/value-range';
import { serviceNetwork } from '../kinds/service-allocation/value-range';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';

/** A namespaced name of a Service. */
export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

export interface AddressObjectsParts {
  readonly registry: Registry;
  readonly cache: ClusterCache;
  readonly newReading: () => Pick<ClusterReader, 'get' | 'list' | 'names' | 'freshen'>;
  /** Returns the context of writes, which is made after this. */
  readonly store: () => WriteContext;
}

/**
 * ServiceCIDR and IPAddress objects: the ranges from which Services get their addresses, and one object for each address in use (upstream:
 * `pkg/registry/core/service/ipallocator`). Claims make addresses unique, also while replicas of levels without these kinds use the store.
 */
export class StoredAddresses implements AddressObjects, ValueRecords {
  readonly cidrs: Endpoint;
  readonly records: ValueRecords = this;
  readonly #addresses: Endpoint;
  readonly #parts: AddressObjectsParts;
  readonly #networks = new Map<string, AddressRange | undefined>();

  private constructor(parts: AddressObjectsParts, cidrs: Endpoint, addresses: Endpoint) {
    this.#parts = parts;
    this.cidrs = cidrs;
    this.#addresses = addresses;
    // A worker reads them as well.
    for (const { stored } of [cidrs, addresses]) parts.cache.want(stored.keyPrefix);
  }

  /** Returns undefined if the kinds are not served. */
  static of(parts: AddressObjectsParts): StoredAddresses | undefined {
    const [cidrs, addresses] = ['servicecidrs', 'ipaddresses'].map((resource) =>
      ['v1', 'v1beta1']
        .map((version) => parts.registry.endpoint(GROUP.networking, version, resource))
        .find((endpoint) => endpoint !== undefined),
    );
    return cidrs === undefined || addresses === undefined
      ? undefined
      : new StoredAddresses(parts, cidrs, addresses);
  }

  readonly readyRanges = (family: string): readonly AddressRange[] => {
    const networks = this.#cidrs()
      .filter(isReady)
      .flatMap(({ spec: { cidrs = [] } }) => cidrs);
    return [...new Set(networks)]
      .map((network) => this.#network(network))
      .filter((range) => range !== undefined)
      .filter((range) => range.family === family);
  };

  readonly contains = (address: string): boolean =>
    this.#cidrs().some(({ spec: { cidrs = [] } }) =>
      cidrs.some((cidr) => this.#network(cidr)?.indexOf(address) !== undefined),
    );

  async add(value: string, owner: ServiceName, signal: AbortSignal): Promise<boolean> {
    const family = isIP(value) === 6 ? 'IPv6' : 'IPv4';
    const labels = { [LABEL.addressFamily]: family, [LABEL.addressManager]: ADDRESS_ALLOCATOR };
    const object = { metadata: { name: value, labels }, spec: { parentRef: parentOf(owner) } };
    const request = ownRequest(this.#addresses, object.metadata);
    try {
      await createObject(this.#parts.store(), request, ownObject(this.#addresses, object), signal);
      return true;
    } catch (error) {
      if (!isRefusal(error, 'AlreadyExists')) throw error;
    }
    // An earlier attempt of the same Service may have left it.
    const current = await this.#current(value, signal);
    return current !== undefined && belongsTo(current, owner);
  }

  async remove(value: string, owner: ServiceName, signal: AbortSignal): Promise<void> {
    const current = await this.#current(value, signal);
    if (current !== undefined && belongsTo(current, owner)) await this.delete(current, signal);
  }

  /** Deletes exactly this object, if it is still there. */
  async delete({ metadata: { name = '', uid = '' } }: IPAddress, signal: AbortSignal): Promise<void> {
    const options = { preconditions: { uid }, dryRun: false };
    const request = ownRequest(this.#addresses, { name });
    try {
      await deleteObject(this.#parts.store(), request, options, signal);
    } catch (error) {
      if (!isRefusal(error, 'NotFound') && !isRefusal(error, 'Conflict')) throw error;
    }
  }

  values(): Iterable<string> {
    return this.#parts.newReading().names(IP_ADDRESSES, '');
  }

  async #current(value: string, signal: AbortSignal): Promise<IPAddress | undefined> {
    const reading = this.#parts.newReading();
    const known = reading.get(IP_ADDRESSES, value);
    if (known !== undefined) return known;
    await reading.freshen(signal);
    return reading.get(IP_ADDRESSES, value);
  }

  #cidrs(): readonly ServiceCIDR[] {
    return this.#parts.newReading().list(SERVICE_CIDRS);
  }

  #network(cidr: string): AddressRange | undefined {
    const known = this.#networks.get(cidr);
    if (known !== undefined) return known;
    if (this.#networks.size >= NETWORKS_MAX) this.#networks.clear();
    const network = serviceNetwork(cidr);
    this.#networks.set(cidr, network);
    return network;
  }
}

/** Parsed networks that are kept. */
const NETWORKS_MAX = 1_000;

/**
 * Addresses are taken only from ranges that are not being deleted, and that no controller found not to be ready. A range that no controller
 * has looked at counts as ready, as upstream.
 */
function isReady({ metadata: { deletionTimestamp }, status }: ServiceCIDR): boolean {
  if (deletionTimestamp !== undefined && deletionTimestamp !== null) return false;
  return (status?.conditions?.find((each) => each.type === 'Ready')?.status ?? 'True') === 'True';
}

function parentOf({ namespace, name }: ServiceName): ParentReference {
  return { resource: 'services', namespace, name };
}

/** Returns the Service of an address; undefined if it belongs to an object of another kind. */
export function serviceOf({ spec: { parentRef } }: IPAddress): ServiceName | undefined {
  if (parentRef?.resource !== 'services' || (parentRef.group ?? '') !== '') return undefined;
  return { namespace: parentRef.namespace ?? '', name: parentRef.name ?? '' };
}

function belongsTo(address: IPAddress, { namespace, name }: ServiceName): boolean {
  const service = serviceOf(address);
  return service?.name === name && service.namespace === namespace;
}

function isRefusal(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.status.reason === reason;
}
