import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../api/types/core-v1';

/** One condition on the pods of a quota. */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** Properties of a pod that scopes match. */
export interface PodScopes {
  /** It has activeDeadlineSeconds. */
  readonly isTerminating: boolean;
  /** It has no requests or limits of cpu and memory. */
  readonly isBestEffort: boolean;
  /** Empty for none. */
  readonly priorityClassName: string;
}

/** Returns the conditions of a quota, which must all hold. */
export function getScopes({ spec }: Pick<ResourceQuota, 'spec'>): readonly ScopeRequirement[] {
  const { scopes = [], scopeSelector } = spec;
  return [
    ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...(scopeSelector?.matchExpressions ?? []).map(scopeRequirementOf),
  ];
}

export function scopeRequirementOf({
  scopeName,
  operator,
  values = [],
}: ScopedResourceSelectorRequirement): ScopeRequirement {
  return { scopeName, operator, values };
}

/** True when the pod matches. Other objects have no scopes and match none. */
export function matchesScope(requirement: ScopeRequirement, scopes: PodScopes | undefined): boolean {
  if (scopes === undefined) return false;
  switch (requirement.scopeName) {
    case 'Terminating':
      return scopes.isTerminating;
    case 'NotTerminating':
      return !scopes.isTerminating;
    case 'BestEffort':
      return scopes.isBestEffort;
    case 'NotBestEffort':
      return !scopes.isBestEffort;
    case 'PriorityClass':
      return matchesClass(requirement, scopes.priorityClassName);
    default:
      // CrossNamespacePodAffinity is an alpha feature of v1.21 and disabled, so no pod matches it.
      return false;
  }
}

/** Matches as a label selector does on a label that a pod without a class lacks. */
function matchesClass({ operator, values }: ScopeRequirement, name: string): boolean {
  switch (operator) {
    case 'Exists':
      return name !== '';
    case 'DoesNotExist':
      return name === '';
    case 'In':
      return name !== '' && values.includes(name);
    case 'NotIn':
      return name === '' || !values.includes(name);
    default:
      return false;
  }
}
