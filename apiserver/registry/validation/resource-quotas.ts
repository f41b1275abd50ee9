import type { ApiObject } from '../../../shared/meta/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import type { Strategy } from '../strategy';
import { statusSubresource } from '../strategy';
import type { Json } from './accessors';
import { record, records, strings, text } from './accessors';
import { forEachItem } from './primitives';
import { isQuotaResource, quotaResourceName } from './resource-lists';
import { resourceAmount } from './resource-requirements';

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
  return Object.entries(record(list)).flatMap(([name, value]) => [
    ...quotaResourceName(name, `${path}[${name}]`),
    ...resourceAmount(name, value, `${path}[${name}]`),
  ]);
}

const COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
/** Which of the standard resources a scope can be about. */
const RESOURCES_OF_SCOPE: Readonly<Record<string, readonly string[]>> = {
  BestEffort: ['pods'],
  CrossNamespacePodAffinity: ['pods', ...COMPUTE],
  NotBestEffort: ['pods', ...COMPUTE],
  NotTerminating: ['pods', ...COMPUTE],
  PriorityClass: ['pods', ...COMPUTE],
  Terminating: ['pods', ...COMPUTE],
};
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

function validateScopes(spec: Json): FieldError[] {
  const scopes = strings(spec['scopes']);
  const path = 'spec.scopes';
  return [
    ...scopes.flatMap((scope) => [
      ...(scope in RESOURCES_OF_SCOPE ? [] : [invalid(path, scopes, 'unsupported scope')]),
      ...misapplied(spec, scope).map(() => invalid(path, scopes, 'unsupported scope applied to resource')),
    ]),
    ...conflicts(scopes, path),
  ];
}

function misapplied(spec: Json, scope: string): string[] {
  const allowed = RESOURCES_OF_SCOPE[scope];
  if (allowed === undefined) return [];
  return Object.keys(record(spec['hard'])).filter((name) => isQuotaResource(name) && !allowed.includes(name));
}

function conflicts(scopes: readonly string[], path: string): FieldError[] {
  return EXCLUSIVE.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() =>
    invalid(path, scopes, 'conflicting scopes'),
  );
}

/** Upstream names the list, not its element, where an operator or its values are wrong. */
function validateScopeSelector(spec: Json): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = records(record(spec['scopeSelector'])['matchExpressions']);
  const names = expressions.map((each) => text(each['scopeName']));
  return [
    ...forEachItem(expressions, path, (expression, itemPath) => [
      ...validateScopeName(spec, text(expression['scopeName']), itemPath),
      ...validateOperator(expression, path),
    ]),
    ...conflicts(names, path),
  ];
}

function validateScopeName(spec: Json, name: string, path: string): FieldError[] {
  if (!(name in RESOURCES_OF_SCOPE)) return [invalid(`${path}.scopeName`, name, 'unsupported scope')];
  return misapplied(spec, name).map(() => invalid(path, name, 'unsupported scope applied to resource'));
}

function validateOperator(expression: Json, path: string): FieldError[] {
  const operator = text(expression['operator']);
  const values = strings(expression['values']);
  const isValueless = VALUELESS.includes(text(expression['scopeName'])) && operator !== 'Exists';
  return [
    ...(isValueless ? [invalid(`${path}.operator`, operator, `must be 'Exists' for this scope`)] : []),
    ...validateValues(operator, values, path),
  ];
}

function validateValues(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [
        invalid(`${path}.values`, values, "must be no value when `operator` is 'Exists' or 'DoesNotExist'"),
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
