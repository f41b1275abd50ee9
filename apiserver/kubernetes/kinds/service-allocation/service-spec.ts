import type { Service, ServicePort, ServiceSpec } from '../../../../shared/api/types/core-v1';
import { deepEqual } from '../../../../shared/object/clone';
import { canonicalAddress } from './value-range';

/** What of a Service is allocated, and how linked fields follow each other. The rules are those of core/service of v1.21. */

export const HEADLESS = 'None';

/** Other values of fields; those that are undefined go. */
export type SpecChanges = { readonly [Field in keyof ServiceSpec]?: ServiceSpec[Field] | undefined };

export function withSpec(service: Service, changes: SpecChanges): Service {
  const fields = Object.entries({ ...service.spec, ...changes }).filter(([, value]) => value !== undefined);
  return { ...service, spec: Object.fromEntries(fields) as ServiceSpec };
}

export function needsClusterIp({ type = 'ClusterIP' }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

export function needsNodePorts({ type = 'ClusterIP' }: ServiceSpec): boolean {
  return ['NodePort', 'LoadBalancer'].includes(type);
}

export function needsHealthCheckPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** The port of nodes that leads to a port; 0 for none. */
export function nodePortOf({ nodePort = 0 }: ServicePort): number {
  return nodePort;
}

/** The addresses a Service holds, as their claims are named: none for a headless one, or one that has no address yet. */
export function heldAddresses(spec: ServiceSpec): readonly string[] {
  const { clusterIP = '', clusterIPs = [] } = spec;
  const all = clusterIPs.length > 0 ? clusterIPs : [clusterIP];
  return needsClusterIp(spec)
    ? all.filter((each) => each !== '' && each !== HEADLESS).map(canonicalAddress)
    : [];
}

/** The ports of nodes a Service holds, its health check port among them, each once. */
export function heldPorts({ ports = [], healthCheckNodePort = 0 }: ServiceSpec): readonly string[] {
  const all = [...ports.map(nodePortOf), healthCheckNodePort];
  return [...new Set(all.filter((port) => port !== 0).map(String))];
}

/** A new Service: the `clusterIP` of an old client fills `clusterIPs`. */
export function normalizeNewService(service: Service): Service {
  const { clusterIP: single = '', clusterIPs = [] } = service.spec;
  if (single === '' || clusterIPs.length > 0) return service;
  return withSpec(service, { clusterIPs: [single] });
}

/**
 * A changed Service: what was allocated and is left out stays, linked fields follow the one that was changed, and what the new type
 * has no use for is dropped unless the client changed it. Without the gate IPv6DualStack no Service loses its second family.
 */
export function normalizeChangedService(
  next: Service,
  previous: Service,
  { hasFamilies }: { readonly hasFamilies: boolean },
): Service {
  const steps = [keepAllocated, linkAddresses, dropUnused, ...(hasFamilies ? [dropSecondary] : [])];
  return steps.reduce((service, step) => withSpec(service, step(service.spec, previous.spec)), next);
}

function keepAllocated(spec: ServiceSpec, before: ServiceSpec): SpecChanges {
  const { ports, healthCheckNodePort } = spec;
  const keepsAddresses = needsClusterIp(spec) && needsClusterIp(before);
  const keepsPorts = [spec, before].every(
    (each) => needsNodePorts(each) && each.allocateLoadBalancerNodePorts !== false,
  );
  const keepsHealthCheck = needsHealthCheckPort(spec) && needsHealthCheckPort(before);
  return {
    ...(keepsAddresses ? keptAddresses(spec, before) : {}),
    ports: keepsPorts ? keptNodePorts(spec, before) : ports,
    healthCheckNodePort: healthCheckNodePort ?? (keepsHealthCheck ? before.healthCheckNodePort : undefined),
  };
}

/** The families of a Service that leaves them out are derived from its addresses later. */
function keptAddresses(spec: ServiceSpec, before: ServiceSpec): SpecChanges {
  return {
    clusterIP: spec.clusterIP ?? before.clusterIP,
    clusterIPs: spec.clusterIPs ?? before.clusterIPs,
    ipFamilyPolicy: spec.ipFamilyPolicy ?? before.ipFamilyPolicy,
  };
}

/** A port keeps the node port that the port of its name had, unless another port requests it. */
function keptNodePorts(
  { ports = [] }: ServiceSpec,
  { ports: formerPorts = [] }: ServiceSpec,
): readonly ServicePort[] {
  const held = new Set(formerPorts.map(nodePortOf));
  const asked = new Set(ports.map(nodePortOf));
  const byName = new Map(formerPorts.map((port) => [port.name ?? '', nodePortOf(port)]));
  return ports.map((port) => {
    const former = byName.get(port.name ?? '') ?? 0;
    if (nodePortOf(port) !== 0 || former === 0 || (held.has(former) && asked.has(former))) return port;
    return { ...port, nodePort: former };
  });
}

function linkAddresses(spec: ServiceSpec, before: ServiceSpec): SpecChanges {
  const { clusterIP: single = '', clusterIPs = [] } = spec;
  if (single === (before.clusterIP ?? '')) {
    return clusterIPs.length === 0 ? { clusterIPs: before.clusterIPs } : {};
  }
  if (!deepEqual(spec.clusterIPs, before.clusterIPs)) return {};
  return { clusterIPs: single === '' ? undefined : [single] };
}

function dropUnused(spec: ServiceSpec, before: ServiceSpec): SpecChanges {
  const { ports = [], healthCheckNodePort } = spec;
  const losesAddress = needsClusterIp(before) && !needsClusterIp(spec);
  const sameAddress = spec.clusterIP === before.clusterIP && deepEqual(spec.clusterIPs, before.clusterIPs);
  const losesPorts = needsNodePorts(before) && !needsNodePorts(spec);
  const held = new Set([0, ...(before.ports ?? []).map(nodePortOf)]);
  const samePorts = ports.every((port) => held.has(nodePortOf(port)));
  const losesHealthCheck = needsHealthCheckPort(before) && !needsHealthCheckPort(spec);
  const sameHealthCheck = healthCheckNodePort === before.healthCheckNodePort;
  return {
    ...(losesAddress && sameAddress ? NO_ADDRESS : {}),
    ...(losesAddress ? keptFamilies(spec, before) : {}),
    ...(before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer' ? keptBalancing(spec, before) : {}),
    ports: losesPorts && samePorts ? ports.map(withoutNodePort) : spec.ports,
    // It was filled in for the former type, and means nothing to the new one.
    externalTrafficPolicy: losesPorts ? undefined : spec.externalTrafficPolicy,
    healthCheckNodePort: losesHealthCheck && sameHealthCheck ? undefined : healthCheckNodePort,
  };
}

/** Who wants no second family any more need not take away what came with it. */
function dropSecondary(spec: ServiceSpec, { ipFamilyPolicy: before = '' }: ServiceSpec): SpecChanges {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (!DUAL.includes(before) || ipFamilyPolicy !== 'SingleStack') return {};
  return {
    ...(clusterIPs.length > 1 ? { clusterIPs: clusterIPs.slice(0, 1) } : {}),
    ...(ipFamilies.length > 1 ? { ipFamilies: ipFamilies.slice(0, 1) } : {}),
  };
}

const DUAL = ['PreferDualStack', 'RequireDualStack'];

const NO_ADDRESS: SpecChanges = { clusterIP: undefined, clusterIPs: undefined };

/** The families that the client changed. */
function keptFamilies({ ipFamilies, ipFamilyPolicy }: ServiceSpec, before: ServiceSpec): SpecChanges {
  return {
    ipFamilies: deepEqual(ipFamilies, before.ipFamilies) ? undefined : ipFamilies,
    ipFamilyPolicy: ipFamilyPolicy === before.ipFamilyPolicy ? undefined : ipFamilyPolicy,
  };
}

/** What only a balancer says, where the client changed it: the rules refuse that then. */
function keptBalancing(
  { allocateLoadBalancerNodePorts: allocates, loadBalancerClass: by }: ServiceSpec,
  before: ServiceSpec,
): SpecChanges {
  return {
    allocateLoadBalancerNodePorts: allocates === before.allocateLoadBalancerNodePorts ? undefined : allocates,
    loadBalancerClass: by === before.loadBalancerClass ? undefined : by,
  };
}

function withoutNodePort({ nodePort: _dropped, ...port }: ServicePort): ServicePort {
  return port;
}
