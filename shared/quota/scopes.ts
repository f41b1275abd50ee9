import { isInForce } from '../api/changes';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../api/types/core-v1';

/** The scope of claims with a VolumeAttributesClass. */
export const ATTRIBUTES_CLASS_SCOPE = 'VolumeAttributesClass';

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
  /** A term of its pod affinity or anti-affinity names or selects namespaces. */
  readonly hasCrossNamespaceAffinity: boolean;
}

/** Properties of a claim that scopes match. */
export interface ClaimScopes {
  /** The VolumeAttributesClasses that it has, asks for, or is being changed to. */
  readonly attributesClasses: readonly string[];
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

/** True when the pod or claim matches. Other objects have no scopes and match none. */
export function matchesScope(
  requirement: ScopeRequirement,
  scopes: PodScopes | ClaimScopes | undefined,
): boolean {
  if (scopes === undefined) return false;
  if ('attributesClasses' in scopes) {
    const { attributesClasses: names } = scopes;
    return (
      requirement.scopeName === ATTRIBUTES_CLASS_SCOPE &&
      (names.length === 0 ? [''] : names).some((name) => matchesClass(requirement, name))
    );
  }
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
    case 'CrossNamespacePodAffinity':
      return MATCHES_AFFINITY && scopes.hasCrossNamespaceAffinity;
    default:
      return false;
  }
}

/** v1.21 has the scope, behind a gate that is off. */
const MATCHES_AFFINITY = isInForce('affinityScopes');

/** Matches as a label selector does on a label that an object without a class lacks. */
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
