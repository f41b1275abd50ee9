import type { Service, ServiceSpec } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required } from '../../../../../shared/errors/field-error';
import { goStrings } from '../../../../../shared/errors/go-values';
import { familyOf, isDualStack } from '../../rules/addresses';
import type { KindSettings } from '../../../../engine/registry/strategy';
import { forEachItem, repeatsIn } from '../../rules/primitives';
import { legacyIp } from '../../rules/strict-addresses';

const PATH = 'spec.clusterIPs';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** A Service without an address of its own: its name leads to its endpoints. */
export function isHeadless({ clusterIP, clusterIPs = [] }: ServiceSpec): boolean {
  const [first = clusterIP, ...more] = clusterIPs;
  return first === 'None' && more.length === 0;
}

/** `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` of a Service that has addresses. */
export function clusterAddresses(spec: ServiceSpec, settings: KindSettings): FieldError[] {
  const { clusterIP: first = '', clusterIPs: all = [], ipFamilies = [], ipFamilyPolicy: policy } = spec;
  const errors = [
    ...(first !== '' && all.length === 0 ? [required(PATH)] : []),
    ...(first !== '' && all.length > 0 && all[0] !== first
      ? [invalid(PATH, all, 'element [0] must match clusterIP')]
      : []),
    ...(first === '' && all.length > 0 ? [invalid(PATH, all, 'must be empty when clusterIP is empty')] : []),
    ...validateFamilies(ipFamilies),
    ...(policy === undefined || FAMILY_POLICIES.includes(policy)
      ? []
      : [notSupported('spec.ipFamilyPolicy', policy, FAMILY_POLICIES)]),
  ];
  const form = addressForms(all, settings);
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

function addressForms(
  all: readonly string[],
  settings: KindSettings,
): { readonly isSound: boolean; readonly errors: FieldError[] } {
  const wrong = forEachItem(all, PATH, (address, path, index) => {
    if (index === 0 && address === 'None') {
      return all.length > 1 ? [invalid(PATH, all, "'None' must be the first and only value")] : [];
    }
    return legacyIp(address, path, settings);
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
  const wasHeadless = isHeadless(before);
  const staysHeadless = isHeadless(after) && wasHeadless;
  return [
    ...(staysHeadless ? [] : addressChanges(after, before)),
    ...(staysHeadless || isHeadless(after) !== wasHeadless ? [] : familyChanges(after, before)),
  ];
}

const STAYS = 'may not change once set';

function addressChanges(after: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { clusterIPs: now = [] } = after;
  const { clusterIPs: then = [] } = before;
  if (now.length === then.length) {
    return forEachItem(then, PATH, (address, path, index) =>
      address === now[index] ? [] : [invalid(path, now, STAYS)],
    );
  }
  const first = `${PATH}[0]`;
  return [
    ...(now.length === 0 ? [invalid(first, now, 'primary clusterIP can not be unset')] : []),
    ...(now.length > 0 && then.length > 0 && now[0] !== then[0] ? [invalid(first, now, STAYS)] : []),
    ...(now.length === 1 && then.length > 1 ? released(after, 'clusterIP') : []),
  ];
}

/** The paths, and the list that is shown, are upstream's. */
function familyChanges(after: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { clusterIPs: addresses = [], ipFamilies: now = [] } = after;
  const { ipFamilies: then = [] } = before;
  const first = 'spec.ipFamilies[0]';
  if (now.length === then.length) {
    return forEachItem(then, first, (family, _path, index) =>
      family === now[index] ? [] : [invalid(first, goStrings(now, FAMILY), STAYS)],
    );
  }
  const isFewer = now.length < then.length;
  return [
    ...(isFewer && addresses.length === 0
      ? [invalid(first, goStrings(now, FAMILY), 'primary ipFamily can not be unset')]
      : []),
    ...(now.length > 0 && then.length > 0 && now[0] !== then[0] ? [invalid(first, addresses, STAYS)] : []),
    ...(isFewer && now.length === 1 ? released(after, 'ipFamily') : []),
  ];
}

const FAMILY = 'core.IPFamily';

function released({ clusterIPs = [], ipFamilyPolicy }: ServiceSpec, what: string): FieldError[] {
  if (ipFamilyPolicy === 'SingleStack') return [];
  const why = `\`ipFamilyPolicy\` must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalid(`${PATH}[0]`, clusterIPs, why)];
}
