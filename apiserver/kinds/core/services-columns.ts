import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { labelsText, loadBalancerText, NONE, shortList, UNKNOWN } from '../columns/format';
import { ageOf, at, listAt, mapAt, nameOf, numberAt, textAt, textOr, textsAt } from '../columns/read';

export const serviceRow: RowOf = (service) => [
  nameOf(service),
  textAt(service, 'spec', 'type'),
  textsAt(service, 'spec', 'clusterIPs')[0] ?? textOr(NONE, service, 'spec', 'clusterIP'),
  externalAddress(service),
  portsText(service),
  ageOf(service),
  labelsText(mapAt(service, 'spec', 'selector')),
];

function externalAddress(service: ApiObject): string {
  const external = textsAt(service, 'spec', 'externalIPs');
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.length === 0 ? NONE : external.join(',');
    case 'LoadBalancer': {
      const balancer = loadBalancerText(at(service, 'status'));
      const all = balancer === '' ? external : [balancer, ...external];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    default:
      return UNKNOWN;
  }
}

function portsText(service: ApiObject): string {
  const ports = listAt(service, 'spec', 'ports').map((each) => {
    const nodePort = numberAt(each, 'nodePort');
    const through = nodePort === 0 ? '' : `:${String(nodePort)}`;
    return `${String(numberAt(each, 'port'))}${through}/${textAt(each, 'protocol')}`;
  });
  return ports.length === 0 ? NONE : ports.join(',');
}

const ENDPOINTS_SHOWN_MAX = 3;

export const endpointsRow: RowOf = (endpoints) => [
  nameOf(endpoints),
  endpointsText(endpoints),
  ageOf(endpoints),
];

function endpointsText(endpoints: ApiObject): string {
  const subsets = listAt(endpoints, 'subsets');
  if (subsets.length === 0) return NONE;
  const addresses = subsets.flatMap((subset) => {
    const ips = listAt(subset, 'addresses').map((each) => textAt(each, 'ip'));
    const ports = listAt(subset, 'ports').map((each) => String(numberAt(each, 'port')));
    // A headless service may have no ports at all.
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => hostPort(ip, port)));
  });
  return shortList(addresses, ENDPOINTS_SHOWN_MAX);
}

function hostPort(ip: string, port: string): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
