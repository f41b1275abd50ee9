import { RESOURCE } from '../../shared/api/resource-names';
import type {
  EndpointAddress,
  EndpointPort,
  Endpoints,
  EndpointSubset,
  Pod,
  Service,
} from '../../shared/api/types/core-v1';
import { hasCode } from '../../shared/client/status';
import { keyOfObject } from '../../shared/informer/store';
import { deepEqual } from '../../shared/object/clone';
import { WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { isNamespaceTerminating, messageOf } from '../pods/pod-control';
import { canonicalJson } from '../pods/template-hash';
import type { ControllerContext } from '../runtime/controller';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
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

const WORKERS = 5;
/** More addresses are left out, and an annotation says so. */
const ADDRESSES_MAX = 1_000;
const ENDPOINTS_KIND = { ...RESOURCE.endpoints, kind: 'Endpoints' } as const;

/** Keeps the Endpoints of every Service that selects pods. */
export async function runEndpoints(
  context: ControllerContext,
  signal: AbortSignal,
  { batchMs = BATCH_MS }: { readonly batchMs?: number } = {},
): Promise<void> {
  const { log, client, informers, options, createQueue, clock } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('endpoint-controller');
  const services = informers.of(RESOURCE.services);
  const pods = informers.of(RESOURCE.pods);
  const endpoints = informers.of(RESOURCE.endpoints);
  watchServices({ services, pods, queue, batchMs });
  const enqueueOwn = (object: Endpoints): void => {
    // Endpoints that a client wrote for a Service without a selector are left alone, and so are those without a Service.
    if (services.store.get(keyOfObject(object)) !== undefined || isManaged(object))
      queue.add(keyOfObject(object));
  };
  endpoints.addHandler({
    onAdd: enqueueOwn,
    onUpdate: (_before, after) => enqueueOwn(after),
    onDelete: enqueueOwn,
  });

  const reconcile = async (key: string, stop: AbortSignal): Promise<undefined> => {
    const service = services.store.get(key);
    const current = endpoints.store.get(key);
    if (service === undefined) {
      if (current !== undefined && isManaged(current)) await remove(context, current, stop);
      return undefined;
    }
    if (!selectsPods(service)) return undefined;
    const wanted = endpointsOf(service, podsOfService(service, pods), current);
    if (current !== undefined && isSame(current, wanted)) return undefined;
    try {
      if (current === undefined) await client.create(RESOURCE.endpoints, wanted, { signal: stop });
      else await client.update(RESOURCE.endpoints, wanted, { signal: stop });
    } catch (error) {
      if (isNamespaceTerminating(error) || stop.aborted) return undefined;
      // Another writer was faster: its event brings the next attempt.
      if (hasCode(error, 409, 404)) throw error;
      const [reason, verb] =
        current === undefined ? ['FailedToCreateEndpoint', 'create'] : ['FailedToUpdateEndpoint', 'update'];
      const message = `Failed to ${verb} endpoint for service ${key}: ${messageOf(error)}`;
      report({ resource: ENDPOINTS_KIND, object: current ?? service }, { type: 'Warning', reason, message });
      throw error;
    }
    return undefined;
  };
  await runInformedLoop(
    {
      informers: [services, pods, endpoints],
      queue,
      workers: options.concurrentEndpointSyncs ?? WORKERS,
      log,
      reconcile,
      recorder,
    },
    signal,
  );
}

async function remove(
  { client }: ControllerContext,
  { metadata }: Endpoints,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', uid = '' } = metadata;
  try {
    await client.delete(RESOURCE.endpoints, { namespace, name }, { preconditions: { uid } }, { signal });
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
  }
}

/** Endpoints of a deleted Service are deleted only if this controller wrote them. */
function isManaged({ metadata }: Endpoints): boolean {
  return (
    metadata.labels?.[WORKLOAD_LABEL.endpointsManagedBy] === MANAGER ||
    metadata.annotations?.[WORKLOAD_ANNOTATION.lastChangeTriggerTime] !== undefined
  );
}

const MANAGER = 'endpoint-controller';

function isSame(current: Endpoints, wanted: Endpoints): boolean {
  return (
    deepEqual(current.subsets ?? [], wanted.subsets ?? []) &&
    deepEqual(current.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    deepEqual(current.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})
  );
}

/** Returns the Endpoints of a Service, given its pods, on the basis of the current ones (upstream `syncService`). */
export function endpointsOf(
  service: Service,
  pods: readonly Pod[],
  current: Endpoints | undefined,
): Endpoints {
  const { name = '', namespace = '', labels } = service.metadata;
  const { [WORKLOAD_ANNOTATION.overCapacity]: _over, ...annotations } = current?.metadata.annotations ?? {};
  const all = subsetsOf(service, pods);
  const { subsets, isCut } = cut(all);
  const own = {
    ...labels,
    [WORKLOAD_LABEL.endpointsManagedBy]: MANAGER,
    ...(isHeadless(service) ? { [WORKLOAD_LABEL.headless]: '' } : {}),
  };
  if (!isHeadless(service)) Reflect.deleteProperty(own, WORKLOAD_LABEL.headless);
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...(current?.metadata ?? { name, namespace }),
      labels: own,
      annotations: isCut ? { ...annotations, [WORKLOAD_ANNOTATION.overCapacity]: 'truncated' } : annotations,
    },
    subsets,
  };
}

interface Placed {
  readonly address: EndpointAddress;
  readonly ports: readonly EndpointPort[];
  readonly isReady: boolean;
}

/** Pods with the same ports are one subset, ordered as by upstream's `RepackSubsets`: by address. */
function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const groups = new Map<string, Placed[]>();
  for (const pod of pods) {
    const placed = placedPod(service, pod);
    if (placed === undefined) continue;
    const key = canonicalJson(placed.ports);
    groups.set(key, [...(groups.get(key) ?? []), placed]);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => {
      const addressesOf = (isReady: boolean): readonly EndpointAddress[] =>
        members
          .filter((each) => each.isReady === isReady)
          .map(({ address }) => address)
          .sort((a, b) => (a.ip < b.ip ? -1 : Number(a.ip > b.ip)));
      const [addresses, notReadyAddresses] = [addressesOf(true), addressesOf(false)];
      const ports = members[0]?.ports ?? [];
      return {
        ...(addresses.length === 0 ? {} : { addresses }),
        ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
        ...(ports.length === 0 ? {} : { ports }),
      };
    });
}

function placedPod(service: Service, pod: Pod): Placed | undefined {
  const { spec } = service;
  const publishes = spec.publishNotReadyAddresses === true;
  if (!hasEndpoint(pod, { includesTerminating: publishes })) return undefined;
  const wantsIPv6 =
    spec.ipFamilies?.[0] === undefined ? isIPv6(spec.clusterIP ?? '') : spec.ipFamilies[0] === 'IPv6';
  const ip = ipsOf(pod).find((each) => isIPv6(each) === wantsIPv6);
  const ports = endpointPorts(service, pod);
  const isPortless = (spec.ports ?? []).length === 0 && spec.clusterIP === 'None';
  if (ip === undefined || (ports.length === 0 && !isPortless)) return undefined;
  const { nodeName } = pod.spec;
  const hostname = hostnameOf(pod, service);
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  return {
    address: {
      ip,
      ...(hostname === undefined ? {} : { hostname }),
      ...(nodeName === undefined ? {} : { nodeName }),
      targetRef: { kind: 'Pod', namespace, name, uid },
    },
    ports,
    isReady: publishes || isServing(pod),
  };
}

function endpointPorts({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec.ports ?? [])
    .flatMap((each): EndpointPort[] => {
      const port = targetPortOf(pod, each);
      const { name, protocol = 'TCP', appProtocol } = each;
      if (port === undefined) return [];
      return [
        {
          ...(name === undefined || name === '' ? {} : { name }),
          port,
          protocol,
          ...(appProtocol === undefined ? {} : { appProtocol }),
        },
      ];
    })
    .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

/** Keeps at most 1,000 addresses, ready ones before others. */
function cut(subsets: readonly EndpointSubset[]): {
  readonly subsets: readonly EndpointSubset[];
  readonly isCut: boolean;
} {
  const count = (list: keyof EndpointSubset): number =>
    subsets.reduce((sum, each) => sum + (each[list]?.length ?? 0), 0);
  if (count('addresses') + count('notReadyAddresses') <= ADDRESSES_MAX) return { subsets, isCut: false };
  let left = ADDRESSES_MAX;
  const take = (list: readonly EndpointAddress[] = []): readonly EndpointAddress[] => {
    const taken = list.slice(0, left);
    left -= taken.length;
    return taken;
  };
  const ready = subsets.map(({ addresses }) => take(addresses));
  const rest = subsets.map(({ notReadyAddresses }) => take(notReadyAddresses));
  const kept = subsets.map(({ ports }, at): EndpointSubset => {
    const [addresses = [], notReadyAddresses = []] = [ready[at], rest[at]];
    return {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
      ...(ports === undefined ? {} : { ports }),
    };
  });
  return {
    subsets: kept.filter(
      ({ addresses, notReadyAddresses }) => addresses !== undefined || notReadyAddresses !== undefined,
    ),
    isCut: true,
  };
}
