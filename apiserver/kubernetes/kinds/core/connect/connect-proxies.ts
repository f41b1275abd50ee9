import { RESOURCE } from '../../../../../shared/api/resource-names';
import { posix } from 'node:path';
import type {
  EndpointAddress,
  Endpoints,
  EndpointSubset,
  Pod,
  Service,
} from '../../../../../shared/api/types/core-v1';
import { badRequest, StatusError } from '../../../../../shared/errors/status-error';
import { API_SERVICE_NAME, NAMESPACE } from '../../../../../shared/names';
import type { ApiObject, GroupVersionResource } from '../../../../../shared/object/object';
import { isGlobalUnicast } from '../../../../../shared/meta/ip-address';
import type { ConnectionReader, SocketAddress } from '../../../../engine/registry/connection';
import { connectionTo } from '../../../../engine/registry/connection';
import type { ProxyOptions } from './connect-options';
import { proxyOptionsIn } from './connect-options';
import { agentOf } from './node-agent';

export const proxyToPod = connectionTo<ProxyOptions>({
  carries: 'requests',
  optionsIn: proxyOptionsIn,
  locate: async (reader, { namespace, name: id, options }) => {
    const { scheme, name, port } = schemeNamePortOf(id, 'pod');
    const { spec, status } = await reader.read<Pod>(RESOURCE.pods, name, namespace);
    const [first] = (spec.containers ?? []).flatMap(({ ports = [] }) => ports);
    const address = status?.podIPs?.[0]?.ip ?? '';
    if (!isGlobalUnicast(address)) throw badRequest('address not allowed');
    const wanted = port === '' && first !== undefined ? String(first.containerPort) : port;
    return {
      scheme,
      host: address,
      port: portNumber({ scheme, port: wanted }),
      path: pathOf(options),
      peer: 'any',
    };
  },
});

export const proxyToNode = connectionTo<ProxyOptions>({
  carries: 'requests',
  optionsIn: proxyOptionsIn,
  locate: async (reader, { name: id, options }) => {
    const { scheme, name, port } = schemeNamePortOf(id, 'node');
    const agent = await agentOf(reader, name);
    const except = await addressesOfApi(reader);
    const checked = { path: pathOf(options), isChecked: true, except };
    if (port === '' || port === String(agent.port)) return { ...agent, ...checked };
    return { ...checked, scheme, host: agent.host, port: portNumber({ scheme, port }), peer: 'any' };
  },
});

/**
 * The addresses of the API servers. A node must not lead to them, because the certificate for kubelets would authenticate the request there
 * (CVE-2022-3294).
 */
async function addressesOfApi(reader: ConnectionReader): Promise<readonly SocketAddress[]> {
  const [service, endpoints] = await Promise.all([
    readIfFound<Service>(reader, RESOURCE.services, API_SERVICE_NAME, NAMESPACE.default),
    readIfFound<Endpoints>(reader, RESOURCE.endpoints, API_SERVICE_NAME, NAMESPACE.default),
  ]);
  const { clusterIPs = [], ports: servicePorts = [] } = service?.spec ?? {};
  const ofService = clusterIPs.flatMap((address) => servicePorts.map(({ port }) => ({ address, port })));
  const ofReplicas = (endpoints?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    addresses.flatMap(({ ip: address }) => ports.map(({ port }) => ({ address, port }))),
  );
  return [...ofService, ...ofReplicas];
}

export const proxyToService = connectionTo<ProxyOptions>({
  carries: 'requests',
  optionsIn: proxyOptionsIn,
  locate: async (reader, { namespace, name: id, options }) => {
    const { scheme, name, port } = schemeNamePortOf(id, 'service');
    const portName = /^\d+$/.test(port) ? await nameOfPort(reader, { namespace, name, port }) : port;
    const { subsets = [] } = await reader.read<Endpoints>(RESOURCE.endpoints, name, namespace);
    if (subsets.length === 0) throw noEndpoints(name);
    for (const subset of fromRandomPlace(reader, subsets)) {
      const found = subset.ports?.find((each) => (each.name ?? '') === portName);
      const { addresses = [] } = subset;
      if (found === undefined || addresses.length === 0) continue;
      const host = await addressOfPod(reader, { namespace, addresses });
      if (host === undefined) continue;
      return { scheme, host, port: found.port, path: pathOf(options), peer: 'any', isChecked: true };
    }
    throw noEndpoints(id);
  },
});

/** Resolves dot segments here, so that the backend cannot interpret them differently. A trailing slash stays. */
function pathOf({ path = '' }: ProxyOptions): string {
  return path === '' ? '' : posix.normalize(path);
}

async function nameOfPort(
  reader: ConnectionReader,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: string },
): Promise<string> {
  const { spec } = await reader.read<Service>(RESOURCE.services, name, namespace);
  const found = spec.ports?.find((each) => each.port === Number(port));
  if (found !== undefined) return found.name ?? '';
  throw new StatusError(
    'ServiceUnavailable',
    `no service port ${String(Number(port))} found for service ${JSON.stringify(name)}`,
  );
}

function noEndpoints(name: string): StatusError {
  return new StatusError('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(name)}`);
}

/** Bounds the reads per request: a client that writes Endpoints must not make the server read a thousand pods. */
const ADDRESSES_TRIED_MAX = 16;

/** Only addresses of pods in the namespace are allowed. Otherwise the right to write Endpoints would reach any host. */
async function addressOfPod(
  reader: ConnectionReader,
  { namespace, addresses }: { readonly namespace: string; readonly addresses: readonly EndpointAddress[] },
): Promise<string | undefined> {
  for (const { ip, targetRef } of fromRandomPlace(reader, addresses).slice(0, ADDRESSES_TRIED_MAX)) {
    if (targetRef?.name === undefined || targetRef.namespace !== namespace) continue;
    const pod = await readIfFound<Pod>(reader, RESOURCE.pods, targetRef.name, namespace);
    if (pod?.status?.podIPs?.some((each) => each.ip === ip) === true) return ip;
  }
  return undefined;
}

/** Reads an object; undefined if it does not exist. */
async function readIfFound<T extends ApiObject>(
  reader: ConnectionReader,
  resource: Pick<GroupVersionResource, 'group' | 'resource'>,
  name: string,
  namespace: string,
): Promise<T | undefined> {
  try {
    return await reader.read<T>(resource, name, namespace);
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === 'NotFound') return undefined;
    throw error;
  }
}

function fromRandomPlace<T extends EndpointSubset | EndpointAddress>(
  { randomInt }: ConnectionReader,
  all: readonly T[],
): readonly T[] {
  const at = randomInt(all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}

/** A name in a path to a proxy: `name`, `name:port`, `scheme:name:port`. */
interface SchemeNamePort {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name, as it was given; empty where none was. */
  readonly port: string;
}

const PARTS_MAX = 3;

/** Throws BadRequest for text of another form. `kind` is what it says. */
function schemeNamePortOf(text: string, kind: string): SchemeNamePort {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === PARTS_MAX ? parts : ['', ...parts];
  if (parts.length > PARTS_MAX || name === '' || !['', 'http', 'https'].includes(scheme)) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

const PORT_OF_SCHEME = { http: 80, https: 443 } as const;
const PORT_MAX = 65_535;

/** The port that is connected to. Throws BadRequest for what is no port. */
function portNumber({ scheme, port }: Pick<SchemeNamePort, 'scheme' | 'port'>): number {
  if (port === '') return PORT_OF_SCHEME[scheme];
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > PORT_MAX) throw badRequest(`invalid port ${JSON.stringify(port)}`);
  return number;
}
