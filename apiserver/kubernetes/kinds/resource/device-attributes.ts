import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceAttribute,
  DeviceCapacity,
} from '../../../../shared/api/types/resource-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  required,
  tooLong,
  tooMany,
} from '../../../../shared/errors/field-error';
import type { Quantity } from '../../../../shared/meta/quantity';
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  subtractQuantity,
  ZERO_QUANTITY,
} from '../../../../shared/meta/quantity';
import { forEachItem, repeatsIn } from '../rules/primitives';
import { isSemanticVersion } from '../rules/semantic-versions';

/** Attributes and capacities of a device. */

const VALUE_BYTES_MAX = 64;
const OPTIONS_MAX = 10;
const LISTS = ['bools', 'ints', 'strings', 'versions'] as const;
const VALUES = ['bool', 'int', 'string', 'version', ...LISTS] as const;

/** True for an attribute with a list of values. */
export function hasListValues(attribute: DeviceAttribute): boolean {
  return LISTS.some((name) => attribute[name] !== undefined);
}

/** Returns how many values the attribute has, at least one. */
export function attributeValueCount(attribute: DeviceAttribute): number {
  return Math.max(
    1,
    LISTS.reduce((sum, name) => sum + (attribute[name] ?? []).length, 0),
  );
}

/** Validates an attribute, which has one value or one list of values. */
export function validateAttribute(attribute: DeviceAttribute, path: string): FieldError[] {
  const given = VALUES.filter((name) => attribute[name] !== undefined);
  const { string, version, strings = [], versions = [] } = attribute;
  return [
    ...(string === undefined ? [] : validateText(string, `${path}.string`)),
    ...(version === undefined ? [] : validateVersion(version, `${path}.version`)),
    ...LISTS.filter((name) => attribute[name]?.length === 0).map((name) =>
      invalid(`${path}.${name}`, [], 'must not be empty if specified'),
    ),
    ...forEachItem(strings, `${path}.strings`, validateText),
    ...forEachItem(versions, `${path}.versions`, validateVersion),
    ...(given.length === 1
      ? []
      : [invalid(path, given.length === 0 ? '' : attribute, 'exactly one value must be specified')]),
  ];
}

function validateText(value: string, path: string): FieldError[] {
  return Buffer.byteLength(value) > VALUE_BYTES_MAX ? [tooLong(path, value, VALUE_BYTES_MAX)] : [];
}

function validateVersion(value: string, path: string): FieldError[] {
  const why = 'must be a string compatible with semver.org spec 2.0.0';
  return [...(isSemanticVersion(value) ? [] : [invalid(path, value, why)]), ...validateText(value, path)];
}

/** Validates a capacity; `isShared`: several claims may each have a part of it, for which the policy has rules. */
export function validateCapacity(
  { value, requestPolicy: policy }: DeviceCapacity,
  path: string,
  isShared: boolean,
): FieldError[] {
  const at = `${path}.requestPolicy`;
  if (policy === undefined) return [];
  if (!isShared) return [forbiddenField(at, 'allowMultipleAllocations must be true')];
  const { validValues: values = [], validRange: range, default: preset } = policy;
  if (values.length > 0 && range !== undefined) {
    const why =
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbiddenField(at, why)];
  }
  const kind = values.length > 0 ? 'validValues' : 'validRange';
  if (values.length === 0 && range === undefined) return [];
  if (preset === null) return [required(`${at}.default`, `required when ${kind} is defined`)];
  const capacity = quantityOf(value);
  return range === undefined
    ? validateValues(policy, capacity, `${at}.validValues`)
    : validateRange(range, { preset: quantityOf(preset), capacity, path: `${at}.validRange` });
}

function quantityOf(text: string | null): Quantity {
  return parseQuantity(text ?? '0') ?? ZERO_QUANTITY;
}

function validateValues(policy: CapacityRequestPolicy, capacity: Quantity, path: string): FieldError[] {
  const texts = policy.validValues ?? [];
  const values = texts.map(quantityOf);
  const preset = quantityOf(policy.default);
  const isKnown = values.some((value) => compareQuantity(value, preset) === 0);
  const why = `option is larger than capacity value: ${formatQuantity(capacity)}`;
  const wholes = values.map((value) => String(wholeOf(value)));
  const isRepeated = repeatsIn(wholes);
  return [
    ...forEachItem(values, path, (value, at, index) => {
      const before = values[index - 1];
      return before !== undefined && compareQuantity(before, value) > 0
        ? [invalid(at, texts[index], 'values must be sorted in ascending order')]
        : [];
    }),
    ...(texts.length > OPTIONS_MAX
      ? [tooMany(path, texts.length, OPTIONS_MAX)]
      : forEachItem(values, path, (value, at, index) => [
          ...(compareQuantity(value, capacity) > 0 ? [invalid(at, texts[index], why)] : []),
          ...(isRepeated(index) ? [duplicate(at, wholes[index])] : []),
        ])),
    ...(isKnown && texts.length <= OPTIONS_MAX
      ? []
      : [invalid(path, policy.default, 'default value is not valid according to the requestPolicy')]),
  ];
}

/** Rounds up to a whole number, as upstream's `Value`. */
function wholeOf({ unscaled, scale }: Quantity): bigint {
  if (scale >= 0) return unscaled * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(-scale);
  const whole = unscaled / divisor;
  return unscaled > 0n && whole * divisor !== unscaled ? whole + 1n : whole;
}

interface RangeContext {
  readonly preset: Quantity;
  readonly capacity: Quantity;
  readonly path: string;
}

function validateRange(
  { min: minText, max: maxText, step: stepText }: CapacityRequestPolicyRange,
  { preset, capacity, path }: RangeContext,
): FieldError[] {
  if (minText === undefined) return [required(`${path}.min`, 'required when validRange is defined')];
  const min = quantityOf(minText);
  const max = maxText === undefined ? undefined : quantityOf(maxText);
  const step = stepText === undefined ? undefined : quantityOf(stepText);
  const limits: readonly (readonly [
    field: 'max' | 'min' | 'step',
    lower: Quantity,
    upper: Quantity,
    why: string,
  ])[] = [
    ['min', min, capacity, 'min is larger than capacity value'],
    ['min', min, preset, 'default is less than min'],
    ...(max === undefined
      ? []
      : ([
          ['max', min, max, 'min is larger than max'],
          ['max', max, capacity, 'max is larger than capacity value'],
          ['max', preset, max, 'default is more than max'],
        ] as const)),
    ...(step === undefined
      ? []
      : ([['step', addQuantity(min, step), capacity, 'one step is larger than capacity value']] as const)),
  ];
  return [
    ...limits
      .filter(([, lower, upper]) => compareQuantity(lower, upper) > 0)
      .map(([field, lower, , why]) => invalid(`${path}.${field}`, formatQuantity(lower), why)),
    ...(step === undefined
      ? []
      : [preset, ...(max === undefined ? [] : [max])]
          .filter((value) => !isOnStep(subtractQuantity(value, min), step))
          .map((value) =>
            invalid(
              `${path}.step`,
              formatQuantity(value),
              'value is not a multiple of a given step from min',
            ),
          )),
  ];
}

function isOnStep(distance: Quantity, step: Quantity): boolean {
  const size = wholeOf(step);
  return size !== 0n && wholeOf(distance) % size === 0n;
}
