import type { Service, ServiceSpec } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../../../shared/errors/field-error';
import { goStrings } from '../../../../../shared/errors/go-values';
import { qualifiedNameProblems } from '../../../../../shared/meta/dns-names';
import type { KindSettings } from '../../../../engine/registry/strategy';
import type { FieldGate } from '../../field-gates';
import { isOn } from '../../field-gates';
import { forEachItem, invalidForEach, repeatsIn } from '../../rules/primitives';
import type { SpecChanges } from '../../service-allocation/service-spec';
import { withSpec } from '../../service-allocation/service-spec';

/** Fields of Services that belong to features which are off by default. */

const GATE_OF = {
  allocateLoadBalancerNodePorts: 'ServiceLBNodePortControl',
  internalTrafficPolicy: 'ServiceInternalTrafficPolicy',
  loadBalancerClass: 'ServiceLoadBalancerClass',
  topologyKeys: 'ServiceTopology',
} as const satisfies Partial<Record<keyof ServiceSpec, FieldGate>>;

const GATED = Object.keys(GATE_OF) as readonly (keyof typeof GATE_OF)[];

/** The Service without the fields of features that are off, unless it has had them. */
export function withFeatures(service: Service, settings: KindSettings, previous?: Service): Service {
  const { spec } = service;
  const single = isOn(settings, 'IPv6DualStack') || hasFamilies(previous?.spec) ? {} : ofOneFamily(spec);
  const dropped = GATED.filter(
    (field) => isGiven(spec[field]) && !isOn(settings, GATE_OF[field]) && !isGiven(previous?.spec[field]),
  );
  if (dropped.length === 0 && Object.keys(single).length === 0) return service;
  return withSpec(service, {
    ...single,
    ...Object.fromEntries(dropped.map((field) => [field, undefined])),
  });
}

/** The Service with what fields of features that are on say by default. */
export function withFeatureDefaults(service: Service, settings: KindSettings): Service {
  const defaults = defaultsOf(service.spec, settings);
  return Object.keys(defaults).length === 0 ? service : withSpec(service, defaults);
}

function hasFamilies({
  ipFamilies = [],
  ipFamilyPolicy,
  clusterIPs = [],
}: Partial<ServiceSpec> = {}): boolean {
  return ipFamilyPolicy !== undefined || ipFamilies.length > 0 || clusterIPs.length > 1;
}

/** What changes where Services have no families: each has one address at most. */
function ofOneFamily(spec: ServiceSpec): SpecChanges {
  if (!hasFamilies(spec)) return {};
  const { clusterIPs = [] } = spec;
  return {
    ipFamilies: undefined,
    ipFamilyPolicy: undefined,
    ...(clusterIPs.length > 1 ? { clusterIPs: clusterIPs.slice(0, 1) } : {}),
  };
}

function isGiven(value: ServiceSpec[keyof typeof GATE_OF]): boolean {
  return typeof value === 'object' ? value.length > 0 : value !== undefined;
}

function defaultsOf(spec: ServiceSpec, settings: KindSettings): Partial<ServiceSpec> {
  const needsPolicy = spec.internalTrafficPolicy === undefined;
  const needsChoice = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === undefined;
  return {
    ...(needsPolicy && isOn(settings, GATE_OF.internalTrafficPolicy)
      ? { internalTrafficPolicy: 'Cluster' }
      : {}),
    ...(needsChoice && isOn(settings, GATE_OF.allocateLoadBalancerNodePorts)
      ? { allocateLoadBalancerNodePorts: true }
      : {}),
  };
}

const TOPOLOGY_KEYS_MAX = 16;
const ANY = '*';

/** The keys by which endpoints are chosen, from the most wanted on. */
export function topologyKeys({ topologyKeys: keys = [], externalTrafficPolicy }: ServiceSpec): FieldError[] {
  const path = 'spec.topologyKeys';
  const isRepeated = repeatsIn(keys);
  return [
    ...(keys.length > 0 && externalTrafficPolicy === 'Local'
      ? [forbiddenField(path, 'may not be specified when `externalTrafficPolicy=Local`')]
      : []),
    ...(keys.length > TOPOLOGY_KEYS_MAX ? [tooMany(path, keys.length, TOPOLOGY_KEYS_MAX)] : []),
    ...forEachItem(keys, path, (key, at, index) => [
      ...(isRepeated(index) ? [duplicate(at, key)] : []),
      ...(key === ANY && index < keys.length - 1
        ? [invalid(at, key, '"*" must be the last value specified')]
        : []),
      // All keys are shown, whichever is wrong: so does upstream.
      ...(key === ANY ? [] : qualifiedNameProblems(key).map((why) => invalid(at, goStrings(keys), why))),
    ]),
  ];
}

/** Validates the fields of load balancers: node port allocation and the balancer class. */
export function balancerFields({
  type,
  allocateLoadBalancerNodePorts: allocates,
  loadBalancerClass: by,
}: ServiceSpec): FieldError[] {
  const isBalancer = type === 'LoadBalancer';
  return [
    ...(allocates !== undefined && !isBalancer ? [forbiddenField(ALLOCATES, ONLY_BALANCERS)] : []),
    ...(by !== undefined && !isBalancer ? [forbiddenField(CLASS, ONLY_BALANCERS)] : []),
    ...(by !== undefined && isBalancer ? invalidForEach(qualifiedNameProblems(by), by, CLASS) : []),
  ];
}

const ALLOCATES = 'spec.allocateLoadBalancerNodePorts';
const CLASS = 'spec.loadBalancerClass';
const ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'";

/** A balancer stays with its provider. */
export function balancerClassStays({ spec: next }: Service, { spec: previous }: Service): FieldError[] {
  const isSettled = next.type === 'LoadBalancer' && previous.type === 'LoadBalancer';
  if (!isSettled || next.loadBalancerClass === previous.loadBalancerClass) return [];
  return [invalid(CLASS, next.loadBalancerClass ?? null, 'may not change once set')];
}

const INSIDE = 'spec.internalTrafficPolicy';
const INSIDE_POLICIES = ['Cluster', 'Local'];

/** How traffic from inside the cluster is led. */
export function insideTraffic(
  { internalTrafficPolicy: policy }: ServiceSpec,
  settings: KindSettings,
): FieldError[] {
  if (policy === undefined) return isOn(settings, GATE_OF.internalTrafficPolicy) ? [required(INSIDE)] : [];
  return INSIDE_POLICIES.includes(policy) ? [] : [notSupported(INSIDE, policy, INSIDE_POLICIES)];
}
