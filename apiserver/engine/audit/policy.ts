import type { Exchange } from '../request/exchange';
import type { Level, Stage } from './event';

/** Resources of one API group; empty lists mean all. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** A request must match every field; an empty list matches all. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** The empty string matches requests without a namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
}

export interface AuditPolicy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly Stage[];
}

export interface Decision {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
}

export type Decide = (exchange: Pick<Exchange, 'info' | 'user'>) => Decision;

/** Creates the decision function of a policy: the first matching rule decides; without one nothing is recorded. */
export function decideBy(policy: AuditPolicy): Decide {
  const rules = policy.rules.map((rule) => ({
    rule,
    decision: { level: rule.level, omitStages: new Set([...policy.omitStages, ...rule.omitStages]) },
  }));
  const nothing: Decision = { level: 'None', omitStages: new Set(policy.omitStages) };
  return (exchange) => rules.find(({ rule }) => fits(rule, exchange))?.decision ?? nothing;
}

function fits(rule: PolicyRule, { info, user }: Pick<Exchange, 'info' | 'user'>): boolean {
  const { users, userGroups, verbs, resources, namespaces, nonResourceURLs } = rule;
  if (users.length > 0 && !users.includes(user.name)) return false;
  if (userGroups.length > 0 && !user.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return fitsResource(rule, info);
  if (nonResourceURLs.length === 0) return true;
  if (info.isResourceRequest) return false;
  const path = decodedPath(info.path);
  return nonResourceURLs.some((url) => fitsPath(url, path));
}

function fitsResource({ namespaces, resources }: PolicyRule, info: Exchange['info']): boolean {
  if (!info.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
  return resources.length === 0 || resources.some((each) => isOf(each, info));
}

function isOf({ group, resources, resourceNames }: GroupResources, info: Exchange['info']): boolean {
  if (group !== info.apiGroup) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  // As upstream, `pods/*` also means the pods themselves, and `pods` none of their subresources.
  return resources.some(
    (each) =>
      each === '*' ||
      each === whole ||
      (subresource !== '' && each === `*/${subresource}`) ||
      each === `${resource}/*`,
  );
}

function fitsPath(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  return url.endsWith('*') && path.startsWith(url.slice(0, -1));
}

/** Rules contain decoded paths. The path was validated when it was parsed. */
function decodedPath(path: string): string {
  return path.includes('%') ? decodeURIComponent(path) : path;
}
