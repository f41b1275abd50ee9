import type { ClusterReader } from '../cluster-reader';
import { SERVICES } from '../plugins/resources';
import type { WebhookAddress } from './webhook';

/** Where a webhook is asked. */
export interface Target {
  /** Scheme, host and port, as they are sent. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end, unless it is all. */
  readonly path: string;
  /** Where the connection goes, if not to the host itself. */
  readonly connectTo?: { readonly host: string; readonly port: number };
}

const HTTPS_PORT = 443;

/** Throws an Error that says why there is nowhere to go. */
export function targetOf(address: WebhookAddress, cluster: Pick<ClusterReader, 'get'>): Target {
  if ('url' in address) return targetOfUrl(address.url);
  return { ...namedTarget(address), connectTo: placeOf(address, cluster) };
}

/** Where a webhook behind a Service is asked, whether or not there is such a Service; undefined for one with a URL. */
export function urlOfService(address: WebhookAddress): string | undefined {
  if ('url' in address) return undefined;
  const { origin, path } = namedTarget(address);
  return origin + path;
}

function namedTarget({ namespace, name, port, path }: ServiceAddress): Target {
  const host = `${name}.${namespace}.svc`;
  return { origin: `https://${host}:${String(port)}`, host, port, path: withoutSlash(path) };
}

function targetOfUrl(url: string): Target {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'https:') throw new Error(`the scheme of ${url} is not https`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const number = port === '' ? HTTPS_PORT : Number(port);
  const origin = `https://${hostname}${port === '' ? '' : `:${port}`}`;
  return { origin, host, port: number, path: withoutSlash(pathname) };
}

function withoutSlash(path: string): string {
  const rest = path.replace(/\/+$/, '');
  return rest === '' ? '/' : rest;
}

type ServiceAddress = Exclude<WebhookAddress, { readonly url: string }>;

/** As kube-apiserver finds Services without a proxy: by the cluster's address, or by the name that stands for one outside. */
function placeOf(
  { namespace, name, port }: ServiceAddress,
  cluster: Pick<ClusterReader, 'get'>,
): { host: string; port: number } {
  const service = cluster.get(SERVICES, name, namespace);
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type = '', externalName = '', clusterIP: address = '', ports = [] } = service.spec;
  if (type === 'ExternalName') return { host: externalName, port };
  if (!BY_ADDRESS.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
  if (address === 'None') throw new Error('cannot route to service with ClusterIP "None"');
  const isServed = ports.some((each) => each.port === port);
  if (!isServed) throw new Error(`no service port ${String(port)} found for service ${JSON.stringify(name)}`);
  return { host: address, port };
}

const BY_ADDRESS: ReadonlySet<string> = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);
