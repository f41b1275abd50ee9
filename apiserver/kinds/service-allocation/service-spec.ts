import type { ApiObject } from '../../../shared/object/object';
import { deepEqual } from '../../../shared/object/clone';
import type { Json } from '../../../shared/object/accessors';
import { integer, record, records, strings, text } from '../../../shared/object/accessors';

/** What of a Service is allocated, and how linked fields follow each other. The rules are those of core/service of v1.21. */

export const HEADLESS = 'None';

export function specOf(service: ApiObject): Json {
  return record(service['spec']);
}

export function withSpec(service: ApiObject, changes: Json): ApiObject {
  const spec = Object.fromEntries(
    Object.entries({ ...specOf(service), ...changes }).filter(([, value]) => value !== undefined),
  );
  return { ...service, spec };
}

/** The type that counts; the default one for a Service that has none yet. */
function typeOf(spec: Json): string {
  return text(spec['type']) || 'ClusterIP';
}

export function needsClusterIp(spec: Json): boolean {
  return ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(typeOf(spec));
}

export function needsNodePorts(spec: Json): boolean {
  return ['NodePort', 'LoadBalancer'].includes(typeOf(spec));
}

export function needsHealthCheckPort(spec: Json): boolean {
  return typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';
}

export function portsOf(spec: Json): readonly Json[] {
  return records(spec['ports']);
}

export function nodePortOf(port: Json): number {
  return integer(port['nodePort']) ?? 0;
}

export function healthCheckPortOf(spec: Json): number {
  return integer(spec['healthCheckNodePort']) ?? 0;
}

/** The addresses a Service holds: none for a headless one, or one that has no address yet. */
export function heldAddresses(spec: Json): readonly string[] {
  const listed = strings(spec['clusterIPs']);
  const all = listed.length > 0 ? listed : [text(spec['clusterIP'])];
  return needsClusterIp(spec) ? all.filter((each) => each !== '' && each !== HEADLESS) : [];
}

/** The ports of nodes a Service holds, its health check port among them, each once. */
export function heldPorts(spec: Json): readonly string[] {
  const all = [...portsOf(spec).map(nodePortOf), healthCheckPortOf(spec)];
  return [...new Set(all.filter((port) => port !== 0).map(String))];
}

/** A new Service: an old client's `clusterIP` stands for `clusterIPs`. */
export function normalizeNewService(service: ApiObject): ApiObject {
  const spec = specOf(service);
  const single = text(spec['clusterIP']);
  if (single === '' || strings(spec['clusterIPs']).length > 0) return service;
  return withSpec(service, { clusterIPs: [single] });
}

/**
 * A changed Service: what was allocated and is left out stays, linked fields follow the one that was changed, and what the new type
 * has no use for is dropped unless the client changed it.
 */
export function normalizeChangedService(next: ApiObject, previous: ApiObject): ApiObject {
  const before = specOf(previous);
  const steps = [keepAllocated, linkAddresses, dropUnused];
  return steps.reduce((service, step) => withSpec(service, step(specOf(service), before)), next);
}

function keepAllocated(spec: Json, before: Json): Json {
  return {
    ...(needsClusterIp(spec) && needsClusterIp(before) ? keptAddresses(spec, before) : {}),
    ...(needsNodePorts(spec) && needsNodePorts(before) ? { ports: keptNodePorts(spec, before) } : {}),
    ...(needsHealthCheckPort(spec) && needsHealthCheckPort(before) && healthCheckPortOf(spec) === 0
      ? { healthCheckNodePort: before['healthCheckNodePort'] }
      : {}),
  };
}

function keptAddresses(spec: Json, before: Json): Json {
  return {
    ...(text(spec['clusterIP']) === '' ? { clusterIP: before['clusterIP'] } : {}),
    ...(strings(spec['clusterIPs']).length === 0 ? { clusterIPs: before['clusterIPs'] } : {}),
    ...(strings(spec['ipFamilies']).length === 0 ? { ipFamilies: before['ipFamilies'] } : {}),
    ...(text(spec['ipFamilyPolicy']) === '' ? { ipFamilyPolicy: before['ipFamilyPolicy'] } : {}),
  };
}

/** A port keeps the node port that the port of its name had, unless another port asks for that one. */
function keptNodePorts(spec: Json, before: Json): unknown {
  const held = new Set(portsOf(before).map(nodePortOf));
  const asked = new Set(portsOf(spec).map(nodePortOf));
  const byName = new Map(portsOf(before).map((port) => [text(port['name']), nodePortOf(port)]));
  return portsOf(spec).map((port) => {
    const former = byName.get(text(port['name'])) ?? 0;
    if (nodePortOf(port) !== 0 || former === 0 || (held.has(former) && asked.has(former))) return port;
    return { ...port, nodePort: former };
  });
}

function linkAddresses(spec: Json, before: Json): Json {
  const single = text(spec['clusterIP']);
  if (single === text(before['clusterIP'])) {
    return strings(spec['clusterIPs']).length === 0 ? { clusterIPs: before['clusterIPs'] } : {};
  }
  if (!deepEqual(spec['clusterIPs'], before['clusterIPs'])) return {};
  return { clusterIPs: single === '' ? undefined : [single] };
}

function dropUnused(spec: Json, before: Json): Json {
  const losesAddress = needsClusterIp(before) && !needsClusterIp(spec);
  const sameAddress =
    spec['clusterIP'] === before['clusterIP'] && deepEqual(spec['clusterIPs'], before['clusterIPs']);
  const losesPorts = needsNodePorts(before) && !needsNodePorts(spec);
  const samePorts = deepEqual(portsOf(spec).map(nodePortOf), portsOf(before).map(nodePortOf));
  const losesHealthCheck = needsHealthCheckPort(before) && !needsHealthCheckPort(spec);
  return {
    ...(losesAddress && sameAddress ? { clusterIP: undefined, clusterIPs: undefined } : {}),
    ...(losesAddress ? droppedFamilies(spec, before) : {}),
    ...(losesPorts && samePorts ? { ports: portsOf(spec).map(withoutNodePort) } : {}),
    ...(losesHealthCheck && spec['healthCheckNodePort'] === before['healthCheckNodePort']
      ? { healthCheckNodePort: undefined }
      : {}),
  };
}

function droppedFamilies(spec: Json, before: Json): Json {
  return {
    ...(deepEqual(spec['ipFamilies'], before['ipFamilies']) ? { ipFamilies: undefined } : {}),
    ...(spec['ipFamilyPolicy'] === before['ipFamilyPolicy'] ? { ipFamilyPolicy: undefined } : {}),
  };
}

function withoutNodePort(port: Json): Json {
  const { nodePort: _dropped, ...rest } = port;
  return rest;
}
