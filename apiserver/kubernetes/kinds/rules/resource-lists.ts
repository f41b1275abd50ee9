import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { compareQuantity, ZERO_QUANTITY } from '../../../../shared/meta/quantity';
import {
  isHugePages,
  isNativeResource,
  isStandardResource,
  quantityOf,
  resourceName,
  wholeValue,
} from '../pod-template/resource-requirements';

/** Further rules of names and amounts of resources, for what is no container. */

/** A name that a quota may limit. */
export function quotaResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (name.includes('/') || isQuotaResource(name)) return errors;
  return [...errors, invalid(path, name, 'must be a standard resource for quota')];
}

/** Everything standard but plain storage, which is requested as `requests.storage`. */
export function isQuotaResource(name: string): boolean {
  return isStandardResource(name) && name !== 'storage';
}

/** CPU, memory and storage may be promised more than once; huge pages and devices may not. */
export function mayOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** An amount of more than 0. */
export function positiveQuantity(value: unknown, path: string): FieldError[] {
  return compareQuantity(quantityOf(value), ZERO_QUANTITY) > 0
    ? []
    : [invalid(path, value, 'must be greater than zero')];
}

/** A quantity that is not negative; errors show it as an integer. */
export function basicResource(value: unknown, path: string): FieldError[] {
  const amount = wholeValue(quantityOf(value));
  return amount < 0n ? [invalid(path, amount, 'must be a valid resource quantity')] : [];
}
