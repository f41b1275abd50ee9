import { isIP } from 'node:net';
import { RESOURCE } from '../../shared/api/resource-names';
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '../../shared/api/types/core-v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../shared/api/types/discovery-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import { systemClock } from '../../shared/concurrency/clock';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { ANNOTATION } from '../../shared/names';
import { deepEqual } from '../../shared/object/clone';
import type { ObjectMeta } from '../../shared/object/object';
import { SLICE_MIRROR, WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { Expectations } from '../pods/expectations';
import { isNamespaceTerminating } from '../pods/pod-control';
import { canonicalJson } from '../pods/template-hash';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { isBeingDeleted, ownerReferenceTo } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import type { SliceGroup } from './slice-plan';
import { planSlices } from './slice-plan';

const WORKERS = 5;
/** Addresses of one subset that are mirrored. */
const PER_SUBSET_MAX = 1_000;
const NAME_CHARS_MAX = 253;
const ENDPOINTS = { ...RESOURCE.endpoints, kind: 'Endpoints' } as const;

/** Mirrors the Endpoints that clients write, for Services without a selector, to EndpointSlices. */
export async function runMirroredSlices(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock: systemClock, log });
  const services = informers.of(RESOURCE.services);
  const endpoints = informers.of(RESOURCE.endpoints);
  const slices = informers.of(RESOURCE.endpointslices);
  const expectations = new Expectations(slices.store, systemClock);
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
  const enqueueOwner = (slice: EndpointSlice): void => {
    const name = slice.metadata.labels?.[WORKLOAD_LABEL.serviceName];
    if (name !== undefined && isMirror(slice)) queue.add(`${slice.metadata.namespace ?? ''}/${name}`);
  };
  slices.addHandler({
    onAdd: enqueueOwner,
    onUpdate: (before, after) => {
      enqueueOwner(before);
      enqueueOwner(after);
    },
    onDelete: (slice) => {
      expectations.noteDeleted(slice);
      enqueueOwner(slice);
    },
  });
  const mirror = new Mirror(client, {
    most: options.mirroringMaxEndpointsPerSubset ?? PER_SUBSET_MAX,
    report: recorder.reporterFor('endpoint-slice-mirroring-controller'),
    services,
    endpoints,
    slices,
    expectations,
  });
  await Promise.all([
    recorder.run(signal),
    runInformedLoop(
      {
        informers: [services, endpoints, slices],
        queue,
        workers: options.mirroringConcurrentServiceEndpointSyncs ?? WORKERS,
        log,
        reconcile: async (key, stop) => mirror.reconcile(key, stop),
      },
      signal,
    ),
  ]);
}

function isMirror({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[WORKLOAD_LABEL.sliceManagedBy] === SLICE_MIRROR;
}

interface MirrorParts {
  /** Addresses of one subset that are mirrored. */
  readonly most: number;
  readonly report: ReportEvent;
  readonly services: Informer<Service>;
  readonly endpoints: Informer<Endpoints>;
  readonly slices: Informer<EndpointSlice>;
  readonly expectations: Expectations<EndpointSlice>;
}

class Mirror {
  readonly #client: Client;
  readonly #parts: MirrorParts;

  constructor(client: Client, parts: MirrorParts) {
    this.#client = client;
    this.#parts = parts;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { services, endpoints, slices, expectations } = this.#parts;
    if (!expectations.areMet(key)) return undefined;
    const [namespace = '', name] = key.split('/');
    const existing = slices.store
      .byIndex(INDEX.namespace, namespace)
      .filter((slice) => isMirror(slice) && slice.metadata.labels?.[WORKLOAD_LABEL.serviceName] === name);
    const source = endpoints.store.get(key);
    const service = services.store.get(key);
    const isMirrored =
      source !== undefined &&
      service?.spec.selector === undefined &&
      service !== undefined &&
      mayMirror(source);
    if (!isMirrored) await this.#delete(key, existing, signal);
    else await this.#write(source, existing, signal);
    return undefined;
  }

  async #write(source: Endpoints, existing: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
    const key = keyOfObject(source);
    const { expectations } = this.#parts;
    const groups = this.#groups(source);
    const plan = planSlices(groups, existing, this.#parts.most);
    const metadata = metadataOf(source);
    const updates = new Map(plan.update.map(({ slice, endpoints }) => [slice, endpoints]));
    const removed = new Set(plan.remove);
    for (const slice of existing) {
      if (removed.has(slice)) continue;
      const endpoints = updates.get(slice) ?? slice.endpoints;
      if (!updates.has(slice) && hasMetadata(slice, metadata)) continue;
      const changed = { ...slice, metadata: { ...slice.metadata, ...metadata }, endpoints };
      await this.#client.update(RESOURCE.endpointslices, changed, { signal });
    }
    if (!isBeingDeleted(source))
      for (const group of plan.create) {
        const { namespace, name = '' } = source.metadata;
        const generateName = name.length < NAME_CHARS_MAX ? `${name}-` : name;
        const place = namespace === undefined ? {} : { namespace };
        try {
          const created = await this.#client.create(
            RESOURCE.endpointslices,
            {
              apiVersion: `${RESOURCE.endpointslices.group}/${RESOURCE.endpointslices.version}`,
              kind: 'EndpointSlice',
              metadata: { ...metadata, generateName, ...place },
              ...group,
            },
            { signal },
          );
          expectations.created(key, created);
        } catch (error) {
          if (isNamespaceTerminating(error)) return;
          throw error;
        }
      }
    await this.#delete(key, plan.remove, signal);
  }

  async #delete(key: string, slices: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
    for (const slice of slices) {
      if (isBeingDeleted(slice)) continue;
      const { namespace, name = '', uid = '' } = slice.metadata;
      const preconditions = { uid };
      await this.#client
        .delete(RESOURCE.endpointslices, { namespace, name }, { preconditions }, { signal })
        .catch((error: unknown) => {
          if (!hasCode(error, 404, 409)) throw error;
        });
      this.#parts.expectations.deletes(key, slice);
    }
  }

  /** The endpoints by address type and ports; subsets with the same ports are one. Groups without endpoints have no slice. */
  #groups(source: Endpoints): readonly SliceGroup[] {
    const groups = new Map<string, { group: SliceGroup; byAddress: Map<string, Endpoint> }>();
    let [invalid, skipped] = [0, 0];
    for (const subset of source.subsets ?? []) {
      const ports = portsOf(subset);
      let added = 0;
      for (const { address, ready } of addressesOf(subset)) {
        if (isIP(address.ip) === 0) invalid += 1;
        if (isIP(address.ip) === 0 || added === this.#parts.most) {
          skipped += 1;
          continue;
        }
        added += 1;
        const addressType = isIP(address.ip) === 6 ? 'IPv6' : 'IPv4';
        // As in the plan of slices, the order of ports does not matter.
        const key = canonicalJson([addressType, ports.map(canonicalJson).sort()]);
        const known = groups.get(key) ?? {
          group: { addressType, ports, endpoints: [] },
          byAddress: new Map<string, Endpoint>(),
        };
        groups.set(key, known);
        known.byAddress.set(address.ip, endpointOf(address, ready));
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
    return [...groups.values()].map(({ group, byAddress }) => ({
      ...group,
      endpoints: [...byAddress.values()],
    }));
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

function metadataOf(source: Endpoints): Pick<ObjectMeta, 'labels' | 'annotations' | 'ownerReferences'> {
  const { name = '', labels, annotations = {} } = source.metadata;
  const left = new Set<string>([
    ANNOTATION.lastAppliedConfiguration,
    WORKLOAD_ANNOTATION.lastChangeTriggerTime,
  ]);
  return {
    labels: { ...labels, [WORKLOAD_LABEL.serviceName]: name, [WORKLOAD_LABEL.sliceManagedBy]: SLICE_MIRROR },
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !left.has(key))),
    ownerReferences: [ownerReferenceTo(ENDPOINTS, source)],
  };
}

function hasMetadata(
  { metadata }: EndpointSlice,
  { labels, annotations, ownerReferences }: Pick<ObjectMeta, 'labels' | 'annotations' | 'ownerReferences'>,
): boolean {
  return (
    deepEqual(metadata.labels, labels) &&
    deepEqual(metadata.annotations ?? {}, annotations) &&
    metadata.ownerReferences?.some(({ uid }) => uid === ownerReferences?.[0]?.uid) === true
  );
}

function portsOf({ ports = [] }: EndpointSubset): readonly EndpointPort[] {
  return ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }));
}

function addressesOf({
  addresses = [],
  notReadyAddresses = [],
}: EndpointSubset): readonly { readonly address: EndpointAddress; readonly ready: boolean }[] {
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
