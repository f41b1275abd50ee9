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

/** The first address and family stay for ever; a second one may come and, with `SingleStack`, go. Being an ExternalName ends it. */
export function clusterAddressChanges(next: Service, previous: Service): FieldError[] {
  const { spec: after } = next;
  const { spec: before } = previous;
  if (after.type === 'ExternalName' || before.type === 'ExternalName') return [];
  return [
    ...listChanges('clusterIPs', after, before),
    ...(isHeadless(after) && isHeadless(before) ? [] : listChanges('ipFamilies', after, before)),
  ];
}

function listChanges(
  field: 'clusterIPs' | 'ipFamilies',
  after: ServiceSpec,
  before: ServiceSpec,
): FieldError[] {
  const path = `spec.${field}`;
  const { [field]: now = [] } = after;
  const { [field]: then = [] } = before;
  if (then.length === 0) return [];
  if (now.length === then.length) {
    return forEachItem(then, path, (value, itemPath, index) =>
      value === now[index] ? [] : [invalid(itemPath, now, 'may not change once set')],
    );
  }
  if (now.length === 0) return [invalid(`${path}[0]`, now, 'the primary one can not be unset')];
  const changed = now[0] === then[0] ? [] : [invalid(`${path}[0]`, now, 'may not change once set')];
  const released = now.length < then.length && after.ipFamilyPolicy !== 'SingleStack';
  return [
    ...changed,
    ...(released
      ? [
          invalid(
            'spec.ipFamilyPolicy',
            after.ipFamilyPolicy ?? null,
            `must be set to 'SingleStack' when releasing the secondary one of ${field}`,
          ),
        ]
      : []),
  ];
}
