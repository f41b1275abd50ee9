import { isInForce } from '../../../../../shared/api/changes';
import { GATES } from '../../../../../shared/flags/feature-gate-table';
import type { Service } from '../../../../../shared/api/types/core-v1';
import { label1035Name, labelName } from '../../../../../shared/meta/name-rules';
import type { Strategy } from '../../../../engine/registry/strategy';
import { AGE, NAME } from '../../columns/common';
import { labelsText, loadBalancerText, NONE, UNKNOWN } from '../../columns/format';
import { tableOf } from '../../columns/table';
import { isOn } from '../../field-gates';
import type { Kind } from '../../kind';
import { normalizeChangedService, normalizeNewService } from '../../service-allocation/service-spec';
import { proxyToService } from '../connect/connect-proxies';
import { withFeatureDefaults, withFeatures } from './service-features';
import { keepSpellings } from '../../rules/strict-addresses';
import { serviceRules, validateLoadBalancerStatus } from './service-rules';

/** A Service: an address, and ports of nodes, that are its own. */
const serviceStrategy: Strategy<Service> = {
  compat: {
    ...(isInForce('genericServices')
      ? { returnsDeletedObject: true }
      : { statusCreates: true, returnsNoHeldObject: true }),
    keyInErrors: 'services/specs',
  },
  createsOnUpdate: true,
  // Without the gate, rules of new Services refuse names that begin with a digit.
  nameRule: GATES.has('RelaxedServiceNameValidation') ? labelName : label1035Name,
  ...serviceRules,
  ratchets: (faults, previous, info) =>
    keepSpellings(
      faults,
      previous &&
        (() => [
          ...(serviceRules.validate?.(previous, info) ?? []),
          ...validateLoadBalancerStatus(previous, info.settings),
        ]),
    ),
  reserves: 'service addresses',
  prepareForCreate: (object, { settings }) => normalizeNewService(withFeatures(object, settings)),
  prepareForUpdate: (next, previous, { settings }) =>
    normalizeChangedService(withFeatures(next, settings, previous), previous, {
      hasFamilies: isOn(settings, 'IPv6DualStack'),
    }),
};

const serviceTable = tableOf<Service>([
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

export const services: Kind<Service> = {
  strategy: serviceStrategy,
  received: withFeatureDefaults,
  table: serviceTable,
  subresources: { proxy: { is: 'connection', to: proxyToService } },
};
