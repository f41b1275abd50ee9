import type { Service } from '../../../shared/api/types/core-v1';
import { normalizeChangedService, normalizeNewService, withSpec } from '../service-allocation/service-spec';
import { label1035Name } from '../../../shared/meta/name-rules';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource, withStatus } from '../../registry/strategy';
import { serviceRules } from './services-rules';

/** Fields of features that are off in v1.21. A Service that has had one of them keeps it. */
const SWITCHED_OFF = [
  'allocateLoadBalancerNodePorts',
  'internalTrafficPolicy',
  'loadBalancerClass',
  'topologyKeys',
] as const;

/** A Service: an address, and ports of nodes, that are its own. */
export const services: Strategy<Service> = {
  checksIdentityLast: true,
  nameRule: label1035Name,
  ...serviceRules,
  createsOnUpdate: true,
  reserves: 'service addresses',
  prepareForCreate: (object) => normalizeNewService(withoutUnknown(object, undefined)),
  prepareForUpdate: (next, previous) => normalizeChangedService(withoutUnknown(next, previous), previous),
  subresources: {
    ...serviceRules.subresources,
    status: {
      ...(serviceRules.subresources?.['status'] ?? statusSubresource),
      prepareForUpdate: (next, previous) =>
        withKnownStatus(statusSubresource.prepareForUpdate(next, previous), previous),
    },
  },
};

function withoutUnknown(service: Service, previous: Service | undefined): Service {
  const dropped = SWITCHED_OFF.filter(
    (field) => service.spec[field] !== undefined && previous?.spec[field] === undefined,
  );
  return dropped.length === 0
    ? service
    : withSpec(service, Object.fromEntries(dropped.map((field) => [field, undefined])));
}

/** Conditions, and what ports of a load balancer say, came with load balancers of several protocols, which are off too. */
function withKnownStatus(service: Service, previous: Service): Service {
  const { conditions, loadBalancer } = service.status ?? { loadBalancer: {} };
  const { ingress = [] } = loadBalancer;
  const keepsPorts = (previous.status?.loadBalancer.ingress ?? []).some(({ ports = [] }) => ports.length > 0);
  const keepsConditions = (previous.status?.conditions ?? []).length > 0;
  return withStatus(service, {
    loadBalancer:
      keepsPorts || ingress.length === 0
        ? loadBalancer
        : { ingress: ingress.map(({ ports: _ports, ...each }) => each) },
    ...(keepsConditions && conditions !== undefined ? { conditions } : {}),
  });
}
