import type { Service } from '../../../shared/api/types/core-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import { isIP } from 'node:net';
import { HEADLESS, needsClusterIp, withSpec } from './service-spec';

type Family = 'IPv4' | 'IPv6';

/**
 * The Service with `ipFamilies` and `ipFamilyPolicy` filled in for a cluster whose services have addresses of one family, or what it
 * asks for that such a cluster cannot give.
 */
export function withFamilies(
  service: Service,
  family: Family,
): { readonly service: Service; readonly errors: readonly FieldError[] } {
  const { spec } = service;
  if (!needsClusterIp(spec)) return { service, errors: [] };
  const { clusterIPs: addresses = [], ipFamilies: asked = [], selector = {} } = spec;
  const isHeadless = addresses[0] === HEADLESS;
  if (isHeadless && Object.keys(selector).length === 0) {
    return { service: headlessWithoutSelector(service, family), errors: [] };
  }
  const named = isHeadless ? asked : familiesWith(addresses, asked);
  const errors = familyErrors(service, named, family);
  if (errors.length > 0) return { service, errors };
  const isDual = addresses.length === 2 || named.length === 2;
  return {
    service: withSpec(service, {
      ipFamilies: named.length === 0 ? [family] : named,
      ipFamilyPolicy: spec.ipFamilyPolicy ?? (isDual ? 'RequireDualStack' : 'SingleStack'),
    }),
    errors: [],
  };
}

/** Its endpoints are somebody else's affair, so that any family may appear among them. */
function headlessWithoutSelector(service: Service, family: Family): Service {
  const { ipFamilyPolicy: policy = 'RequireDualStack', ipFamilies: asked = [] } = service.spec;
  const other = family === 'IPv4' ? 'IPv6' : 'IPv4';
  const families = policy === 'SingleStack' ? [family] : [family, other];
  return withSpec(service, { ipFamilyPolicy: policy, ipFamilies: asked.length > 0 ? asked : families });
}

/** An address that was asked for tells its family. */
function familiesWith(addresses: readonly string[], asked: readonly string[]): readonly string[] {
  return [...asked, ...addresses.slice(asked.length).map((each) => (isIP(each) === 6 ? 'IPv6' : 'IPv4'))];
}

function familyErrors({ spec }: Service, families: readonly string[], family: Family): readonly FieldError[] {
  const { clusterIPs: addresses = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack') {
    errors.push(
      invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'Cluster is not configured for dual stack services'),
    );
  }
  families.forEach((each, index) => {
    if (each === family) return;
    errors.push(
      index < ipFamilies.length
        ? invalid(
            `spec.ipFamilies[${String(index)}]`,
            addresses,
            `ipfamily ${each} is not configured on cluster`,
          )
        : invalid(
            `spec.clusterIPs[${String(index)}]`,
            addresses,
            `may not use ${each} on a cluster which is not configured for it`,
          ),
    );
  });
  return errors;
}
