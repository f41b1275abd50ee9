import type { Endpoints, Service } from '../../../../shared/api/types/core-v1';
import { AGE, NAME } from '../columns/common';
import { labelsText, loadBalancerText, NONE, shortList, UNKNOWN } from '../columns/format';
import { tableOf } from '../columns/table';

export const serviceTable = tableOf<Service>([
  NAME,
  { name: 'Type', cell: ({ spec }) => spec.type ?? '' },
  { name: 'Cluster-IP', cell: ({ spec }) => spec.clusterIPs?.[0] ?? spec.clusterIP ?? NONE },
  { name: 'External-IP', cell: externalAddress },
  { name: 'Port(s)', cell: portsText },
  AGE,
  { name: 'Selector', isWide: true, cell: ({ spec }) => labelsText(spec.selector) },
]);

function externalAddress({
  spec: { type = '', externalIPs = [], externalName = '' },
  status,
}: Service): string {
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.length === 0 ? NONE : externalIPs.join(',');
    case 'LoadBalancer': {
      const balancer = loadBalancerText(status?.loadBalancer ?? {});
      const all = balancer === '' ? externalIPs : [balancer, ...externalIPs];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    case 'ExternalName':
      return externalName;
    default:
      return UNKNOWN;
  }
}

function portsText({ spec: { ports = [] } }: Service): string {
  const texts = ports.map(({ port, nodePort = 0, protocol = '' }) => {
    const through = nodePort === 0 ? '' : `:${String(nodePort)}`;
    return `${String(port)}${through}/${protocol}`;
  });
  return texts.length === 0 ? NONE : texts.join(',');
}

const ENDPOINTS_SHOWN_MAX = 3;

export const endpointsTable = tableOf<Endpoints>([NAME, { name: 'Endpoints', cell: endpointsText }, AGE]);

function endpointsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return NONE;
  const all = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const ips = addresses.map(({ ip }) => ip);
    // A headless service may have no ports at all.
    return ports.length === 0 ? ips : ports.flatMap(({ port }) => ips.map((ip) => hostPort(ip, port)));
  });
  return shortList(all, ENDPOINTS_SHOWN_MAX);
}

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${String(port)}` : `${ip}:${String(port)}`;
}
