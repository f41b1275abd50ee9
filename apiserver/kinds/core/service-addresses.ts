import type { Service, ServiceSpec } from '../../../shared/api/types/core-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required } from '../../../shared/errors/field-error';
import { familyOf, isDualStack } from '../rules/addresses';
import { forEachItem, repeatsIn } from '../rules/primitives';

const PATH = 'spec.clusterIPs';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** A Service without an address of its own: its name leads to its endpoints. */
export function isHeadless({ clusterIP, clusterIPs = [] }: ServiceSpec): boolean {
  const [first] = clusterIPs;
  return first === 'None' || (first === undefined && clusterIP === 'None');
}

/** `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` of a Service that has addresses. */
export function clusterAddresses(spec: ServiceSpec): FieldError[] {
  const { clusterIP: first = '', clusterIPs: all = [], ipFamilies = [], ipFamilyPolicy: policy = '' } = spec;
  const errors = [
    ...(first !== '' && all.length === 0 ? [required(PATH)] : []),
    ...(first !== '' && all.length > 0 && all[0] !== first
      ? [invalid(PATH, all, 'element [0] must match clusterIP')]
      : []),
    ...(first === '' && all.length > 0 ? [invalid(PATH, all, 'must be empty when clusterIP is empty')] : []),
    ...validateFamilies(ipFamilies),
    ...(policy === '' || FAMILY_POLICIES.includes(policy)
      ? []
      : [notSupported('spec.ipFamilyPolicy', policy, FAMILY_POLICIES)]),
  ];
  const form = addressForms(all);
  // Whether wrong addresses are of the right families says nothing.
  return form.isSound
    ? [...errors, ...form.errors, ...familiesOfAddresses(spec, all)]
    : [...errors, ...form.errors];
}

function validateFamilies(families: readonly string[]): FieldError[] {
  const isRepeated = repeatsIn(families);
  return forEachItem(families, 'spec.ipFamilies', (family, path, index) => [
    ...(FAMILIES.includes(family) ? [] : [notSupported(path, family, FAMILIES)]),
    ...(isRepeated(index) ? [duplicate(path, family)] : []),
  ]);
}

function addressForms(all: readonly string[]): { readonly isSound: boolean; readonly errors: FieldError[] } {
  const wrong = forEachItem(all, PATH, (address, path, index) => {
    if (index === 0 && address === 'None') {
      return all.length > 1 ? [invalid(PATH, all, "'None' must be the first and only value")] : [];
    }
    return familyOf(address) === undefined ? [invalid(path, address, 'must be a valid IP address')] : [];
  });
  const tooMany = all.length > 2 ? [invalid(PATH, all, 'may only hold up to 2 values')] : [];
  return { isSound: wrong.length === 0, errors: [...wrong, ...tooMany] };
}

function familiesOfAddresses(spec: ServiceSpec, all: readonly string[]): FieldError[] {
  const { ipFamilies: families = [] } = spec;
  return [
    ...(all.length > 1 && !isDualStack(all)
      ? [invalid(PATH, all, 'may specify no more than one IP for each IP family')]
      : []),
    ...forEachItem(isHeadless(spec) ? [] : all, PATH, (address, path, index) => {
      const family = families[index];
      if (family === undefined || !FAMILIES.includes(family) || familyOf(address) === family) return [];
      return [
        invalid(
          path,
          address,
          `expected an ${family} value as indicated by \`ipFamilies[${String(index)}]\``,
        ),
      ];
    }),
  ];
}

/**
 * The first address and family stay for ever; a second one may come and, with `SingleStack`, go. Being an ExternalName ends it. Paths
 * and values are upstream's, also where they are those of the other field.
 */
export function clusterAddressChanges(next: Service, previous: Service): FieldError[] {
  const { spec: after } = next;
  const { spec: before } = previous;
  if (after.type === 'ExternalName' || before.type === 'ExternalName') return [];
  const isNow = isHeadless(after);
  const was = isHeadless(before);
  if (isNow && was) return [];
  return [...addressChanges(after, before), ...(isNow || was ? [] : familyChanges(after, before))];
}

const UNCHANGEABLE = 'may not change once set';

function addressChanges(after: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { clusterIPs: now = [], ipFamilyPolicy } = after;
  const { clusterIPs: then = [] } = before;
  const first = `${PATH}[0]`;
  if (now.length === then.length) {
    return forEachItem(then, PATH, (value, path, index) =>
      value === now[index] ? [] : [invalid(path, now, UNCHANGEABLE)],
    );
  }
  if (now.length === 0) return [invalid(first, now, 'primary clusterIP can not be unset')];
  return [
    ...(then.length > 0 && now[0] !== then[0] ? [invalid(first, now, UNCHANGEABLE)] : []),
    ...(now.length === 1 && then.length > 1 && ipFamilyPolicy !== 'SingleStack'
      ? [
          invalid(
            first,
            now,
            "`ipFamilyPolicy` must be set to 'SingleStack' when releasing the secondary clusterIP",
          ),
        ]
      : []),
  ];
}

function familyChanges(after: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { ipFamilies: now = [], clusterIPs = [], ipFamilyPolicy } = after;
  const { ipFamilies: then = [] } = before;
  const path = 'spec.ipFamilies[0]';
  if (now.length === then.length) {
    return then.flatMap((family, index) => (family === now[index] ? [] : [invalid(path, now, UNCHANGEABLE)]));
  }
  const isReleased = now.length < then.length;
  return [
    ...(isReleased && clusterIPs.length === 0
      ? [invalid(path, now, 'primary ipFamily can not be unset')]
      : []),
    ...(now.length > 0 && then.length > 0 && now[0] !== then[0]
      ? [invalid(path, clusterIPs, UNCHANGEABLE)]
      : []),
    ...(isReleased && now.length === 1 && ipFamilyPolicy !== 'SingleStack'
      ? [
          invalid(
            `${PATH}[0]`,
            clusterIPs,
            "`ipFamilyPolicy` must be set to 'SingleStack' when releasing the secondary ipFamily",
          ),
        ]
      : []),
  ];
}
