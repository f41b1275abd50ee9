import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { record, records, strings, text } from '../../../shared/object/accessors';
import { forEachItem } from '../rules/primitives';
import { isQuotaResource, quotaResourceName } from '../rules/resource-lists';
import { resourceAmount } from '../pod-template/resource-requirements';

export const resourceQuotaRules: Pick<Strategy, 'validate' | 'validateUpdate' | 'subresources'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    return [...amounts(spec['hard'], 'spec.hard'), ...validateScopes(spec), ...validateScopeSelector(spec)];
  },
  validateUpdate: scopesStay,
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next) => {
        const status = record(next['status']);
        return [...amounts(status['hard'], 'status.hard'), ...amounts(status['used'], 'status.used')];
      },
    },
  },
};

function amounts(list: unknown, path: string): FieldError[] {
  return forEachItem(Object.entries(record(list)), path, ([name, value]) => [
    ...quotaResourceName(name, `${path}[${name}]`),
    ...resourceAmount(name, value, `${path}[${name}]`),
  ]);
}

const COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
/** Which of the standard resources a scope can be about. */
const RESOURCES_OF_SCOPE: ReadonlyMap<string, readonly string[]> = new Map([
  ['BestEffort', ['pods']],
  ['CrossNamespacePodAffinity', ['pods', ...COMPUTE]],
  ['NotBestEffort', ['pods', ...COMPUTE]],
  ['NotTerminating', ['pods', ...COMPUTE]],
  ['PriorityClass', ['pods', ...COMPUTE]],
  ['Terminating', ['pods', ...COMPUTE]],
]);
const EXCLUSIVE = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;
/** These scopes are there or not; PriorityClass alone has values. */
const VALUELESS = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];

/** What is wrong is told once, however many of the scopes it is wrong with: the refusal shows all of them. */
function validateScopes(spec: Json): FieldError[] {
  const scopes = strings(spec['scopes']);
  const path = 'spec.scopes';
  return [
    ...(scopes.every((scope) => RESOURCES_OF_SCOPE.has(scope))
      ? []
      : [invalid(path, scopes, 'unsupported scope')]),
    ...(isMisapplied(spec, scopes) ? [invalid(path, scopes, 'unsupported scope applied to resource')] : []),
    ...conflicts(scopes, path),
  ];
}

/** True where a scope is not about one of the resources that are limited. */
function isMisapplied(spec: Json, scopes: readonly string[]): boolean {
  const limited = Object.keys(record(spec['hard'])).filter(isQuotaResource);
  return [...new Set(scopes)].some((scope) => {
    const allowed = RESOURCES_OF_SCOPE.get(scope);
    return allowed !== undefined && limited.some((name) => !allowed.includes(name));
  });
}

function conflicts(scopes: readonly string[], path: string): FieldError[] {
  return EXCLUSIVE.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() =>
    invalid(path, scopes, 'conflicting scopes'),
  );
}

/** Upstream names the list, not its element. */
function validateScopeSelector(spec: Json): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = records(record(spec['scopeSelector'])['matchExpressions']);
  const names = expressions.map((each) => text(each['scopeName']));
  return [
    ...forEachItem(expressions, path, (expression, _at, index) => [
      ...(RESOURCES_OF_SCOPE.has(names[index] ?? '')
        ? []
        : [invalid(`${path}.scopeName`, names[index], 'unsupported scope')]),
      ...validateOperator(expression, path),
    ]),
    ...(isMisapplied(spec, names)
      ? [invalid(path, spec['scopeSelector'], 'unsupported scope applied to resource')]
      : []),
    ...conflicts(names, path),
  ];
}

const ONLY_EXISTS =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateOperator(expression: Json, path: string): FieldError[] {
  const operator = text(expression['operator']);
  const values = strings(expression['values']);
  const isValueless = VALUELESS.includes(text(expression['scopeName'])) && operator !== 'Exists';
  return [
    ...(isValueless ? [invalid(`${path}.operator`, operator, ONLY_EXISTS)] : []),
    ...validateValues(operator, values, path),
  ];
}

function validateValues(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [
        required(
          `${path}.values`,
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        ),
      ];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [
        invalid(
          `${path}.values`,
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      ];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function scopesStay(next: ApiObject, previous: ApiObject): FieldError[] {
  const now = new Set(strings(record(next['spec'])['scopes']));
  const then = new Set(strings(record(previous['spec'])['scopes']));
  const isSame = now.size === then.size && [...now].every((scope) => then.has(scope));
  return isSame ? [] : [invalid('spec.scopes', [...now], 'field is immutable')];
}
