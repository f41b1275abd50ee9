import type { RandomInt } from '../../../shared/meta/generate-name';
import type { ClusterReader } from './cluster-reader';
import { ENDPOINTS, SERVICES } from './resources';

/** A port of a Service. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where to connect to; the host is a name or an IP address. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

type Services = Pick<ClusterReader, 'get'>;

const WITH_CLUSTER_IP: ReadonlySet<string> = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);

/** Returns the DNS name of a Service, for which the serving certificate must be valid. */
export function getServiceHost({ namespace, name }: Pick<ServicePort, 'namespace' | 'name'>): string {
  return `${name}.${namespace}.svc`;
}

/**
 * Resolves a Service to its cluster IP, or to its external name, without looking at endpoints. Throws an Error that says why the Service cannot
 * be reached. Source: ResolveCluster in k8s.io/apiserver/pkg/util/proxy.
 */
export function resolveCluster({ namespace, name, port }: ServicePort, cluster: Services): ServiceAddress {
  const service = cluster.get(SERVICES, name, namespace);
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type = '', externalName = '', clusterIP = '', ports = [] } = service.spec;
  if (type === 'ExternalName') return { host: externalName, port };
  if (!WITH_CLUSTER_IP.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
  if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
  if (!ports.some((each) => each.port === port)) throw noServicePort(name, port);
  return { host: clusterIP, port };
}

/**
 * Resolves a Service to one of its ready endpoints, chosen at random. Throws an Error that says why the Service cannot be reached. Source:
 * ResolveEndpoint in k8s.io/apiserver/pkg/util/proxy.
 */
export function resolveEndpoint(
  { namespace, name, port }: ServicePort,
  cluster: Services,
  randomInt: RandomInt,
): ServiceAddress {
  const service = cluster.get(SERVICES, name, namespace);
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type = '', ports: servicePorts } = service.spec;
  if (!WITH_CLUSTER_IP.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
  const servicePort = servicePorts?.find((each) => each.port === port);
  if (servicePort === undefined) throw noServicePort(name, port);
  const portName = servicePort.name ?? '';
  const { subsets = [] } = cluster.get(ENDPOINTS, name, namespace) ?? { subsets: [] };
  const ready = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const found = ports.find((each) => (each.name ?? '') === portName);
    return found === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port: found.port }));
  });
  const address = ready.length === 0 ? undefined : ready[randomInt(ready.length)];
  if (address === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  return address;
}

function noServicePort(name: string, port: number): Error {
  return new Error(`no service port ${String(port)} found for service ${JSON.stringify(name)}`);
}
