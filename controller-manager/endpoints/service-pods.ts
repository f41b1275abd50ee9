import type { Pod, Service, ServicePort } from '../../shared/api/types/core-v1';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { labelSelectorFromMap, matchesLabels } from '../../shared/meta/labels';
import { deepEqual } from '../../shared/object/clone';
import { selectorReader } from '../pods/children';
import { hasEnded } from '../pods/pod-state';
import { isBeingDeleted } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';

/** Changes of pods within this time are handled together, so that a rollout does not rewrite the endpoints for each pod. */
export const BATCH_MS = 1_000;

export interface ServiceWatch {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly queue: WorkQueue;
  /** How long a change of a pod waits for others, in milliseconds. */
  readonly batchMs: number;
}

/** Reports whether the endpoints of the Service are made of pods; others are written by clients. */
export function selectsPods({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && spec.selector !== undefined;
}

/** Enqueues the Services that change, and those whose pods change in a way that matters for endpoints. */
export function watchServices({ services, pods, queue, batchMs }: ServiceWatch): void {
  const selectorOf = selectorReader(({ spec }: Service) => labelSelectorFromMap(spec.selector ?? {}));
  const enqueue = (service: Service): void => queue.add(keyOfObject(service));
  services.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after), onDelete: enqueue });
  const enqueueSelecting = ({ metadata }: Pod): void => {
    for (const service of services.store.byIndex(INDEX.namespace, metadata.namespace ?? ''))
      if (selectsPods(service) && matchesLabels(selectorOf(service), metadata.labels))
        queue.addAfter(keyOfObject(service), batchMs);
  };
  pods.addHandler({
    onAdd: enqueueSelecting,
    onUpdate: (before, after) => {
      const isRelabelled = !deepEqual(before.metadata.labels, after.metadata.labels);
      if (!isRelabelled && deepEqual(endpointPartsOf(before), endpointPartsOf(after))) return;
      if (isRelabelled) enqueueSelecting(before);
      enqueueSelecting(after);
    },
    onDelete: enqueueSelecting,
  });
}

/** What of a pod is in endpoints (upstream `podEndpointsChanged`). */
function endpointPartsOf(pod: Pod): object {
  const { spec, status } = pod;
  return {
    isReady: isServing(pod),
    isLeaving: isBeingDeleted(pod),
    hasEnded: hasEnded(pod),
    ips: status?.podIPs ?? status?.podIP,
    node: spec.nodeName,
    host: [spec.hostname, spec.subdomain],
  };
}

/** Returns the pods of a Service. */
export function podsOfService({ metadata, spec }: Service, pods: Informer<Pod>): readonly Pod[] {
  const selector = labelSelectorFromMap(spec.selector ?? {});
  return pods.store
    .byIndex(INDEX.namespace, metadata.namespace ?? '')
    .filter((pod) => matchesLabels(selector, pod.metadata.labels));
}

/** Reports whether the pod passes its readiness checks. */
export function isServing({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/**
 * Reports whether the pod has an endpoint: it has an address and has not ended. A terminating pod has one in slices only, and where unready
 * addresses are published (upstream `ShouldPodBeInEndpoints`).
 */
export function hasEndpoint(
  pod: Pod,
  { includesTerminating }: { readonly includesTerminating: boolean },
): boolean {
  if (hasEnded(pod) || ipsOf(pod).length === 0) return false;
  return includesTerminating || !isBeingDeleted(pod);
}

/** Returns the addresses of the pod, the first one first. */
export function ipsOf({ status }: Pod): readonly string[] {
  const ips = (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
  return ips.length > 0 || status?.podIP === undefined || status.podIP === '' ? ips : [status.podIP];
}

/** Reports whether the address is one of IPv6. */
export function isIPv6(ip: string): boolean {
  return ip.includes(':');
}

/** Returns the host name of an endpoint: that of a pod in the subdomain of the Service. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isIn =
    spec.hostname !== undefined &&
    spec.hostname !== '' &&
    spec.subdomain === service.metadata.name &&
    service.metadata.namespace === metadata.namespace;
  return isIn ? spec.hostname : undefined;
}

/** Returns the port of the pod to which this port of the Service leads; undefined if the pod has none of its name. */
export function targetPortOf(
  { spec }: Pod,
  { port, targetPort, protocol = 'TCP' }: ServicePort,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort;
}

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIP === 'None' || (spec.clusterIP ?? '') === '';
}
