import type { ServiceCIDR } from '../../../../shared/api/types/networking-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { familyOf } from '../rules/addresses';
import { forEachItem, isCidr } from '../rules/primitives';
import { canonicalCidr } from '../rules/strict-addresses';

const PATH = 'spec.cidrs';
const FAMILIES_MAX = 2;
const FIXED = 'field is immutable';

/** A range of cluster IPs. It is immutable, but a range of one family may get a second one of the other family. */
const serviceCidrRules: Pick<Strategy<ServiceCIDR>, 'validateNew' | 'validateUpdate'> = {
  validateNew: ({ spec: { cidrs = [] } }) => validateCidrs(cidrs),
  validateUpdate: (next, previous) => {
    const [cidrs, before] = [next.spec.cidrs ?? [], previous.spec.cidrs ?? []];
    if (cidrs.length === before.length) {
      return forEachItem(cidrs, PATH, (cidr, path, at) =>
        cidr === before[at] ? [] : [invalid(path, cidr, FIXED)],
      );
    }
    if (before.length !== 1 || cidrs.length !== FAMILIES_MAX) return [invalid(PATH, cidrs, FIXED)];
    return [
      ...(cidrs[0] === before[0] ? [] : [invalid(`${PATH}[0]`, cidrs[0], FIXED)]),
      ...validateCidrs(cidrs),
    ];
  },
};

function validateCidrs(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required(PATH, 'at least one CIDR required')];
  if (cidrs.length > FAMILIES_MAX) return [invalid(PATH, { cidrs }, 'may only hold up to 2 values')];
  const [first, second] = cidrs.map((cidr) =>
    isCidr(cidr) ? familyOf(cidr.split('/')[0] ?? '') : undefined,
  );
  const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [
    ...forEachItem(cidrs, PATH, canonicalCidr),
    ...(cidrs.length === FAMILIES_MAX && first !== undefined && first === second
      ? [invalid(PATH, cidrs, why)]
      : []),
  ];
}

export const serviceCidrs: Kind<ServiceCIDR> = {
  strategy: { statusLeavesMetadata: true, ...serviceCidrRules },
  table: tableOf<ServiceCIDR>([
    NAME,
    { name: 'CIDRs', cell: ({ spec }) => (spec.cidrs ?? []).join(',') },
    AGE,
  ]),
};
