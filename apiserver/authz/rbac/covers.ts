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

/**
 * What of the wanted rules no held rule allows, taken apart: each has one verb and one resource or URL. Several held rules together
 * never make up for a wider one: holding every verb by name is not holding `*`.
 */
export function missingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  return notCoveredWhole(held, wanted)
    .flatMap(parts)
    .filter((part) => !held.some((rule) => covers(rule, part)));
}

/** Of the parts that rules are taken apart into: far above what roles have, and soon compared. */
export const PARTS_MAX = 20_000;

/**
 * Whether there are more parts than can be compared. Lists of a few thousand names each fit into one request, and make billions of parts.
 * A rule that one held rule allows as a whole need not be taken apart.
 */
export function areTooMany(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): boolean {
  const count = notCoveredWhole(held, wanted).reduce((sum, rule) => sum + partCount(rule), 0);
  return count > PARTS_MAX;
}

function notCoveredWhole(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.map(withoutRepetitions).filter((each) => !held.some((rule) => covers(rule, each)));
}

/** What is said ten thousand times is compared once. */
function withoutRepetitions(rule: PolicyRule): PolicyRule {
  return {
    verbs: [...new Set(rule.verbs)],
    apiGroups: [...new Set(rule.apiGroups)],
    resources: [...new Set(rule.resources)],
    resourceNames: [...new Set(rule.resourceNames)],
    nonResourceURLs: [...new Set(rule.nonResourceURLs)],
  };
}

function partCount({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const ofResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (ofResources + nonResourceURLs.length) * verbs.length;
}

function parts({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          ...NOTHING,
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          resourceNames: name,
        })),
      ),
    ),
  );
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ ...NOTHING, nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...ofResources, ...ofPaths];
}

/** Whether a rule allows all that another one does, or a part of one. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(rule.verbs, part.verbs) &&
    hasAll(rule.apiGroups, part.apiGroups) &&
    part.resources.every((resource) => coversResource(rule.resources, resource)) &&
    coversNames(rule.resourceNames, part.resourceNames) &&
    part.nonResourceURLs.every((url) => rule.nonResourceURLs.some((pattern) => coversUrl(pattern, url)))
  );
}

function hasAll(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes(EVERY) || wanted.every((each) => held.includes(each));
}

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes(EVERY) || held.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`${EVERY}${wanted.slice(slash)}`);
}

/** A rule without names is about all of them; one with names never covers all. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

function coversUrl(held: string, wanted: string): boolean {
  if (held === wanted) return true;
  const prefix = urlPrefixOf(held);
  return prefix !== undefined && wanted.startsWith(prefix);
}

/** Such parts as texts, those that differ in the verb alone as one, in the order of the texts. */
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

/** A list of texts as Go shows it: `["a" "b"]`. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((each) => JSON.stringify(each)).join(' ')}]`;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
