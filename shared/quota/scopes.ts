import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../api/types/core-v1';

/** One condition on the pods that a quota is about. */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** What scopes ask about a pod. */
export interface PodScopes {
  /** It has a deadline. */
  readonly isTerminating: boolean;
  /** It asks for no cpu and no memory. */
  readonly isBestEffort: boolean;
  /** Empty for none. */
  readonly priorityClassName: string;
}

/** The conditions of a quota, all of which must hold. */
export function scopesOf({ spec }: Pick<ResourceQuota, 'spec'>): readonly ScopeRequirement[] {
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

/** What has no scopes, everything but pods, matches none. */
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
      // CrossNamespacePodAffinity is an alpha feature of v1.21, and off: no pod has it.
      return false;
  }
}

/** As a label selector would decide of a label that a pod without a class does not have. */
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
