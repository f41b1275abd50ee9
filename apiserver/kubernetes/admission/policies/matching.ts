import type {
  MatchResources,
  NamedRuleWithOperations,
} from '../../../../shared/api/types/admissionregistration-v1';
import type { Steps } from '../../../../shared/concurrency/steps';
import { waitFor } from '../../../../shared/concurrency/steps';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { toLabelSelector } from '../../../../shared/meta/labels';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import type { Reading } from '../../cluster/cluster-reader';
import { hasSubresource, matches } from '../webhooks/rules';
import type { WriteKind } from '../webhooks/rules';
import { isSelected } from '../webhooks/selection';
import type { Rule } from '../webhooks/webhook';
import { ruleOf } from '../webhooks/webhook';

interface NamedRule {
  readonly rule: Rule;
  /** Names of objects; empty for all. */
  readonly names: readonly string[];
}

/** The requests that a policy or a binding applies to, compiled. */
export interface Match {
  /** Undefined: all resources, in the version of the request. */
  readonly rules: readonly NamedRule[] | undefined;
  readonly excluded: readonly NamedRule[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Compiles `matchConstraints` or `matchResources`; absent ones match everything. */
export function compileMatch(given: MatchResources | undefined): Match {
  const {
    resourceRules = [],
    excludeResourceRules = [],
    matchPolicy,
    namespaceSelector,
    objectSelector,
  } = given ?? {};
  return {
    rules: resourceRules.length === 0 ? undefined : resourceRules.map(namedRule),
    excluded: excludeResourceRules.map(namedRule),
    matchesEquivalents: matchPolicy === 'Equivalent',
    namespaceSelector: toLabelSelector(namespaceSelector ?? {}),
    objectSelector: toLabelSelector(objectSelector ?? {}),
  };
}

function namedRule(given: NamedRuleWithOperations): NamedRule {
  return { rule: ruleOf(given), names: given.resourceNames ?? [] };
}

interface Version {
  readonly endpoint: Endpoint;
  readonly names: readonly string[];
}

/** What a match says about one kind of write, without names and selectors. */
export interface KindMatch {
  readonly match: Match;
  readonly versions: readonly Version[];
  readonly excluded: readonly Version[];
  /** The version of every such write; undefined if names or selectors decide. */
  readonly always: Endpoint | undefined;
}

/** Returns undefined if no rule names the kind of write (k8s.io/apiserver `admission/plugin/policy/matching`). */
export function matchKind(match: Match, write: WriteKind): KindMatch | undefined {
  const versions =
    match.rules === undefined
      ? [{ endpoint: write.endpoint, names: [] }]
      : versionsOf(match.rules, match, write);
  const [first] = versions;
  if (first === undefined) return undefined;
  const excluded = versionsOf(match.excluded, match, write);
  if (excluded.some(({ names }) => names.length === 0)) return undefined;
  const isAlways =
    first.names.length + excluded.length + match.namespaceSelector.length + match.objectSelector.length === 0;
  return { match, versions, excluded, always: isAlways ? first.endpoint : undefined };
}

/** The version of the request comes first, then others of the same objects in the order of the rules. */
function versionsOf(
  rules: readonly NamedRule[],
  { matchesEquivalents }: Match,
  write: WriteKind,
): readonly Version[] {
  const { endpoint, subresource } = write;
  const own = rules.filter(({ rule }) => matches(rule, write)).map(({ names }) => ({ endpoint, names }));
  if (!matchesEquivalents) return own;
  const others = Array.from(endpoint.versions.values()).filter(
    (other) => other !== endpoint && hasSubresource(other, subresource),
  );
  const equivalent = rules.flatMap(({ rule, names }) =>
    others
      .filter((other) => matches(rule, { ...write, endpoint: other }))
      .map((other) => ({ endpoint: other, names })),
  );
  return [...own, ...equivalent];
}

/**
 * Returns the version in which expressions see the objects of a write; undefined if names or selectors do not match. Throws NotFound for a
 * namespace that is missing even in a fresh read.
 */
export function* matchedEndpoint(
  { match, versions, excluded, always }: KindMatch,
  attributes: AdmissionAttributes,
  { cluster, signal }: { readonly cluster: Reading; readonly signal: AbortSignal },
): Steps<Endpoint | undefined> {
  if (always !== undefined) return always;
  const { name } = attributes.write;
  const isNamed = ({ names }: Version): boolean => names.length === 0 || names.includes(name);
  const found = versions.find(isNamed);
  if (found === undefined || excluded.some(isNamed)) return undefined;
  const selected = isSelected(match, attributes, cluster, signal);
  return (selected instanceof Promise ? yield* waitFor(selected) : selected) ? found.endpoint : undefined;
}
