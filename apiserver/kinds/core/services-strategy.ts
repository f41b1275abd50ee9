import type { ApiObject } from '../../../shared/object/object';
import { normalizeChangedService, normalizeNewService } from '../service-allocation/service-spec';
import { label1035Name } from '../../../shared/meta/name-rules';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource, withStatus } from '../../registry/strategy';
import { optionalRecord, record, records } from '../../../shared/object/accessors';
import { serviceRules } from './services-rules';

/** Fields of features that are off in v1.21. A Service that has had one of them keeps it. */
const SWITCHED_OFF = [
  'allocateLoadBalancerNodePorts',
  'internalTrafficPolicy',
  'loadBalancerClass',
  'topologyKeys',
] as const;

/** A Service: an address, and ports of nodes, that are its own. */
export const services: Strategy = {
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

function withoutUnknown(service: ApiObject, previous: ApiObject | undefined): ApiObject {
  const before = record(previous?.['spec']);
  const spec = optionalRecord(service['spec']);
  if (spec === undefined) return service;
  const dropped = new Set<string>(SWITCHED_OFF.filter((field) => before[field] === undefined));
  if (!Object.keys(spec).some((field) => dropped.has(field))) return service;
  const kept = Object.entries(spec).filter(([field]) => !dropped.has(field));
  return { ...service, spec: Object.fromEntries(kept) };
}

/** Conditions, and what ports of a load balancer say, came with load balancers of several protocols, which are off too. */
function withKnownStatus(service: ApiObject, previous: ApiObject): ApiObject {
  const status = record(service['status']);
  const before = record(previous['status']);
  const { conditions, ...rest } = status;
  const ingress = ingressOf(status);
  const keepsPorts = ingressOf(before).some(({ ports }) => records(ports).length > 0);
  const keepsConditions = records(before['conditions']).length > 0;
  return withStatus(service, {
    ...rest,
    ...(keepsConditions && conditions !== undefined ? { conditions } : {}),
    ...(keepsPorts || ingress.length === 0
      ? {}
      : { loadBalancer: { ingress: ingress.map(({ ports: _ports, ...each }) => each) } }),
  });
}

function ingressOf(status: Readonly<Record<string, unknown>>): ReturnType<typeof records> {
  return records(record(status['loadBalancer'])['ingress']);
}
