import type { LimitRange, LimitRangeItem } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { compareQuantity } from '../../../../shared/meta/quantity';
import { goQuantity } from '../../../../shared/meta/quantity-in-go';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import type { Strategy } from '../../../engine/registry/strategy';
import type { Kind } from '../kind';
import { containerResourceName, quantityOf, resourceName } from '../pod-template/resource-requirements';
import { forEachItem, invalidForEach, repeatsIn } from '../rules/primitives';
import { mayOvercommit } from '../rules/resource-lists';

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

const limitRangeRules: Pick<Strategy<LimitRange>, 'validate'> = {
  validate: ({ spec }) => {
    const limits = spec.limits ?? [];
    const isRepeated = repeatsIn(limits.map(({ type }) => type));
    return forEachItem(limits, 'spec.limits', (limit, path, index) => [
      ...validateType(limit.type, `${path}.type`),
      ...(isRepeated(index) ? [duplicate(`${path}.type`, limit.type)] : []),
      ...validateLimit(limit, path),
    ]);
  },
};

const AMOUNTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type Field = (typeof AMOUNTS)[number];
const DEFAULTS: readonly Field[] = ['default', 'defaultRequest'];

function validateLimit(limit: LimitRangeItem, path: string): FieldError[] {
  const { type } = limit;
  const isPod = type === 'Pod';
  const maps = AMOUNTS.filter((field) => !(isPod && DEFAULTS.includes(field)));
  const names = new Set(maps.flatMap((field) => Object.keys(limit[field] ?? {})));
  return [
    ...(isPod ? DEFAULTS : [])
      .filter((field) => Object.keys(limit[field] ?? {}).length > 0)
      .map((field) => forbiddenField(`${path}.${field}`, "may not be specified when `type` is 'Pod'")),
    ...maps.flatMap((field) =>
      forEachItem(Object.keys(limit[field] ?? {}), path, (name) =>
        validateName(type, name, `${path}.${field}[${name}]`),
      ),
    ),
    ...limitsOfClaim(limit, path),
    ...forEachItem([...names], path, (name) => validateAmounts(limit, name, path)),
  ];
}

function validateType(type: string, path: string): FieldError[] {
  const wrong = invalidForEach(qualifiedNameProblems(type), type, path);
  if (wrong.length > 0 || type.includes('/') || TYPES.includes(type)) return wrong;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

function validateName(type: string, name: string, path: string): FieldError[] {
  return type === 'Pod' || type === 'Container'
    ? containerResourceName(name, path)
    : resourceName(name, path);
}

/** The path is upstream's: the element has no field `limits`. */
function limitsOfClaim({ type, min = {}, max = {} }: LimitRangeItem, path: string): FieldError[] {
  if (type !== 'PersistentVolumeClaim') return [];
  return Object.hasOwn(min, 'storage') || Object.hasOwn(max, 'storage')
    ? []
    : [
        required(
          `${path}.limits`,
          'either minimum or maximum storage value is required, but neither was provided',
        ),
      ];
}

/** Two amounts of which the first may not be the greater one; with the field that is blamed, and the one whose amount is shown there. */
interface Order {
  readonly fields: readonly [low: Field, high: Field];
  readonly names: readonly [low: string, high: string];
  readonly blamed: Field;
  readonly shown: Field;
}

const ORDERS: readonly Order[] = [
  { fields: ['min', 'max'], names: ['min', 'max'], blamed: 'min', shown: 'min' },
  {
    fields: ['min', 'defaultRequest'],
    names: ['min', 'default request'],
    blamed: 'defaultRequest',
    shown: 'defaultRequest',
  },
  {
    fields: ['defaultRequest', 'max'],
    names: ['default request', 'max'],
    blamed: 'defaultRequest',
    shown: 'defaultRequest',
  },
  {
    fields: ['defaultRequest', 'default'],
    names: ['default request', 'default limit'],
    blamed: 'defaultRequest',
    shown: 'defaultRequest',
  },
  { fields: ['min', 'default'], names: ['min', 'default'], blamed: 'default', shown: 'min' },
  { fields: ['default', 'max'], names: ['default', 'max'], blamed: 'default', shown: 'max' },
];

/** min <= defaultRequest <= default <= max, and a ratio that these allow. */
function validateAmounts(limit: LimitRangeItem, name: string, path: string): FieldError[] {
  const isPod = limit.type === 'Pod';
  const amount = (field: Field): string | undefined => {
    const amounts = limit[field] ?? {};
    const isLeftOut = isPod && DEFAULTS.includes(field);
    return Object.hasOwn(amounts, name) && !isLeftOut ? amounts[name] : undefined;
  };
  return [
    ...ORDERS.flatMap(({ fields: [low, high], names, blamed, shown }) => {
      const pair = [amount(low), amount(high)] as const;
      if (!isGreater(pair)) return [];
      const why = `${names[0]} value ${pair[0] ?? ''} is greater than ${names[1]} value ${pair[1] ?? ''}`;
      return [invalid(`${path}.${blamed}[${name}]`, goQuantity(amount(shown)), why)];
    }),
    ...validateRatio(
      amount('maxLimitRequestRatio'),
      [amount('min'), amount('max')],
      `${path}.maxLimitRequestRatio[${name}]`,
    ),
    ...overcommit(name, [amount('defaultRequest'), amount('default')], path),
  ];
}

type Pair = readonly [string | undefined, string | undefined];

function isGreater([low, high]: Pair): boolean {
  if (low === undefined || high === undefined) return false;
  return compareQuantity(quantityOf(low), quantityOf(high)) > 0;
}

function overcommit(name: string, [request, limit]: Pair, path: string): FieldError[] {
  if (mayOvercommit(name) || request === undefined || limit === undefined) return [];
  if (compareQuantity(quantityOf(request), quantityOf(limit)) === 0) return [];
  const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  return [invalid(`${path}.defaultRequest[${name}]`, goQuantity(request), why)];
}

function validateRatio(ratio: string | undefined, [min, max]: Pair, path: string): FieldError[] {
  if (ratio === undefined) return [];
  const given = thousandths(ratio);
  const tooSmall = given < 1000 ? [invalid(path, goQuantity(ratio), `ratio ${ratio} is less than 1`)] : [];
  if (min === undefined || max === undefined) return tooSmall;
  const most = thousandths(max) / thousandths(min);
  if (!(given / 1000 > most)) return tooSmall;
  return [
    ...tooSmall,
    invalid(path, goQuantity(ratio), `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`),
  ];
}

/** Whole numbers, whose quotients are exact where they are whole. */
function thousandths(amount: string): number {
  const { unscaled, scale } = quantityOf(amount);
  return scale < -3 ? Number(unscaled) / 10 ** (-scale - 3) : Number(unscaled) * 10 ** (scale + 3);
}

export const limitRanges: Kind<LimitRange> = {
  strategy: { createsOnUpdate: true, compat: { isNamedByUid: true }, ...limitRangeRules },
  table: CREATED_AT_TABLE,
};
