import { isInForce } from '../../../../shared/api/changes';
import type { Service } from '../../../../shared/api/types/core-v1';
import { invalid, invalidObject } from '../../../../shared/errors/field-error';
import type { FieldError } from '../../../../shared/errors/field-error';
import { internalError } from '../../../../shared/errors/status-error';
import type { Holdings } from './holdings';
import { openHoldings } from './holdings';
import type { Pool, TakeOutcome } from './pool';
import type { Reservation, ReservedWrite, Reserver } from '../../../engine/registry/reservation';
import {
  HEADLESS,
  heldAddresses,
  heldPorts,
  needsClusterIp,
  needsHealthCheckPort,
  needsNodePorts,
  withSpec,
} from './service-spec';
import { externalTraffic } from './external-traffic';
import { withFamilies } from './service-families';
import { fillsNodePorts, portProblem, withNodePorts } from './service-node-ports';
import type { Family } from './value-range';
import { canonicalAddress } from './value-range';

export interface ServicePools {
  /** The families that Services have addresses of, the default first. */
  readonly families: readonly Family[];
  /** Returns the pools of a family from which addresses can be taken. They share their claims. */
  readonly addressesOf: (family: string) => readonly Pool[];
  /** The addresses of all pools, to give them back. */
  readonly allAddresses: Pool;
  readonly nodePorts: Pool;
  /** The gate IPv6DualStack is off: each Service has one address, of the default family, and says nothing of families. */
  readonly isSingleFamily?: boolean;
  /** Balancers may say that they need no ports of nodes. */
  readonly optionalNodePorts?: boolean;
}

const SERVICE = { group: '', kind: 'Service' } as const;

/** A write of a Service: no other kind reserves these values. */
interface ServiceWrite extends ReservedWrite {
  readonly next: Service | undefined;
  readonly previous: Service | undefined;
}

/**
 * The reserver of Services: cluster addresses, node ports and health check ports. What the client asks for is taken or refused, what
 * it leaves open is filled in; what the previous version held stays its own without a look at the store. A dry run takes nothing: its
 * answer shows no address, or that of the network, and made-up ports beyond the range.
 */
export function createServiceReserver(pools: ServicePools): Reserver {
  return async (reserved, signal) => {
    const write = reserved as ServiceWrite;
    const before = write.previous?.spec ?? {};
    const held = { addresses: heldAddresses(before), ports: heldPorts(before) };
    const holdings = openHoldings(ownerOf(write), { dryRun: write.dryRun, signal });
    const object = await holdings.guard(() => fill(write, { pools, holdings, held }));
    const after = object?.spec ?? {};
    const kept = { addresses: heldAddresses(after), ports: heldPorts(after) };
    return {
      object,
      release: holdings.release,
      commit: (revision) =>
        holdings.letGo(
          [
            ...without(held.addresses, kept.addresses).map((value) => ({ pool: pools.allAddresses, value })),
            ...without(held.ports, kept.ports).map((value) => ({ pool: pools.nodePorts, value })),
          ],
          revision,
        ),
    } satisfies Reservation;
  };
}

interface Filling {
  readonly pools: ServicePools;
  readonly holdings: Holdings;
  readonly held: { readonly addresses: readonly string[]; readonly ports: readonly string[] };
}

function ownerOf({ next, previous, namespace, name }: ReservedWrite): {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
} {
  return { namespace, name, uid: previous?.metadata.uid ?? next?.metadata.uid ?? '' };
}

function without(values: readonly string[], kept: readonly string[]): readonly string[] {
  return values.filter((value) => !kept.includes(value));
}

async function fill({ next, previous }: ServiceWrite, filling: Filling): Promise<Service | undefined> {
  if (next === undefined) return undefined;
  const { families } = filling.pools;
  const isSingle = filling.pools.isSingleFamily === true;
  const { service, errors } = isSingle
    ? { service: next, errors: [] }
    : withFamilies(next, families, previous);
  if (errors.length > 0) throw refusal(next, errors);
  const wanted = isSingle ? families.slice(0, 1) : (service.spec.ipFamilies ?? []);
  const addressed = await withAddresses(service, wanted, filling);
  const fills = filling.pools.optionalNodePorts !== true || fillsNodePorts(addressed.spec);
  const ported = needsNodePorts(addressed.spec) ? await withNodePorts(addressed, filling, fills) : addressed;
  const filled = needsHealthCheckPort(ported.spec) ? await withHealthCheckPort(ported, filling) : ported;
  const mismatches = externalTraffic(filled.spec);
  if (mismatches.length > 0) throw refusal(next, mismatches);
  return filled;
}

/** With an address of each of these families; where it held more of them before, it keeps those. */
async function withAddresses(
  service: Service,
  families: readonly string[],
  filling: Filling,
): Promise<Service> {
  const { spec } = service;
  const { clusterIPs: asked = [] } = spec;
  if (!needsClusterIp(spec) || asked[0] === HEADLESS) return service;
  const isHeld = (address: string): boolean => filling.held.addresses.includes(canonicalAddress(address));
  if (asked.length >= families.length && asked.every(isHeld)) return service;
  if (filling.holdings.dryRun && !isInForce('dryRunAddresses')) return service;
  const addresses: string[] = [];
  for (const [index, family] of families.entries()) {
    const address = asked[index];
    if (address === undefined) addresses.push(await anyAddress(family, filling));
    else {
      if (!isHeld(address)) await thisAddress(service, { address, family }, filling);
      addresses.push(address);
    }
  }
  return withSpec(service, { clusterIP: addresses[0], clusterIPs: addresses });
}

async function anyAddress(family: string, { pools, holdings }: Filling): Promise<string> {
  for (const pool of pools.addressesOf(family)) {
    if (holdings.dryRun) return pool.range.text.replace(/\/.*$/, '');
    const outcome = await holdings.takeAny(pool);
    if (outcome.ok) return outcome.taken.value;
  }
  throw internalError(new Error('failed to allocate a serviceIP: range is full'));
}

/** Takes the address from any of the ranges that have it. */
async function thisAddress(
  service: Service,
  { address, family }: { readonly address: string; readonly family: string },
  { pools, holdings }: Filling,
): Promise<void> {
  const candidates = pools.addressesOf(family);
  const pool = candidates.find(({ range }) => range.indexOf(address) !== undefined);
  // As upstream, a dry run does not look whether the address is free: it may be taken until the Service is created.
  if (pool !== undefined && holdings.dryRun) return;
  const outcome = pool === undefined ? OUTSIDE : await holdings.take(pool, address);
  if (outcome.ok) return;
  const ranges = candidates.map(({ range }) => range.text).join(',');
  const why = `failed to allocated ip:${address} with error:${addressProblem(outcome, ranges)}`;
  throw refusal(service, [invalid('spec.clusterIPs', service.spec.clusterIPs, why)]);
}

const OUTSIDE: TakeOutcome & { readonly ok: false } = { ok: false, why: 'outside' };

function addressProblem(outcome: TakeOutcome & { readonly ok: false }, ranges: string): string {
  if (outcome.why === 'taken') return 'provided IP is already allocated';
  return `provided IP is not in the valid range. The range of valid IPs is ${ranges}`;
}

async function withHealthCheckPort(service: Service, { pools, holdings, held }: Filling): Promise<Service> {
  const { healthCheckNodePort: asked = 0 } = service.spec;
  if (asked !== 0 && held.ports.includes(String(asked))) return service;
  if (asked === 0) {
    const outcome = await holdings.takeAny(pools.nodePorts);
    if (!outcome.ok)
      throw internalError(new Error('failed to allocate a HealthCheck NodePort 0: range is full'));
    return withSpec(service, { healthCheckNodePort: Number(outcome.taken.value) });
  }
  const outcome = await holdings.take(pools.nodePorts, String(asked));
  if (outcome.ok) return service;
  const what = `failed to allocate requested HealthCheck NodePort ${String(asked)}`;
  throw internalError(new Error(`${what}: ${portProblem(outcome, pools.nodePorts)}`));
}

function refusal(service: Service, errors: readonly FieldError[]): Error {
  return invalidObject(SERVICE, service.metadata.name ?? '', errors);
}
