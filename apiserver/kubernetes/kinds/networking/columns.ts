import type { Ingress, IngressClass, NetworkPolicy } from '../../../../shared/api/types/networking-v1';
import { AGE, NAME } from '../columns/common';
import { loadBalancerText, NONE, selectorText } from '../columns/format';
import { tableOf } from '../columns/table';

const HOSTS_SHOWN_MAX = 3;

export const ingressTable = tableOf<Ingress>([
  NAME,
  { name: 'Class', cell: ({ spec }) => spec.ingressClassName ?? NONE },
  { name: 'Hosts', cell: hostsText },
  { name: 'Address', cell: ({ status }) => loadBalancerText(status?.loadBalancer ?? {}) },
  { name: 'Ports', cell: ({ spec }) => (spec.tls === undefined ? '80' : '80, 443') },
  AGE,
]);

/** Rules without a host are not shown, but count among those that are more than fit. */
function hostsText({ spec: { rules = [] } }: Ingress): string {
  const shown: string[] = [];
  for (const { host = '' } of rules) {
    if (shown.length === HOSTS_SHOWN_MAX) {
      return `${shown.join(',')} + ${String(rules.length - HOSTS_SHOWN_MAX)} more...`;
    }
    if (host !== '') shown.push(host);
  }
  return shown.length === 0 ? '*' : shown.join(',');
}

export const ingressClassTable = tableOf<IngressClass>([
  NAME,
  { name: 'Controller', cell: ({ spec }) => spec.controller ?? '' },
  { name: 'Parameters', cell: parametersText },
  AGE,
]);

function parametersText({ spec: { parameters } }: IngressClass): string {
  if (parameters === undefined) return NONE;
  const { apiGroup, kind, name } = parameters;
  return apiGroup === undefined ? `${kind}/${name}` : `${kind}.${apiGroup}/${name}`;
}

export const networkPolicyTable = tableOf<NetworkPolicy>([
  NAME,
  { name: 'Pod-Selector', cell: ({ spec }) => selectorText(spec.podSelector) },
  AGE,
]);
