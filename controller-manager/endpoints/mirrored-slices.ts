import { isIP } from 'node:net';
import { RESOURCE } from '../../shared/api/resource-names';
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '../../shared/api/types/core-v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../shared/api/types/discovery-v1';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { ANNOTATION } from '../../shared/names';
import type { ObjectMeta } from '../../shared/object/object';
import { SLICE_MIRROR, WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { isNamespaceTerminating } from '../pods/pod-control';
import { canonicalJson } from '../pods/template-hash';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { ownerReferenceTo } from '../runtime/owner';
import { ServiceSlices } from './service-slices';
import type { SliceGroup } from './slice-plan';
import { planSlices } from './slice-plan';

const WORKERS = 5;
/** Addresses of one subset that are mirrored. */
const PER_SUBSET_MAX = 1_000;
const ENDPOINTS = { ...RESOURCE.endpoints, kind: 'Endpoints' } as const;

/** Mirrors the Endpoints that clients write, for Services without a selector, to EndpointSlices. */
export async function runMirroredSlices(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { log, client, informers, options, createQueue, clock } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const services = informers.of(RESOURCE.services);
  const endpoints = informers.of(RESOURCE.endpoints);
  const slices = informers.of(RESOURCE.endpointslices);
  const enqueue = (object: Service | Endpoints): void => queue.add(keyOfObject(object));
  services.addHandler({
    onAdd: (service) => {
      if (service.spec.selector === undefined) enqueue(service);
    },
    onUpdate: (before, after) => {
      if ((before.spec.selector === undefined) !== (after.spec.selector === undefined)) enqueue(after);
    },
    onDelete: enqueue,
  });
  endpoints.addHandler({
    onAdd: enqueue,
    onUpdate: (_before, after) => enqueue(after),
    onDelete: enqueue,
  });
  const mirror = new Mirror({
    most: options.mirroringMaxEndpointsPerSubset ?? PER_SUBSET_MAX,
    report: recorder.reporterFor('endpoint-slice-mirroring-controller'),
    services,
    endpoints,
    slices: new ServiceSlices({ client, slices, clock, queue, manager: SLICE_MIRROR }),
  });
  await runInformedLoop(
    {
      informers: [services, endpoints, slices],
      queue,
      workers: options.mirroringConcurrentServiceEndpointSyncs ?? WORKERS,
      log,
      reconcile: async (key, stop) => mirror.reconcile(key, stop),
      recorder,
    },
    signal,
  );
}

interface MirrorParts {
  /** Addresses of one subset that are mirrored. */
  readonly most: number;
  readonly report: ReportEvent;
  readonly services: Informer<Service>;
  readonly endpoints: Informer<Endpoints>;
  readonly slices: ServiceSlices;
}

class Mirror {
  readonly #parts: MirrorParts;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { services, endpoints, slices } = this.#parts;
    if (!slices.areSeen(key)) return undefined;
    const existing = slices.of(key);
    const source = endpoints.store.get(key);
    const service = services.store.get(key);
    const isMirrored =
      source !== undefined &&
      service !== undefined &&
      service.spec.selector === undefined &&
      mayMirror(source);
    try {
      if (!isMirrored) await slices.delete(key, existing, signal);
      else await this.#write(source, existing, signal);
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error;
    }
    return undefined;
  }

  async #write(source: Endpoints, existing: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
    const plan = planSlices(this.#groups(source), existing, this.#parts.most);
    const owner = ownerReferenceTo(ENDPOINTS, source);
    const write = { ...plan, source, existing, metadata: metadataOf(source), owner };
    await this.#parts.slices.write(write, signal);
  }

  /** Returns the endpoints by address type and ports. Groups without endpoints have no slice. */
  #groups(source: Endpoints): readonly SliceGroup[] {
    const groups = new Map<string, SliceGroup & { readonly endpoints: Endpoint[] }>();
    let [invalid, skipped] = [0, 0];
    for (const { key, ports, addresses } of mergedSubsets(source)) {
      let added = 0;
      for (const { address, ready } of addresses) {
        const version = isIP(address.ip);
        const isSkipped = version === 0 || added === this.#parts.most;
        if (version === 0) invalid += 1;
        if (isSkipped) {
          skipped += 1;
          continue;
        }
        added += 1;
        const addressType = `IPv${String(version)}`;
        const group = groups.get(`${addressType}/${key}`) ?? { addressType, ports, endpoints: [] };
        groups.set(`${addressType}/${key}`, group);
        group.endpoints.push(endpointOf(address, ready));
      }
    }
    if (invalid > 0)
      this.#report(
        source,
        'InvalidIPAddress',
        `Skipped ${String(invalid)} invalid IP addresses when mirroring to EndpointSlices`,
      );
    if (skipped > invalid) {
      const message = `A max of ${String(this.#parts.most)} addresses can be mirrored to EndpointSlices per Endpoints subset. ${String(skipped)} addresses were skipped`;
      this.#report(source, 'TooManyAddressesToMirror', message);
    }
    return [...groups.values()];
  }

  #report(object: Endpoints, reason: string, message: string): void {
    this.#parts.report({ resource: ENDPOINTS, object }, { type: 'Warning', reason, message });
  }
}

/** Endpoints that were locks of a leader election, and those that say so, are not mirrored. */
function mayMirror({ metadata }: Endpoints): boolean {
  return (
    metadata.labels?.[WORKLOAD_LABEL.skipMirror] !== 'true' &&
    metadata.annotations?.[WORKLOAD_ANNOTATION.leader] === undefined
  );
}

function metadataOf(source: Endpoints): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const { name = '', labels, annotations = {} } = source.metadata;
  const left = new Set<string>([
    ANNOTATION.lastAppliedConfiguration,
    WORKLOAD_ANNOTATION.lastChangeTriggerTime,
  ]);
  return {
    labels: { ...labels, [WORKLOAD_LABEL.serviceName]: name, [WORKLOAD_LABEL.sliceManagedBy]: SLICE_MIRROR },
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !left.has(key))),
  };
}

interface ReadyAddress {
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

interface MergedSubset {
  readonly key: string;
  readonly ports: readonly EndpointPort[];
  readonly addresses: readonly ReadyAddress[];
}

/**
 * Merges subsets with the same ports, in any order. An address that several subsets have, by IP and object, is ready if it is in all of them
 * (upstream `RepackSubsets`). Ready addresses come first.
 */
function mergedSubsets({ subsets = [] }: Endpoints): readonly MergedSubset[] {
  const merged = new Map<
    string,
    { readonly ports: readonly EndpointPort[]; readonly known: Map<string, ReadyAddress> }
  >();
  for (const subset of subsets) {
    const ports = portsOf(subset);
    const key = canonicalJson(ports.map(canonicalJson).sort());
    const { known } = merged.get(key) ?? { known: new Map<string, ReadyAddress>() };
    if (!merged.has(key)) merged.set(key, { ports, known });
    for (const { address, ready } of addressesOf(subset)) {
      const identity = `${address.ip}/${address.targetRef?.uid ?? ''}`;
      const first = known.get(identity);
      known.set(identity, { address: first?.address ?? address, ready: ready && first?.ready !== false });
    }
  }
  return [...merged].map(([key, { ports, known }]) => ({
    key,
    ports,
    addresses: [...known.values()].sort((a, b) => Number(b.ready) - Number(a.ready)),
  }));
}

function portsOf({ ports = [] }: EndpointSubset): readonly EndpointPort[] {
  return ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }));
}

function addressesOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): readonly ReadyAddress[] {
  return [
    ...addresses.map((address) => ({ address, ready: true })),
    ...notReadyAddresses.map((address) => ({ address, ready: false })),
  ];
}

function endpointOf({ ip, hostname = '', nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === '' ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}
