import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { API_SERVICE_NAME, NAMESPACE } from '../names';

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/** Every name and address under which clients may reach a server: its own, the loopback's, and those of its Service. */
export function servingHosts(own: readonly string[]): readonly string[] {
  const service = `${API_SERVICE_NAME}.${NAMESPACE.default}`;
  const named = own.filter((host) => !UNSPECIFIED.has(host));
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      API_SERVICE_NAME,
      service,
      `${service}.svc`,
      `${service}.svc.cluster.local`,
      ...named,
    ]),
  ];
}

/**
 * The host to listen at, for Node. An unspecified address of either family means all interfaces of both families, as in Go; without a host, Node
 * listens so, or at IPv4 alone where the machine has no IPv6.
 */
export function listenHost(bindAddress: string): string | undefined {
  return UNSPECIFIED.has(bindAddress) ? undefined : bindAddress;
}

/**
 * The address other machines can reach this server at: the bind address if it is one, else the first address of the machine that is
 * not a loopback, else the loopback.
 */
export function reachableAddress(bindAddress: string): string {
  if (!UNSPECIFIED.has(bindAddress) && isIP(bindAddress) !== 0) return bindAddress;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = addresses.find((each) => !each.internal && each.family === 'IPv4');
  return (outside ?? addresses.find((each) => !each.internal))?.address ?? '127.0.0.1';
}
