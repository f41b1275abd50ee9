import { isInForce } from '../../../../shared/api/changes';
import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goNoItems, goStrings, goStruct, goStructs } from '../../../../shared/errors/go-values';
import type { Quantity } from '../../../../shared/object/values';
import { ATTRIBUTES_CLASS_SCOPE } from '../../../../shared/quota/scopes';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { resourceAmount } from '../pod-template/resource-requirements';
import { forEachItem } from '../rules/primitives';
import { isQuotaResource, quotaResourceName } from '../rules/resource-lists';

export const resourceQuotaRules: Pick<
  Strategy<ResourceQuota>,
  'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validateNew: ({ spec }, { settings }) => validateSpec(spec, isOn(settings, CROSSING_GATE)),
  validateUpdate(next, previous, { settings }) {
    const hadIt = scopesOf(previous.spec).includes(CROSSING);
    return [
      ...validateSpec(next.spec, hadIt || isOn(settings, CROSSING_GATE)),
      ...scopesStay(next, previous),
    ];
  },
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ status }) => [
        ...amounts(status?.hard, 'status.hard'),
        ...amounts(status?.used, 'status.used'),
      ],
    },
  },
};

/** `crosses`: terms of affinity may be about pods of other namespaces. */
function validateSpec(spec: ResourceQuotaSpec, crosses: boolean): FieldError[] {
  const isSupported = (scope: string): boolean =>
    RESOURCES_OF_SCOPE.has(scope) &&
    (crosses || scope !== CROSSING) &&
    (isInForce('attributesClassQuotas') || scope !== ATTRIBUTES_CLASS_SCOPE);
  return [
    ...amounts(spec.hard, 'spec.hard'),
    ...validateScopes(spec, isSupported),
    ...validateScopeSelector(spec, isSupported),
  ];
}

function amounts(list: Readonly<Record<string, Quantity>> = {}, path: string): FieldError[] {
  return forEachItem(Object.entries(list), path, ([name, value]) => [
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
  [ATTRIBUTES_CLASS_SCOPE, ['persistentvolumeclaims', 'requests.storage']],
]);

function scopesOf({ scopes = [], scopeSelector = {} }: ResourceQuotaSpec): readonly string[] {
  return [...scopes, ...(scopeSelector.matchExpressions ?? []).map(({ scopeName }) => scopeName)];
}

type IsSupported = (scope: string) => boolean;

/** Its feature is off by default. */
const CROSSING = 'CrossNamespacePodAffinity';
const CROSSING_GATE = 'PodAffinityNamespaceSelector';

const SCOPE = 'core.ResourceQuotaScope';

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

/** One error is enough for any number of invalid scopes: it shows all of them. */
function validateScopes(spec: ResourceQuotaSpec, isSupported: IsSupported): FieldError[] {
  const { scopes = [] } = spec;
  const path = 'spec.scopes';
  return [
    ...(scopes.every(isSupported) ? [] : [invalid(path, goStrings(scopes, SCOPE), 'unsupported scope')]),
    ...(isMisapplied(spec, scopes)
      ? [invalid(path, goStrings(scopes, SCOPE), 'unsupported scope applied to resource')]
      : []),
    ...conflicts(scopes, path),
  ];
}

/** True where a scope is not about one of the resources that are limited. */
function isMisapplied({ hard = {} }: ResourceQuotaSpec, scopes: readonly string[]): boolean {
  const limited = Object.keys(hard).filter(isQuotaResource);
  return [...new Set(scopes)].some((scope) => {
    const allowed = RESOURCES_OF_SCOPE.get(scope);
    return allowed !== undefined && limited.some((name) => !allowed.includes(name));
  });
}

function conflicts(scopes: readonly string[], path: string): FieldError[] {
  return EXCLUSIVE.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() =>
    invalid(path, goStrings(scopes, SCOPE), 'conflicting scopes'),
  );
}

function selectorInGo(expressions: readonly ScopedResourceSelectorRequirement[]): GoValue {
  const type = 'core.ScopedResourceSelectorRequirement';
  const shown = expressions.map(({ scopeName, operator, values = [] }) =>
    goStruct(type, {
      ScopeName: goQuote(scopeName),
      Operator: goQuote(operator),
      Values: String(values.length === 0 ? goNoItems('string') : goStrings(values)),
    }),
  );
  return goStruct('core.ScopeSelector', { MatchExpressions: String(goStructs(type, shown)) });
}

/** Upstream names the list, not its element. */
function validateScopeSelector(spec: ResourceQuotaSpec, isSupported: IsSupported): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const { matchExpressions: expressions = [] } = spec.scopeSelector ?? {};
  const names = expressions.map(({ scopeName }) => scopeName);
  return [
    ...forEachItem(expressions, path, (expression) => [
      ...(isSupported(expression.scopeName)
        ? []
        : [invalid(`${path}.scopeName`, expression.scopeName, 'unsupported scope')]),
      ...validateOperator(expression, path),
    ]),
    ...(isMisapplied(spec, names)
      ? [invalid(path, selectorInGo(expressions), 'unsupported scope applied to resource')]
      : []),
    ...conflicts(names, path),
  ];
}

const ONLY_EXISTS =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateOperator(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  path: string,
): FieldError[] {
  const isValueless = VALUELESS.includes(scopeName) && operator !== 'Exists';
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

function scopesStay(next: ResourceQuota, previous: ResourceQuota): FieldError[] {
  const now = new Set(next.spec.scopes);
  const then = new Set(previous.spec.scopes);
  const isSame = now.size === then.size && [...now].every((scope) => then.has(scope));
  return isSame
    ? []
    : [invalid('spec.scopes', goStrings(next.spec.scopes ?? [], SCOPE), 'field is immutable')];
}

const isLimit = (name: string): boolean => name.startsWith('limits.');

/** `cpu: 1/2` of every resource that is counted in the column. */
function usage(name: string, counts: (resource: string) => boolean): Column<ResourceQuota> {
  return {
    name,
    cell: ({ status: { hard = {}, used = {} } = {} }) =>
      Object.entries(hard)
        .filter(([resource]) => counts(resource))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([resource, most]) => `${resource}: ${used[resource] ?? '0'}/${most}`)
        .join(', '),
  };
}

const resourceQuotaTable = tableOf<ResourceQuota>([
  NAME,
  ...(isInForce('quotaAgeColumnLast') ? [] : [AGE]),
  usage('Request', (resource) => !isLimit(resource)),
  usage('Limit', isLimit),
  ...(isInForce('quotaAgeColumnLast') ? [AGE] : []),
]);

export const resourceQuotas: Kind<ResourceQuota> = {
  strategy: { compat: { metadataChecks: 'old names', returnsDeletedObject: true }, ...resourceQuotaRules },
  table: resourceQuotaTable,
};
