import type { PolicyRule as StoredRule } from '../../../../shared/api/types/rbac-v1';

/** One rule of a role; absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Converts the stored `rules` of a role. */
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

/** Converts a rule to its JSON form, which omits empty lists. */
export function ruleAsJson({ verbs, ...lists }: PolicyRule): WrittenRule {
  const given = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { verbs, ...Object.fromEntries(given) };
}

export type WrittenRule = Pick<PolicyRule, 'verbs'> & Partial<PolicyRule>;

/** Returns the prefix of a URL pattern with trailing `*`; undefined for a pattern without. */
export function urlPrefixOf(pattern: string): string | undefined {
  return pattern.endsWith('*') ? pattern.replace(/\*+$/u, '') : undefined;
}
