import type { PolicyRule as StoredRule } from '../../../../shared/api/types/rbac-v1';

/** One rule of a role, with an empty list for what it does not say. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The stored `rules` of a role. */
export function policyRules(rules: readonly StoredRule[] | null): readonly PolicyRule[] {
  return (rules ?? []).map(
    ({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }) => ({
      verbs: verbs ?? [],
      apiGroups,
      resources,
      resourceNames,
      nonResourceURLs,
    }),
  );
}

/** The rule as it is written into an object: lists that are empty are left out. */
export function ruleAsJson({ verbs, ...lists }: PolicyRule): WrittenRule {
  const given = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { verbs, ...Object.fromEntries(given) };
}

export type WrittenRule = Pick<PolicyRule, 'verbs'> & Partial<PolicyRule>;

/** A trailing `*`, or several, stands for anything. */
export function urlPrefixOf(pattern: string): string | undefined {
  return pattern.endsWith('*') ? pattern.replace(/\*+$/u, '') : undefined;
}
