import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, Service } from '../../shared/api/types/core-v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../shared/api/types/discovery-v1';
import { hasCode } from '../../shared/client/status';
import { systemClock } from '../../shared/concurrency/clock';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { LABEL } from '../../shared/names';
import { deepEqual } from '../../shared/object/clone';
import type { Sent } from '../../shared/object/object';
import { ENDPOINTSLICE_MANAGER, WORKLOAD_LABEL } from '../../shared/workload-names';
import { Expectations } from '../pods/expectations';
import { isNamespaceTerminating, messageOf } from '../pods/pod-control';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { isBeingDeleted, ownerReferenceTo } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import {
  BATCH_MS,
  hasEndpoint,
  hostnameOf,
  ipsOf,
  isHeadless,
  isIPv6,
  isServing,
  podsOfService,
  selectsPods,
  targetPortOf,
  watchServices,
} from './service-pods';
import type { SliceGroup } from './slice-plan';
import { planSlices } from './slice-plan';

const WORKERS = 5;
const PER_SLICE = 100;
const NAME_CHARS_MAX = 253;
const SERVICE_KIND = { ...RESOURCE.services, kind: 'Service' } as const;

/** Keeps the EndpointSlices of every Service that selects pods, for each of its address families. */
export async function runEndpointSlices(
  context: ControllerContext,
  signal: AbortSignal,
  { batchMs = BATCH_MS }: { readonly batchMs?: number } = {},
): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock: systemClock, log });
  const services = informers.of(RESOURCE.services);
  const pods = informers.of(RESOURCE.pods);
  const nodes = informers.of(RESOURCE.nodes);
  const slices = informers.of(RESOURCE.endpointslices);
  const expectations = new Expectations(slices.store, systemClock);
  watchServices({ services, pods, queue, batchMs });
  const enqueueService = (slice: EndpointSlice): void => {
    const name = slice.metadata.labels?.[WORKLOAD_LABEL.serviceName];
    if (name !== undefined && isManaged(slice)) queue.add(`${slice.metadata.namespace ?? ''}/${name}`);
  };
  slices.addHandler({
    onAdd: enqueueService,
    onUpdate: (_before, after) => enqueueService(after),
    onDelete: (slice) => {
      expectations.noteDeleted(slice);
      enqueueService(slice);
    },
  });
  const controller = new SliceController(context, {
    report: recorder.reporterFor('endpoint-slice-controller'),
    services,
    pods,
    nodes,
    slices,
    expectations,
  });
  await Promise.all([
    recorder.run(signal),
    runInformedLoop(
      {
        informers: [services, pods, nodes, slices],
        queue,
        workers: options.concurrentServiceEndpointSyncs ?? WORKERS,
        log,
        reconcile: async (key, stop) => controller.reconcile(key, stop),
      },
      signal,
    ),
  ]);
}

function isManaged({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[WORKLOAD_LABEL.sliceManagedBy] === ENDPOINTSLICE_MANAGER;
}

interface SliceParts {
  readonly report: ReportEvent;
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly slices: Informer<EndpointSlice>;
  readonly expectations: Expectations<EndpointSlice>;
}

class SliceController {
  readonly #context: ControllerContext;
  readonly #parts: SliceParts;

  constructor(context: ControllerContext, parts: SliceParts) {
    this.#context = context;
    this.#parts = parts;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { services, slices, expectations } = this.#parts;
    const service = services.store.get(key);
    if (service === undefined) {
      // The garbage collector deletes the slices.
      expectations.forget(key);
      return undefined;
    }
    // A slice that is not seen yet would be made a second time; its event brings the next pass.
    if (!selectsPods(service) || isBeingDeleted(service) || !expectations.areMet(key)) return undefined;
    const { namespace = '', name = '' } = service.metadata;
    const existing = slices.store
      .byIndex(INDEX.namespace, namespace)
      .filter(
        (slice) =>
          slice.metadata.labels?.[WORKLOAD_LABEL.serviceName] === name &&
          isManaged(slice) &&
          !isBeingDeleted(slice),
      );
    try {
      await this.#write(service, existing, signal);
    } catch (error) {
      if (signal.aborted || isNamespaceTerminating(error)) return undefined;
      const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`;
      const about = { resource: SERVICE_KIND, object: service };
      if (!hasCode(error, 409))
        this.#parts.report(about, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message });
      throw error;
    }
    return undefined;
  }

  async #write(service: Service, existing: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
    const { client, options } = this.#context;
    const { expectations } = this.#parts;
    const key = keyOfObject(service);
    const owned = existing.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid),
    );
    const plan = planSlices(this.#groups(service), owned, options.maxEndpointsPerSlice ?? PER_SLICE);
    const labels = labelsOf(service);
    const changed = new Map(plan.update.map(({ slice, endpoints }) => [slice, endpoints]));
    for (const slice of owned) {
      const endpoints = changed.get(slice) ?? slice.endpoints ?? [];
      const isRemoved = plan.remove.includes(slice);
      if (isRemoved || (!changed.has(slice) && deepEqual(slice.metadata.labels, labels))) continue;
      const metadata = { ...slice.metadata, labels };
      await client.update(RESOURCE.endpointslices, { ...slice, metadata, endpoints }, { signal });
    }
    for (const group of plan.create) {
      const created = await client.create(RESOURCE.endpointslices, newSlice(service, group), { signal });
      expectations.created(key, created);
    }
    // Slices of an earlier Service of the name go as well.
    for (const slice of [...plan.remove, ...existing.filter((each) => !owned.includes(each))]) {
      const { namespace, name = '', uid = '' } = slice.metadata;
      const preconditions = { uid };
      await client
        .delete(RESOURCE.endpointslices, { namespace, name }, { preconditions }, { signal })
        .catch((error: unknown) => {
          if (!hasCode(error, 404, 409)) throw error;
        });
      expectations.deletes(key, slice);
    }
  }

  /** The wanted endpoints by address type and ports; a type without any has an empty group. */
  #groups(service: Service): readonly SliceGroup[] {
    const { pods, nodes } = this.#parts;
    const own = podsOfService(service, pods).filter((pod) => hasEndpoint(pod, { includesTerminating: true }));
    return addressTypesOf(service).flatMap((addressType) => {
      const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: Endpoint[] }>();
      for (const pod of own) {
        const node = nodes.store.get(pod.spec.nodeName ?? '');
        const endpoint = endpointOf(pod, service, { addressType, node });
        if (endpoint === undefined) continue;
        const ports = portsOf(service, pod);
        const key = JSON.stringify(ports);
        const group = groups.get(key) ?? { ports, endpoints: [] };
        group.endpoints.push(endpoint);
        groups.set(key, group);
      }
      if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }];
      return [...groups.values()].map((group) => ({ addressType, ...group }));
    });
  }
}

function addressTypesOf({ spec }: Service): readonly string[] {
  const { ipFamilies = [], clusterIP = '' } = spec;
  if (ipFamilies.length > 0) return ipFamilies;
  if (clusterIP !== '' && clusterIP !== 'None') return [isIPv6(clusterIP) ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}

function endpointOf(
  pod: Pod,
  service: Service,
  { addressType, node }: { readonly addressType: string; readonly node: Node | undefined },
): Endpoint | undefined {
  const addresses = ipsOf(pod).filter((ip) => isIPv6(ip) === (addressType === 'IPv6'));
  if (addresses.length === 0) return undefined;
  const serving = isServing(pod);
  const terminating = isBeingDeleted(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const { nodeName } = pod.spec;
  const zone = node?.metadata.labels?.[LABEL.topologyZone];
  const hostname = hostnameOf(pod, service);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined || zone === '' ? {} : { zone }),
  };
}

function portsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec.ports ?? []).flatMap((each): EndpointPort[] => {
    const port = targetPortOf(pod, each);
    const { name = '', protocol = 'TCP', appProtocol } = each;
    if (port === undefined) return [];
    return [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function newSlice(service: Service, { addressType, ports, endpoints }: SliceGroup): Sent<EndpointSlice> {
  const { name = '', namespace = '' } = service.metadata;
  return {
    apiVersion: `${RESOURCE.endpointslices.group}/${RESOURCE.endpointslices.version}`,
    kind: 'EndpointSlice',
    metadata: {
      generateName: name.length < NAME_CHARS_MAX ? `${name}-` : name,
      namespace,
      labels: labelsOf(service),
      ownerReferences: [ownerReferenceTo(SERVICE_KIND, service)],
    },
    addressType,
    endpoints,
    ports,
  };
}

/** The labels of the Service, and those by which its slices are found. */
function labelsOf(service: Service): Readonly<Record<string, string>> {
  const { name = '', labels } = service.metadata;
  const { [WORKLOAD_LABEL.headless]: _headless, ...rest } = labels ?? {};
  return {
    ...rest,
    ...(isHeadless(service) ? { [WORKLOAD_LABEL.headless]: '' } : {}),
    [WORKLOAD_LABEL.serviceName]: name,
    [WORKLOAD_LABEL.sliceManagedBy]: ENDPOINTSLICE_MANAGER,
  };
}
