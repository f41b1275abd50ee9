import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { loadBalancerText, NONE, selectorText } from '../columns/format';
import { ageOf, at, listAt, nameOf, scalarOr, textAt } from '../columns/read';

const HOSTS_SHOWN_MAX = 3;

export const ingressRow: RowOf = (ingress) => [
  nameOf(ingress),
  scalarOr(NONE, ingress, 'spec', 'ingressClassName'),
  hostsText(ingress),
  loadBalancerText(at(ingress, 'status')),
  listAt(ingress, 'spec', 'tls').length === 0 ? '80' : '80, 443',
  ageOf(ingress),
];

/** Rules without a host are not shown, but count among those that are more than fit. */
function hostsText(ingress: ApiObject): string {
  const rules = listAt(ingress, 'spec', 'rules').map((each) => textAt(each, 'host'));
  const shown: string[] = [];
  for (const host of rules) {
    if (shown.length === HOSTS_SHOWN_MAX) {
      return `${shown.join(',')} + ${String(rules.length - HOSTS_SHOWN_MAX)} more...`;
    }
    if (host !== '') shown.push(host);
  }
  return shown.length === 0 ? '*' : shown.join(',');
}

export const ingressClassRow: RowOf = (ingressClass) => [
  nameOf(ingressClass),
  textAt(ingressClass, 'spec', 'controller'),
  parametersText(at(ingressClass, 'spec', 'parameters')),
  ageOf(ingressClass),
];

function parametersText(parameters: unknown): string {
  if (parameters === undefined) return NONE;
  const group = at(parameters, 'apiGroup');
  const kind = textAt(parameters, 'kind');
  const qualified = group === undefined ? kind : `${kind}.${textAt(parameters, 'apiGroup')}`;
  return `${qualified}/${textAt(parameters, 'name')}`;
}

export const networkPolicyRow: RowOf = (policy) => [
  nameOf(policy),
  selectorText(at(policy, 'spec', 'podSelector')),
  ageOf(policy),
];
