import { posix } from 'node:path';
import type { ClusterReader } from '../../cluster/cluster-reader';
import { getServiceHost, resolveCluster } from '../../cluster/service-resolver';
import type { WebhookAddress } from './webhook';

/** Where to call a webhook. */
export interface Target {
  /** Scheme, host and port as sent. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** Cleaned: no empty or dot segments, and no slash at its end unless it is the root. */
  readonly path: string;
  /** Where to connect, if not to the host itself. */
  readonly connectTo?: { readonly host: string; readonly port: number };
}

const HTTPS_PORT = 443;

/** Returns the target. Throws an Error with the reason if there is none. */
export function targetOf(address: WebhookAddress, cluster: Pick<ClusterReader, 'get'>): Target {
  if ('url' in address) return targetOfUrl(address.url);
  return { ...namedTarget(address), connectTo: resolveCluster(address, cluster) };
}

/** Returns the URL of a webhook behind a Service, existing or not; undefined for one with a URL. */
export function urlOfService(address: WebhookAddress): string | undefined {
  if ('url' in address) return undefined;
  const { origin, path } = namedTarget(address);
  return origin + path;
}

function namedTarget({ namespace, name, port, path }: ServiceAddress): Target {
  const host = getServiceHost({ namespace, name });
  return { origin: `https://${host}:${String(port)}`, host, port, path: cleaned(path) };
}

function targetOfUrl(url: string): Target {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'https:') throw new Error(`the scheme of ${url} is not https`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const number = port === '' ? HTTPS_PORT : Number(port);
  const origin = `https://${hostname}${port === '' ? '' : `:${port}`}`;
  return { origin, host, port: number, path: cleaned(pathname) };
}

/** As client-go's `path.Join`, with one slash where there are several; test frameworks write `https://host:port//path`. */
function cleaned(path: string): string {
  return posix.normalize(`/${path}`).replace(/(?<=.)\/$/u, '');
}

type ServiceAddress = Exclude<WebhookAddress, { readonly url: string }>;
