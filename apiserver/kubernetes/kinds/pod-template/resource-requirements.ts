import { RESERVED_PREFIX } from '../../../../shared/names';
import type { ResourceRequirements } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Quantity } from '../../../../shared/meta/quantity';
import { compareQuantity, parseQuantity, ZERO_QUANTITY } from '../../../../shared/meta/quantity';
import { goQuantity } from '../../../../shared/meta/quantity-in-go';
import { text } from '../../../../shared/object/accessors';
import { forEachItem, invalidForEach } from '../rules/primitives';

/** Amounts of compute resources, as containers, claims, quotas and nodes state them. */

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = [
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const STANDARD: ReadonlySet<string> = new Set([
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...COUNTED,
  'storage',
  'requests.storage',
]);
const HUGE_PAGES = 'hugepages-';

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Names without a domain, and those of the project's own domain. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes(RESERVED_PREFIX);
}

/** `example.com/gpu`: a resource that somebody else counts, in whole units. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return qualifiedNameProblems(`requests.${name}`).length === 0;
}

export function isStandardResource(name: string): boolean {
  return STANDARD.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);
}

/** The name of a resource anywhere: a qualified name that is well known or has a domain. */
export function resourceName(name: string, path: string): FieldError[] {
  const problems = invalidForEach(qualifiedNameProblems(name), name, path);
  if (problems.length > 0) return problems;
  if (name.includes('/') || isStandardResource(name)) return [];
  return [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function containerResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (!name.includes('/')) {
    return COMPUTE.includes(name) || isHugePages(name)
      ? errors
      : [...errors, invalid(path, name, 'must be a standard resource for containers')];
  }
  return isNativeResource(name) || isExtendedResource(name)
    ? errors
    : [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
}

/** The amount, or zero for an absent one. */
export function quantityOf(value: unknown): Quantity {
  return parseQuantity(text(value)) ?? ZERO_QUANTITY;
}

/** An amount of at least 0. */
export function nonNegativeQuantity(value: unknown, path: string): FieldError[] {
  return compareQuantity(quantityOf(value), ZERO_QUANTITY) < 0
    ? [invalid(path, value, 'must be greater than or equal to 0')]
    : [];
}

/** A whole amount of at least 0, as most are written. */
const PLAIN_AMOUNT = /^\d{1,18}$/;

/** An amount of at least 0, and whole where the resource is counted in units. */
export function resourceAmount(name: string, value: unknown, path: string): FieldError[] {
  if (typeof value === 'string' && PLAIN_AMOUNT.test(value)) return [];
  const counted = COUNTED.includes(name) || isExtendedResource(name);
  return [
    ...nonNegativeQuantity(value, path),
    ...(counted && !isWhole(quantityOf(value))
      ? [invalid(path, goQuantity(text(value)), 'must be an integer')]
      : []),
  ];
}

/** Thousandths decide, as upstream; smaller parts are rounded away. */
function isWhole({ unscaled, scale }: Quantity): boolean {
  if (scale >= 0) return true;
  const milli =
    scale >= -3 ? unscaled * 10n ** BigInt(scale + 3) : awayFromZero(unscaled, 10n ** BigInt(-scale - 3));
  return milli % 1000n === 0n;
}

function awayFromZero(value: bigint, divisor: bigint): bigint {
  const cut = value / divisor;
  if (value % divisor === 0n) return cut;
  return value > 0n ? cut + 1n : cut - 1n;
}

/** The `resources` of a container: known names (by `nameRule`), good amounts, requests within limits. */
export function validateResourceRequirements(
  { limits = {}, requests = {} }: ResourceRequirements,
  path: string,
  nameRule: (name: string, path: string) => readonly FieldError[] = containerResourceName,
): FieldError[] {
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const lonelyHugePages = names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
  // Requests default to the limits; an amount that is valid there is not validated again.
  const goodLimits = new Set<string>();
  return [
    ...forEachItem(Object.entries(limits), path, ([name, amount]) => {
      const errors = containerResource(name, amount, { path: `${path}.limits[${name}]`, nameRule });
      if (errors.length === 0) goodLimits.add(name);
      return errors;
    }),
    ...forEachItem(Object.entries(requests), path, ([name, amount]) =>
      goodLimits.has(name) && limits[name] === amount
        ? []
        : [
            ...containerResource(name, amount, { path: `${path}.requests[${name}]`, nameRule }),
            ...withinLimit(name, amount, { limit: limits[name], path }),
          ],
    ),
    ...(lonelyHugePages ? [forbiddenField(path, 'HugePages require cpu or memory')] : []),
  ];
}

function containerResource(
  name: string,
  amount: string,
  {
    path,
    nameRule,
  }: {
    readonly path: string;
    readonly nameRule: (name: string, path: string) => readonly FieldError[];
  },
): FieldError[] {
  return [
    ...nameRule(name, path),
    ...resourceAmount(name, amount, path),
    ...(isHugePages(name) ? wholePages(name, amount, path) : []),
  ];
}

function wholePages(name: string, amount: string, path: string): FieldError[] {
  const size = parseQuantity(name.slice(HUGE_PAGES.length));
  const isSize = size !== undefined && compareQuantity(size, ZERO_QUANTITY) > 0 && isWhole(size);
  if (isSize && wholeValue(quantityOf(amount)) % wholeValue(size) === 0n) return [];
  return [invalid(path, amount, `${amount} is not positive integer multiple of ${name}`)];
}

/** The amount in whole units, parts rounded away from zero. */
export function wholeValue({ unscaled, scale }: Quantity): bigint {
  return scale >= 0 ? unscaled * 10n ** BigInt(scale) : awayFromZero(unscaled, 10n ** BigInt(-scale));
}

function withinLimit(
  name: string,
  amount: string,
  { limit, path }: { readonly limit: string | undefined; readonly path: string },
): FieldError[] {
  const mayOvercommit = isNativeResource(name) && !isHugePages(name);
  if (limit === undefined) {
    return mayOvercommit
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const order = compareQuantity(quantityOf(amount), quantityOf(limit));
  if (!mayOvercommit && order !== 0) {
    return [invalid(`${path}.requests`, amount, `must be equal to ${name} limit`)];
  }
  return order > 0
    ? [invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit`)]
    : [];
}
