import { randomInt } from 'node:crypto';
import type { Service } from '../../shared/api/types/core-v1';
import { timeout } from '../../shared/errors/status-error';
import type { Log } from '../../shared/log/log';
import { GROUP } from '../../shared/names';
import type { ReadContext } from '../engine/registry/read-context';
import type { Registry } from '../engine/registry/registry';
import type { StoredResource } from '../engine/registry/resource';
import { currentOfEntry } from '../engine/registry/stored-form';
import type { KindSettings } from '../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../engine/registry/strategy';
import type { WriteContext } from '../engine/registry/write-context';
import type { Backend } from '../engine/storage/backend';
import { StoredAddresses } from '../kubernetes/bootstrap/address-objects';
import type { AddressUpkeep } from '../kubernetes/bootstrap/address-repair';
import { createAddressUpkeep } from '../kubernetes/bootstrap/address-repair';
import type { Reading, ResourceName } from '../kubernetes/cluster/cluster-reader';
import { IP_ADDRESSES, SERVICES } from '../kubernetes/cluster/resources';
import { isOn } from '../kubernetes/kinds/field-gates';
import type {
  AllocatedService,
  ServiceAllocation,
  ServiceAllocationOptions,
} from '../kubernetes/kinds/service-allocation/service-allocation';
import { createServiceAllocation } from '../kubernetes/kinds/service-allocation/service-allocation';
import type { AddressRange, ValueRange } from '../kubernetes/kinds/service-allocation/value-range';
import { parseAddressRange, parsePortRange } from '../kubernetes/kinds/service-allocation/value-range';

export interface ServiceRanges {
  readonly addresses: AddressRange;
  /** The range of the other address family. */
  readonly secondaryAddresses?: AddressRange | undefined;
  readonly nodePorts: ValueRange;
}

export interface AllocationOptions {
  readonly backend: Backend;
  readonly prefix: string;
  readonly log: Log;
  readonly services?: ServiceRanges | undefined;
  readonly kindSettings?: KindSettings | undefined;
}

interface AllocationSources {
  readonly registry: Registry;
  readonly read: ReadContext;
  readonly newReading: () => Reading;
  /** Returns the context of writes, which is made after this. */
  readonly store: () => WriteContext;
}

/** Creates the allocation of addresses and ports to Services, from ServiceCIDR objects where the gate and the API level have them. */
export function createAllocation(
  {
    backend,
    prefix,
    log,
    services = defaultServiceRanges(),
    kindSettings = DEFAULT_KIND_SETTINGS,
  }: AllocationOptions,
  { registry, read, newReading, store }: AllocationSources,
): { readonly serviceAllocation: ServiceAllocation; readonly serviceAddresses: AddressUpkeep | undefined } {
  const { cache } = read;
  const addresses = isOn(kindSettings, 'MultiCIDRServiceAllocator')
    ? StoredAddresses.of({ registry, cache, newReading, store })
    : undefined;
  const serviceAllocation = createServiceAllocation({
    backend,
    storePrefix: prefix,
    ...services,
    ...serviceFeatures(kindSettings),
    randomInt: (bound) => randomInt(bound),
    log,
    objects: addresses,
    services: servicesIn(registry, read),
  });
  const followed = { ...services, registry };
  const serviceAddresses =
    addresses &&
    createAddressUpkeep({ addresses, ...addressSources(followed), cache, newReading, log, store });
  return { serviceAllocation, serviceAddresses };
}

function serviceFeatures(
  settings: KindSettings,
): Pick<ServiceAllocationOptions, 'optionalNodePorts' | 'isSingleFamily' | 'reservesRequested'> {
  return {
    optionalNodePorts: isOn(settings, 'ServiceLBNodePortControl'),
    isSingleFamily: !isOn(settings, 'IPv6DualStack'),
    reservesRequested: {
      addresses: isOn(settings, 'ServiceIPStaticSubrange'),
      nodePorts: isOn(settings, 'ServiceNodePortStaticSubrange'),
    },
  };
}

function addressSources({
  addresses,
  secondaryAddresses,
  registry,
}: ServiceRanges & { readonly registry: Registry }): Pick<
  Parameters<typeof createAddressUpkeep>[0],
  'cidrs' | 'services' | 'ipAddresses'
> {
  const storedOf = ({ group, resource }: ResourceName): StoredResource => {
    const found = registry.stored.find((each) => each.group === group && each.resource === resource);
    if (found === undefined) throw new Error(`${resource} are not stored`);
    return found;
  };
  return {
    cidrs: [addresses.text, ...(secondaryAddresses === undefined ? [] : [secondaryAddresses.text])],
    services: storedOf(SERVICES),
    ipAddresses: storedOf(IP_ADDRESSES),
  };
}

/** The defaults of kube-apiserver. */
const DEFAULT_SERVICE_ADDRESSES = '10.0.0.0/24';
const DEFAULT_NODE_PORTS = '30000-32767';

function defaultServiceRanges(): ServiceRanges {
  const addresses = parseAddressRange(DEFAULT_SERVICE_ADDRESSES);
  const nodePorts = parsePortRange(DEFAULT_NODE_PORTS);
  if (!addresses.ok || nodePorts === undefined)
    throw new Error('the default ranges of Services are malformed');
  return { addresses: addresses.range, nodePorts };
}

/** The Retry-After value while the cache lags behind the store. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Returns all Services from the cache, once it has reached the revision and is complete. A missing Service would lose its addresses and
 * ports.
 */
function servicesIn(
  registry: Registry,
  { cache, cacheWaitMs }: Pick<ReadContext, 'cache' | 'cacheWaitMs'>,
): (revision: number, signal: AbortSignal) => Promise<readonly AllocatedService[]> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'services');
  if (endpoint === undefined) throw new Error('services are not served');
  const { stored } = endpoint;
  return async (revision, signal) => {
    const cached = cache.resource(stored.keyPrefix);
    const needs = { of: [cached], revision, timeoutMs: cacheWaitMs, refill: 'wait' } as const;
    if ((await cache.freshen(needs, signal)) === 'behind' || !cached.isReady) {
      throw timeout('the watch cache is behind the store', RETRY_AFTER_SECONDS);
    }
    return [...cached.snapshot().entries()].map((entry) => ({
      namespace: entry.namespace,
      name: entry.name,
      uid: entry.uid,
      spec: (currentOfEntry(stored, entry).object as Service).spec,
    }));
  };
}
