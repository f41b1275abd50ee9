import type { Service } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import { isIP } from 'node:net';
import type { Family } from './value-range';
import { HEADLESS, needsClusterIp, withSpec } from './service-spec';

/** The Service with its families, or the errors for families that the cluster lacks. */
export interface FamilyOutcome {
  readonly service: Service;
  readonly errors: readonly FieldError[];
}

/**
 * The Service with `ipFamilies` and `ipFamilyPolicy` filled in for a cluster whose Services have addresses of these families, of which
 * the first one is the default. The rules are those of core/service of v1.21.
 */
export function withFamilies(
  service: Service,
  families: readonly Family[],
  previous: Service | undefined,
): FamilyOutcome {
  if (!needsClusterIp(service.spec) || isSettled(service, previous)) return { service, errors: [] };
  const surplus = surplusErrors(service);
  if (surplus.length > 0) return { service, errors: surplus };
  const named = withFamiliesOfAddresses(service, families);
  if (named.errors.length > 0) return named;
  const asked = withPolicyOfFamilies(named.service);
  return isHeadlessWithoutSelector(asked)
    ? { service: withFamiliesOfOthers(asked, families), errors: [] }
    : withFamiliesOfCluster(asked, families);
}

/** Who names two families needs both. */
function withPolicyOfFamilies(service: Service): Service {
  const { ipFamilyPolicy, ipFamilies = [] } = service.spec;
  if (ipFamilyPolicy !== undefined || ipFamilies.length !== 2) return service;
  return withSpec(service, { ipFamilyPolicy: 'RequireDualStack' });
}

/**
 * A Service that prefers two families, and changes neither its addresses nor its families, keeps what it has when the cluster gets a
 * second family, or loses it.
 */
function isSettled({ spec: after }: Service, previous: Service | undefined): boolean {
  const before = previous?.spec;
  return (
    before !== undefined &&
    before.type === after.type &&
    before.ipFamilyPolicy === 'PreferDualStack' &&
    after.ipFamilyPolicy === 'PreferDualStack' &&
    deepEqual(before.clusterIPs, after.clusterIPs) &&
    deepEqual(before.ipFamilies, after.ipFamilies)
  );
}

const PLURALS = ['clusterIPs', 'ipFamilies'] as const;

function surplusErrors({ spec }: Service): readonly FieldError[] {
  const { ipFamilyPolicy: policy } = spec;
  if (policy !== 'SingleStack') return [];
  return PLURALS.filter((field) => (spec[field] ?? []).length === 2).map((field) => {
    const why = `must be RequireDualStack or PreferDualStack when multiple '${field}' are specified`;
    return invalid('spec.ipFamilyPolicy', policy, why);
  });
}

/** Derives families from requested addresses. Only the first family that the cluster lacks is reported. */
function withFamiliesOfAddresses(service: Service, families: readonly Family[]): FamilyOutcome {
  const { clusterIPs: addresses = [], ipFamilies: asked = [] } = service.spec;
  if (addresses[0] === HEADLESS || addresses.length <= asked.length) return { service, errors: [] };
  const derived = addresses.slice(asked.length).map((each): Family => (isIP(each) === 6 ? 'IPv6' : 'IPv4'));
  const missing = derived.findIndex((family) => !families.includes(family));
  if (missing < 0) return { service: withSpec(service, { ipFamilies: [...asked, ...derived] }), errors: [] };
  const path = `spec.clusterIPs[${String(asked.length + missing)}]`;
  const why = `may not use ${derived[missing] ?? ''} on a cluster which is not configured for it`;
  return { service, errors: [invalid(path, addresses, why)] };
}

function isHeadlessWithoutSelector({ spec: { clusterIPs = [], selector = {} } }: Service): boolean {
  return clusterIPs[0] === HEADLESS && Object.keys(selector).length === 0;
}

/** Its endpoints are somebody else's affair, so that any family may appear among them. */
function withFamiliesOfOthers(service: Service, families: readonly Family[]): Service {
  const { ipFamilyPolicy: policy = 'RequireDualStack', ipFamilies: asked = [] } = service.spec;
  const named = asked.length > 0 ? asked : families.slice(0, 1);
  const ipFamilies = policy === 'SingleStack' ? named : withOther(named);
  return withSpec(service, { ipFamilyPolicy: policy, ipFamilies });
}

function withFamiliesOfCluster(service: Service, families: readonly Family[]): FamilyOutcome {
  const { clusterIPs: addresses = [], ipFamilies: asked = [], ipFamilyPolicy } = service.spec;
  const isDual = families.length === 2;
  const errors = [
    ...(ipFamilyPolicy === 'RequireDualStack' && !isDual
      ? [invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'Cluster is not configured for dual stack services')]
      : []),
    ...asked.flatMap((family, index) =>
      families.some((each) => each === family)
        ? []
        : [
            invalid(
              `spec.ipFamilies[${String(index)}]`,
              addresses,
              `ipfamily ${family} is not configured on cluster`,
            ),
          ],
    ),
  ];
  if (errors.length > 0) return { service, errors };
  const policy = ipFamilyPolicy ?? 'SingleStack';
  const named = asked.length > 0 ? asked : families.slice(0, 1);
  const ipFamilies = policy !== 'SingleStack' && isDual ? withOther(named) : named;
  return { service: withSpec(service, { ipFamilies, ipFamilyPolicy: policy }), errors: [] };
}

/** With the other family after a single one. */
function withOther(families: readonly string[]): readonly string[] {
  if (families.length !== 1) return families;
  return [...families, families[0] === 'IPv4' ? 'IPv6' : 'IPv4'];
}
