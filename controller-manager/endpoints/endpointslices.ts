import { RESOURCE } from '../../shared/api/resource-names';
import type { Node, Pod, Service } from '../../shared/api/types/core-v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../shared/api/types/discovery-v1';
import { hasCode } from '../../shared/client/status';
import type { Informer } from '../../shared/informer/informer';
import { LABEL } from '../../shared/names';
import { ENDPOINTSLICE_MANAGER, WORKLOAD_LABEL } from '../../shared/workload-names';
import { isNamespaceTerminating, messageOf } from '../pods/pod-control';
import type { ControllerContext } from '../runtime/controller';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { isBeingDeleted, ownerReferenceTo } from '../runtime/owner';
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
import { ServiceSlices } from './service-slices';
import type { SliceGroup } from './slice-plan';
import { planSlices } from './slice-plan';

const WORKERS = 5;
const PER_SLICE = 100;
const SERVICE_KIND = { ...RESOURCE.services, kind: 'Service' } as const;

/** Keeps the EndpointSlices of every Service that selects pods, for each of its address families. */
export async function runEndpointSlices(
  context: ControllerContext,
  signal: AbortSignal,
  { batchMs = BATCH_MS }: { readonly batchMs?: number } = {},
): Promise<void> {
  const { log, client, informers, options, createQueue, clock } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const services = informers.of(RESOURCE.services);
  const pods = informers.of(RESOURCE.pods);
  const nodes = informers.of(RESOURCE.nodes);
  const slices = informers.of(RESOURCE.endpointslices);
  watchServices({ services, pods, queue, batchMs });
  const controller = new SliceController(context, {
    report: recorder.reporterFor('endpoint-slice-controller'),
    services,
    pods,
    nodes,
    slices: new ServiceSlices({ client, slices, clock, queue, manager: ENDPOINTSLICE_MANAGER }),
  });
  await runInformedLoop(
    {
      informers: [services, pods, nodes, slices],
      queue,
      workers: options.concurrentServiceEndpointSyncs ?? WORKERS,
      log,
      reconcile: async (key, stop) => controller.reconcile(key, stop),
      recorder,
    },
    signal,
  );
}

interface SliceParts {
  readonly report: ReportEvent;
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly slices: ServiceSlices;
}

class SliceController {
  readonly #context: ControllerContext;
  readonly #parts: SliceParts;

  constructor(context: ControllerContext, parts: SliceParts) {
    this.#context = context;
    this.#parts = parts;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { services, slices } = this.#parts;
    const service = services.store.get(key);
    if (service === undefined) {
      // The garbage collector deletes the slices.
      slices.forget(key);
      return undefined;
    }
    if (!selectsPods(service) || isBeingDeleted(service) || !slices.areSeen(key)) return undefined;
    try {
      await this.#write(service, slices.of(key), signal);
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
    const owned = existing.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid),
    );
    const { maxEndpointsPerSlice = PER_SLICE } = this.#context.options;
    const plan = planSlices(this.#groups(service), owned, maxEndpointsPerSlice);
    // Slices of an earlier Service of the name go as well.
    const remove = [...plan.remove, ...existing.filter((each) => !owned.includes(each))];
    const metadata = { labels: labelsOf(service) };
    const owner = ownerReferenceTo(SERVICE_KIND, service);
    const write = { ...plan, remove, source: service, existing: owned, metadata, owner };
    await this.#parts.slices.write(write, signal);
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
