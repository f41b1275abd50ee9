import { isIP } from 'node:net';
import type { ReplicaAddress } from './live-replicas';

type Content = Readonly<Record<string, unknown>>;

/** Returns the `subsets` of Endpoints: one per port, with addresses in order. */
export function endpointSubsets(replicas: readonly ReplicaAddress[]): readonly Content[] {
  return byPort(replicas).map(([port, ips]) => ({
    addresses: ips.map((ip) => ({ ip })),
    ports: [portOf(port)],
  }));
}

/** Returns the EndpointSlices, one per port and address family. */
export function endpointSlices(replicas: readonly ReplicaAddress[]): readonly Content[] {
  return ['IPv4', 'IPv6'].flatMap((addressType) => {
    const version = addressType === 'IPv4' ? 4 : 6;
    return byPort(replicas.filter(({ ip }) => isIP(ip) === version)).map(([port, ips]) => ({
      addressType,
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: [portOf(port)],
    }));
  });
}

function portOf(port: number): Content {
  return { name: 'https', port, protocol: 'TCP' };
}

function byPort(replicas: readonly ReplicaAddress[]): readonly (readonly [number, readonly string[]])[] {
  const ports = [...new Set(replicas.map(({ port }) => port))].sort((a, b) => a - b);
  return ports.map((port) => {
    const ips = replicas.filter((each) => each.port === port).map(({ ip }) => ip);
    return [port, [...new Set(ips)].sort()] as const;
  });
}
