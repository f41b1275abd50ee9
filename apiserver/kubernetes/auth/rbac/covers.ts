import type { PolicyRule } from './policy-rule';
import { urlPrefixOf } from './policy-rule';

const EVERY = '*';

const NOTHING: PolicyRule = {
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
};

/** A budget of comparisons between rules. */
export interface Comparisons {
  left: number;
}

/**
 * Returns the parts of the wanted rules that no held rule covers; each part has one verb and one resource or URL. Several held rules never
 * combine into a wider one: all verbs by name do not cover `*`. If `comparisons.left` is exhausted, the result is incomplete: lists of a few
 * thousand names each fit into one request and expand to billions of parts. Source: validation.Covers in k8s.io/component-helpers.
 */
export function missingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  comparisons: Comparisons = { left: Infinity },
): readonly PolicyRule[] {
  const search = { held: held.map(indexRule), comparisons };
  return wanted.flatMap((rule) =>
    comparisons.left <= 0 ? [] : missingParts(search, removeDuplicates(rule)),
  );
}

/** A held rule with sets for fast lookups. */
interface HeldRule {
  readonly verbs: ReadonlySet<string>;
  readonly apiGroups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly resourceNames: ReadonlySet<string>;
  readonly nonResourceURLs: readonly string[];
}

interface Search {
  readonly held: readonly HeldRule[];
  readonly comparisons: Comparisons;
}

function indexRule({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): HeldRule {
  return {
    verbs: new Set(verbs),
    apiGroups: new Set(apiGroups),
    resources: new Set(resources),
    resourceNames: new Set(resourceNames),
    nonResourceURLs,
  };
}

/** Rules with at most this number of parts report duplicates as often as they occur, as upstream does. */
const REPEATED_PARTS_MAX = 1_000;

/** Removes duplicates from large rules, so that ten thousand equal entries cost one comparison. */
function removeDuplicates(rule: PolicyRule): PolicyRule {
  const { verbs, apiGroups, resources, resourceNames } = rule;
  const parts = verbs.length * apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  if (parts > 0 && parts <= REPEATED_PARTS_MAX && rule.nonResourceURLs.length === 0) return rule;
  return {
    verbs: [...new Set(rule.verbs)],
    apiGroups: [...new Set(rule.apiGroups)],
    resources: [...new Set(rule.resources)],
    resourceNames: [...new Set(rule.resourceNames)],
    nonResourceURLs: [...new Set(rule.nonResourceURLs)],
  };
}

/** Expands a rule into parts only if no single held rule covers it. */
function missingParts(search: Search, rule: PolicyRule): readonly PolicyRule[] {
  const { held, comparisons } = search;
  if (held.some((each) => coversWhole(each, rule, comparisons))) return [];
  return [...missingOfResources(search, rule), ...missingOfUrls(search, rule)];
}

/** Filters held rules by group, resource and name in turn, so that each part is compared with few rules. */
function missingOfResources(search: Search, rule: PolicyRule): readonly PolicyRule[] {
  const { apiGroups: groups, resources, resourceNames } = rule;
  const { comparisons } = search;
  const parts: PolicyRule[] = [];
  for (const group of groups) {
    const ofGroup = filtered(search.held, comparisons, ({ apiGroups }) => hasOrAll(apiGroups, group));
    for (const resource of resources) {
      const held = filtered(ofGroup, comparisons, (each) => coversResource(each.resources, resource));
      const about = { ...NOTHING, apiGroups: [group], resources: [resource] };
      for (const [name, times] of countNames(resourceNames)) {
        const each = name === undefined ? [] : [name];
        const ofName = filtered(held, comparisons, (one) => coversNames(one.resourceNames, each));
        const verbs =
          times === 1 ? rule.verbs : rule.verbs.flatMap((verb) => Array.from({ length: times }, () => verb));
        addVerbs(parts, { held: ofName, comparisons }, { ...about, resourceNames: each, verbs });
        if (comparisons.left <= 0) return parts;
      }
    }
  }
  return parts;
}

/** Counts each name, because duplicates are reported. An empty list means all names, once. */
function countNames(names: readonly string[]): ReadonlyMap<string | undefined, number> {
  if (names.length === 0) return ALL_NAMES;
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

const ALL_NAMES: ReadonlyMap<undefined, number> = new Map([[undefined, 1]]);

function missingOfUrls({ held, comparisons }: Search, rule: PolicyRule): readonly PolicyRule[] {
  const parts: PolicyRule[] = [];
  for (const url of rule.nonResourceURLs) {
    const ofUrl = filtered(held, comparisons, (each) => {
      comparisons.left -= each.nonResourceURLs.length;
      return coversNames(each.resourceNames, []) && coversUrls(each, url);
    });
    addVerbs(parts, { held: ofUrl, comparisons }, { ...NOTHING, nonResourceURLs: [url], verbs: rule.verbs });
    if (comparisons.left <= 0) return parts;
  }
  return parts;
}

/** The cost of recording and formatting a missing part, in comparisons. */
const MISSING_COMPARISONS = 500;

/** Adds a part for each verb that no held rule has; `held` was filtered for the part. */
function addVerbs(parts: PolicyRule[], { held, comparisons }: Search, { verbs, ...about }: PolicyRule): void {
  for (const verb of verbs) {
    if (comparisons.left <= 0) return;
    comparisons.left -= 1 + held.length;
    if (held.some((rule) => hasOrAll(rule.verbs, verb))) continue;
    parts.push({ ...about, verbs: [verb] });
    comparisons.left -= MISSING_COMPARISONS;
  }
}

function filtered(
  held: readonly HeldRule[],
  comparisons: Comparisons,
  test: (rule: HeldRule) => boolean,
): readonly HeldRule[] {
  comparisons.left -= 1 + held.length;
  return comparisons.left <= 0 ? [] : held.filter(test);
}

/** Returns whether one held rule covers the whole rule. Checks the group first, since most rules have other groups. */
function coversWhole(held: HeldRule, rule: PolicyRule, comparisons: Comparisons): boolean {
  comparisons.left -= 1;
  if (comparisons.left <= 0) return false;
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs: urls } = rule;
  const [group] = apiGroups;
  if (group !== undefined && !hasOrAll(held.apiGroups, group)) return false;
  comparisons.left -= verbs.length + apiGroups.length + resources.length + resourceNames.length;
  comparisons.left -= urls.length * held.nonResourceURLs.length;
  if (comparisons.left <= 0) return false;
  return (
    verbs.every((verb) => hasOrAll(held.verbs, verb)) &&
    apiGroups.every((each) => hasOrAll(held.apiGroups, each)) &&
    resources.every((resource) => coversResource(held.resources, resource)) &&
    coversNames(held.resourceNames, resourceNames) &&
    urls.every((url) => coversUrls(held, url))
  );
}

function hasOrAll(held: ReadonlySet<string>, wanted: string): boolean {
  return held.has(EVERY) || held.has(wanted);
}

function coversResource(held: ReadonlySet<string>, wanted: string): boolean {
  if (hasOrAll(held, wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.has(`${EVERY}${wanted.slice(slash)}`);
}

/** A rule without names covers all names; one with names never covers all. */
function coversNames(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.size === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.has(name));
}

function coversUrls({ nonResourceURLs }: HeldRule, url: string): boolean {
  return nonResourceURLs.some((pattern) => coversUrl(pattern, url));
}

function coversUrl(held: string, wanted: string): boolean {
  if (held === wanted) return true;
  const prefix = urlPrefixOf(held);
  return prefix !== undefined && wanted.startsWith(prefix);
}

/** Formats missing parts, merges those that differ in the verb alone, and sorts the texts. */
export function describeMissing(missing: readonly PolicyRule[]): readonly string[] {
  const byTarget = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  for (const rule of missing) {
    const { verbs, ...target } = rule;
    const isOfPath = rule.nonResourceURLs.length > 0;
    const key = JSON.stringify(isOfPath ? rule : target);
    const known = byTarget.get(key);
    if (known === undefined) byTarget.set(key, { ...rule, verbs: [...verbs] });
    else if (!isOfPath) known.verbs.push(...verbs);
  }
  return [...new Set([...byTarget.values()].map(describe))].toSorted(byBytes);
}

function describe({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ];
  const given = lists.filter(([, list]) => list.length > 0);
  return `{${given.map(([name, list]) => `${name}:${quotedList(list)}`).join(', ')}}`;
}

/** Formats a list as Go's `%q` does: `["a" "b"]`. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((each) => JSON.stringify(each)).join(' ')}]`;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
