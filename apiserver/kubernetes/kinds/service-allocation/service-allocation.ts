import type { ServiceSpec } from '../../../../shared/api/types/core-v1';
import { pause } from '../../../../shared/concurrency/pause';
import type { Log } from '../../../../shared/log/log';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Backend } from '../../../engine/storage/backend';
import { Claims } from './claims';
import type { ValueRecords } from './pool';
import { Pool } from './pool';
import type { Holder, RepairedRange, RepairReport } from './repair';
import { RangeRepair } from './repair';
import type { Reserver } from '../../../engine/registry/reservation';
import { createServiceReserver } from './reserve-service';
import { heldAddresses, heldPorts } from './service-spec';
import type { AddressRange, ValueRange } from './value-range';
import { unionOf } from './value-range';

/** The interval between repair rounds exceeds the longest request. A claim seen twice without a user is therefore leaked. */
const REPAIR_INTERVAL_MS = 180_000;
/** Replicas that started together shall not look at everything together. */
const REPAIR_SPREAD_MS = 30_000;

/** A Service as repair sees it. */
export interface AllocatedService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly spec: ServiceSpec;
}

export interface ServiceAllocationOptions {
  readonly backend: Backend;
  /** `/registry`. */
  readonly storePrefix: string;
  readonly addresses: AddressRange;
  /** Of the other family, for Services with two addresses. */
  readonly secondaryAddresses?: AddressRange | undefined;
  readonly nodePorts: ValueRange;
  /** Ranges of addresses that are objects, and objects for the addresses. Default: the ranges above alone. */
  readonly objects?: AddressObjects | undefined;
  /** Whether the beginning of a range is for those that request a value, and comes last for all others. Default: no. */
  readonly reservesRequested?: { readonly addresses: boolean; readonly nodePorts: boolean };
  /** Balancers may say that they need no ports of nodes. Default: each port of theirs gets one. */
  readonly optionalNodePorts?: boolean;
  /** Services have one address, and say nothing of families. Default: they have as many families as there are ranges. */
  readonly isSingleFamily?: boolean;
  readonly randomInt: RandomInt;
  readonly log: Log;
  /** All Services, as of this revision or a later one. */
  readonly services: (revision: number, signal: AbortSignal) => Promise<readonly AllocatedService[]>;
}

/** The objects by which addresses are allocated. */
export interface AddressObjects {
  readonly records: ValueRecords;
  /** Returns the ranges of a family from which addresses can be taken now. */
  readonly readyRanges: (family: string) => readonly AddressRange[];
  /** Whether an address is in any range, ready or not. */
  readonly contains: (address: string) => boolean;
}

/** The allocation of addresses and ports to the Services of a cluster. */
export interface ServiceAllocation {
  readonly reserve: Reserver;
  /** The address that the API's own Service gets: the first of the range. */
  readonly firstAddress: string;
  /** That of this address. */
  readonly family: AddressRange['family'];
  /** One round of repair over all ranges; a report for each. */
  repair(signal: AbortSignal): Promise<readonly RepairReport[]>;
  /** Repairs every few minutes, for the first time after that long, until the signal aborts. A round that fails is logged. */
  keepRepaired(signal: AbortSignal): Promise<void>;
}

export function createServiceAllocation(options: ServiceAllocationOptions): ServiceAllocation {
  const { backend, storePrefix, randomInt, log } = options;
  const { objects, reservesRequested = { addresses: false, nodePorts: false } } = options;
  const claims = new Claims(backend, { storePrefix, kind: 'clusterip' });
  const addressPool = (range: ValueRange): Pool =>
    new Pool(range, {
      claims,
      randomInt,
      records: objects?.records,
      reservedForRequests: reservesRequested.addresses ? reservedAddresses(range.size) : 0,
    });
  const ranges = [
    options.addresses,
    ...(options.secondaryAddresses === undefined ? [] : [options.secondaryAddresses]),
  ];
  const fixed = ranges.map((range) => ({ family: range.family, pools: [addressPool(range)] }));
  const allAddresses = addressPool(unionOf(ranges));
  const contains = objects?.contains ?? ((value: string) => allAddresses.range.indexOf(value) !== undefined);
  const nodePorts = new Pool(options.nodePorts, {
    claims: new Claims(backend, { storePrefix, kind: 'nodeport' }),
    randomInt,
    reservedForRequests: reservesRequested.nodePorts ? reservedPorts(options.nodePorts.size) : 0,
  });
  const ports = nodePorts.range;
  const isPort = (port: string): boolean => ports.indexOf(port) !== undefined;
  const repair = repairOf(options, [
    { range: { name: 'clusterip', contains, claims }, heldBy: heldAddresses },
    { range: { name: 'nodeport', contains: isPort, claims: nodePorts.claims }, heldBy: heldPorts },
  ]);
  return {
    reserve: createServiceReserver({
      families: fixed.map(({ family }) => family),
      addressesOf: (family) =>
        objects === undefined
          ? fixed.flatMap((each) => (each.family === family ? each.pools : []))
          : objects.readyRanges(family).map(addressPool),
      allAddresses,
      nodePorts,
      optionalNodePorts: options.optionalNodePorts ?? false,
      isSingleFamily: options.isSingleFamily ?? false,
    }),
    firstAddress: options.addresses.at(0),
    family: options.addresses.family,
    repair,
    async keepRepaired(signal) {
      for (;;) {
        await pause(REPAIR_INTERVAL_MS + randomInt(REPAIR_SPREAD_MS), signal);
        if (signal.aborted) return;
        await repair(signal).catch((error: unknown) => {
          if (!signal.aborted)
            log.warn(
              { error: String(error) },
              'repair of Service allocations failed; retrying in the next round',
            );
        });
      }
    },
  };
}

/** Returns a function that repairs all ranges. */
function repairOf(
  { services, log }: Pick<ServiceAllocationOptions, 'services' | 'log'>,
  ranges: readonly {
    readonly range: RepairedRange;
    readonly heldBy: (spec: ServiceSpec) => readonly string[];
  }[],
): (signal: AbortSignal) => Promise<readonly RepairReport[]> {
  const rounds = ranges.map(({ range, heldBy }) => ({ repair: new RangeRepair(range, log), heldBy }));
  return async (signal) => {
    const reports: RepairReport[] = [];
    for (const { repair, heldBy } of rounds) {
      const holders = async (revision: number, until: AbortSignal): Promise<readonly Holder[]> =>
        (await services(revision, until)).map(({ spec, ...owner }) => ({ ...owner, values: heldBy(spec) }));
      reports.push(await repair.run(holders, signal));
    }
    return reports;
  };
}

/** How much of a range of addresses is for those that request one (KEP-3070; upstream: `ipallocator/bitmap.go`). */
function reservedAddresses(size: number): number {
  // An IPv6 network has no address for broadcast, so that the smallest one with a reserved part would reserve more than all.
  return Math.min(size, reservedPart(size + NOT_USABLE, { step: 16, max: 256 }));
}

/** The same for ports (upstream: `portallocator/allocator.go`). */
function reservedPorts(size: number): number {
  return reservedPart(size, { step: 32, max: 128 });
}

/** Upstream counts the addresses of the network itself and of the broadcast. */
const NOT_USABLE = 2;
const RESERVED_MIN = 16;

function reservedPart(size: number, { step, max }: { readonly step: number; readonly max: number }): number {
  return size <= RESERVED_MIN ? 0 : Math.min(Math.max(RESERVED_MIN, Math.floor(size / step)), max);
}
