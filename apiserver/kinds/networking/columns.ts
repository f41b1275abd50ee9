import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { loadBalancerText, NONE, selectorText, shortList, UNSET } from '../columns/format';
import { ageOf, at, listAt, nameOf, scalarOr, textAt, textsAt } from '../columns/read';

const HOSTS_SHOWN_MAX = 3;
const SLICE_ITEMS_SHOWN_MAX = 3;

const ingressRow: RowOf = (ingress) => [
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

const ingressClassRow: RowOf = (ingressClass) => [
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

const networkPolicyRow: RowOf = (policy) => [
  nameOf(policy),
  selectorText(at(policy, 'spec', 'podSelector')),
  ageOf(policy),
];

const endpointSliceRow: RowOf = (slice) => [
  nameOf(slice),
  textAt(slice, 'addressType'),
  sliceItems(listAt(slice, 'ports').map((port) => scalarOr(scalarOr('*', port, 'name'), port, 'port'))),
  sliceItems(listAt(slice, 'endpoints').flatMap((each) => textsAt(each, 'addresses'))),
  ageOf(slice),
];

/** A short list that says so when it is empty. */
export function sliceItems(items: readonly string[]): string {
  const text = shortList(items, SLICE_ITEMS_SHOWN_MAX);
  return text === '' ? UNSET : text;
}

export const networking: Readonly<Record<string, RowOf>> = {
  ingressclasses: ingressClassRow,
  ingresses: ingressRow,
  networkpolicies: networkPolicyRow,
};

export const discovery: Readonly<Record<string, RowOf>> = { endpointslices: endpointSliceRow };
