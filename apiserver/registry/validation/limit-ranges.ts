import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { Quantity } from '../../../shared/meta/quantity';
import { compareQuantity } from '../../../shared/meta/quantity';
import type { Strategy } from '../strategy';
import type { Json } from './accessors';
import { record, records, text } from './accessors';
import { forEachItem, invalidForEach, noDuplicates } from './primitives';
import { mayOvercommit } from './resource-lists';
import { containerResourceName, quantityOf, resourceName } from './resource-requirements';

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

export const limitRangeRules: Pick<Strategy, 'validate'> = {
  validate: (object) => {
    const limits = records(record(object['spec'])['limits']);
    return [
      ...noDuplicates(
        limits.map((limit) => text(limit['type'])),
        (index) => `spec.limits[${String(index)}].type`,
      ),
      ...forEachItem(limits, 'spec.limits', validateLimit),
    ];
  },
};

const AMOUNTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
const DEFAULTS: readonly string[] = ['default', 'defaultRequest'];

function validateLimit(limit: Json, path: string): FieldError[] {
  const type = text(limit['type']);
  const isPod = type === 'Pod';
  const maps = AMOUNTS.filter((field) => !(isPod && DEFAULTS.includes(field)));
  const names = new Set(maps.flatMap((field) => Object.keys(record(limit[field]))));
  return [
    ...validateType(type, `${path}.type`),
    ...(isPod ? DEFAULTS : [])
      .filter((field) => Object.keys(record(limit[field])).length > 0)
      .map((field) => forbiddenField(`${path}.${field}`, "may not be specified when `type` is 'Pod'")),
    ...maps.flatMap((field) =>
      Object.keys(record(limit[field])).flatMap((name) =>
        validateName(type, name, `${path}.${field}[${name}]`),
      ),
    ),
    ...limitsOfClaim(limit, path),
    ...[...names].flatMap((name) => validateAmounts(limit, name, path)),
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
function limitsOfClaim(limit: Json, path: string): FieldError[] {
  if (text(limit['type']) !== 'PersistentVolumeClaim') return [];
  const has = ['min', 'max'].some((field) => Object.hasOwn(record(limit[field]), 'storage'));
  return has
    ? []
    : [
        required(
          `${path}.limits`,
          'either minimum or maximum storage value is required, but neither was provided',
        ),
      ];
}

/** min <= defaultRequest <= default <= max, and a ratio that these allow. */
function validateAmounts(limit: Json, name: string, path: string): FieldError[] {
  const amount = (field: string): Quantity | undefined => {
    const map = record(limit[field]);
    return Object.hasOwn(map, name) ? quantityOf(map[name]) : undefined;
  };
  const notMore = (lower: string, upper: string, blamed: string): FieldError[] => {
    const low = amount(lower);
    const high = amount(upper);
    if (low === undefined || high === undefined || compareQuantity(low, high) <= 0) return [];
    return [
      invalid(
        `${path}.${blamed}[${name}]`,
        record(limit[blamed])[name],
        `${lower} value is greater than ${upper} value`,
      ),
    ];
  };
  const isPod = text(limit['type']) === 'Pod';
  const defaults = isPod
    ? []
    : [
        ...notMore('min', 'defaultRequest', 'defaultRequest'),
        ...notMore('defaultRequest', 'max', 'defaultRequest'),
        ...notMore('defaultRequest', 'default', 'defaultRequest'),
        ...notMore('min', 'default', 'default'),
        ...notMore('default', 'max', 'default'),
        ...overcommit(name, [amount('defaultRequest'), amount('default')], path),
      ];
  return [
    ...notMore('min', 'max', 'min'),
    ...defaults,
    ...validateRatio(
      amount('maxLimitRequestRatio'),
      [amount('min'), amount('max')],
      `${path}.maxLimitRequestRatio[${name}]`,
    ),
  ];
}

type Pair = readonly [Quantity | undefined, Quantity | undefined];

function overcommit(name: string, [request, limit]: Pair, path: string): FieldError[] {
  if (mayOvercommit(name) || request === undefined || limit === undefined) return [];
  if (compareQuantity(request, limit) === 0) return [];
  const why = 'default value must equal to defaultRequest value for resources that must not overcommit';
  return [invalid(`${path}.defaultRequest[${name}]`, name, why)];
}

function validateRatio(ratio: Quantity | undefined, [min, max]: Pair, path: string): FieldError[] {
  if (ratio === undefined) return [];
  if (asNumber(ratio) < 1) return [invalid(path, asNumber(ratio), 'ratio is less than 1')];
  if (min === undefined || max === undefined) return [];
  const most = asNumber(max) / asNumber(min);
  return asNumber(ratio) > most
    ? [invalid(path, asNumber(ratio), `ratio is greater than max/min = ${String(most)}`)]
    : [];
}

function asNumber({ unscaled, scale }: Quantity): number {
  return Number(unscaled) * 10 ** scale;
}
