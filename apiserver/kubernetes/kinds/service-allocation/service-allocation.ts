import type { ServiceSpec } from '../../../../shared/api/types/core-v1';
import { pause } from '../../../../shared/concurrency/pause';
import type { Log } from '../../../../shared/log/log';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Backend } from '../../../engine/storage/backend';
import { Claims } from './claims';
import { Pool } from './pool';
import type { Holder, RepairReport } from './repair';
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
  /** Balancers may say that they need no ports of nodes. Default: each port of theirs gets one. */
  readonly optionalNodePorts?: boolean;
  /** Services have one address, and say nothing of families. Default: they have as many families as there are ranges. */
  readonly isSingleFamily?: boolean;
  readonly randomInt: RandomInt;
  readonly log: Log;
  /** All Services, as of this revision or a later one. */
  readonly services: (revision: number, signal: AbortSignal) => Promise<readonly AllocatedService[]>;
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
  const poolOf = (kind: string, range: ValueRange): Pool =>
    new Pool(range, new Claims(backend, { storePrefix, kind }), randomInt);
  const ranges = [
    options.addresses,
    ...(options.secondaryAddresses === undefined ? [] : [options.secondaryAddresses]),
  ];
  const addresses = ranges.map((range) => ({ family: range.family, pool: poolOf('clusterip', range) }));
  const allAddresses = poolOf('clusterip', unionOf(ranges));
  const nodePorts = poolOf('nodeport', options.nodePorts);
  const rounds = [
    { repair: repairOf('clusterip', allAddresses, log), heldBy: heldAddresses },
    { repair: repairOf('nodeport', nodePorts, log), heldBy: heldPorts },
  ];
  const repair = async (signal: AbortSignal): Promise<readonly RepairReport[]> => {
    const reports: RepairReport[] = [];
    for (const { repair: range, heldBy } of rounds) {
      const holders = async (revision: number, until: AbortSignal): Promise<readonly Holder[]> =>
        (await options.services(revision, until)).map(({ spec, ...owner }) => ({
          ...owner,
          values: heldBy(spec),
        }));
      reports.push(await range.run(holders, signal));
    }
    return reports;
  };
  return {
    reserve: createServiceReserver({
      addresses,
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

function repairOf(name: string, { range, claims }: Pool, log: Log): RangeRepair {
  return new RangeRepair({ name, range, claims }, log);
}
