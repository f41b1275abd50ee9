import type { AdmissionOperation } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import type { Rule, Webhook } from './webhook';

/** A webhook that matches a kind of write, and the version it gets. */
export interface Invocation {
  readonly hook: Webhook;
  /** Its position among all webhooks of its type. */
  readonly index: number;
  /** The version it gets. */
  readonly endpoint: Endpoint;
}

/** The input of rules. */
export interface WriteKind {
  readonly operation: AdmissionOperation;
  /** The endpoint of the resource itself, whatever kind a subresource has. */
  readonly endpoint: Endpoint;
  readonly subresource: string;
}

/** Returns the webhooks whose rules match a kind of write, in order. Selectors are evaluated separately. */
export function invocationsOf(webhooks: readonly Webhook[], write: WriteKind): readonly Invocation[] {
  return webhooks.flatMap((hook, index) => {
    const endpoint = shownTo(hook, write);
    return endpoint === undefined ? [] : [{ hook, index, endpoint }];
  });
}

/** Returns the request's version if a rule names it, else the first named version of the same objects. */
function shownTo({ rules, matchesEquivalents }: Webhook, write: WriteKind): Endpoint | undefined {
  const { endpoint } = write;
  if (rules.some((rule) => matches(rule, write))) return endpoint;
  if (!matchesEquivalents) return undefined;
  for (const rule of rules) {
    for (const other of endpoint.versions.values()) {
      if (other === endpoint || !hasSubresource(other, write.subresource)) continue;
      if (matches(rule, { ...write, endpoint: other })) return other;
    }
  }
  return undefined;
}

/** Whether an endpoint has a subresource; an empty name is the object itself. */
export function hasSubresource({ subresources }: Endpoint, name: string): boolean {
  return name === '' || subresources.has(name);
}

/** Whether a rule names a kind of write. */
export function matches(rule: Rule, { operation, endpoint, subresource }: WriteKind): boolean {
  const { group, version, resource, namespaced } = endpoint.row;
  return (
    isOfScope(rule.scope, namespaced) &&
    names(rule.operations, operation) &&
    names(rule.apiGroups, group) &&
    names(rule.apiVersions, version) &&
    rule.resources.some((each) => namesResource(each, resource, subresource))
  );
}

function isOfScope(scope: string, namespaced: boolean): boolean {
  return scope === '*' || scope === (namespaced ? 'Namespaced' : 'Cluster');
}

function names(listed: readonly string[], one: string): boolean {
  return listed.includes('*') || listed.includes(one);
}

/** `pods` and `*` match objects; a subresource must be named or be `*`. */
function namesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const [left, right] =
    slash < 0 ? [pattern, ''] : ([pattern.slice(0, slash), pattern.slice(slash + 1)] as const);
  return (left === '*' || left === resource) && (right === '*' || right === subresource);
}
