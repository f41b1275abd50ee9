import { strings } from '../../../shared/object/accessors';
import type { ScopeRequirement } from '../../../shared/quota/scopes';
import { record, records, text } from '../../../shared/object/accessors';

/** A resource that may be used only where a quota says how much of it. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** What is limited: the resources of quotas whose names contain one of these. */
  readonly parts: readonly string[];
  /** What else is limited: the pods that match one of these, whatever they use. */
  readonly scopes: readonly ScopeRequirement[];
}

const KINDS = ['ResourceQuotaConfiguration', 'Configuration'];

/** What is wrong with the configuration; undefined for a good one, and for none. */
export function resourceQuotaProblem(configuration: unknown): string | undefined {
  if (configuration === undefined) return undefined;
  const { kind, limitedResources } = record(configuration);
  if (!KINDS.includes(text(kind))) return `the kind must be ${KINDS.join(' or ')}`;
  const nameless = records(limitedResources).findIndex((each) => text(each['resource']) === '');
  return nameless < 0 ? undefined : `limitedResources[${String(nameless)}] needs a resource`;
}

/** Throws for a configuration that has a problem. */
export function limitedResourcesIn(configuration: unknown): readonly LimitedResource[] {
  const problem = resourceQuotaProblem(configuration);
  if (problem !== undefined) throw new Error(`ResourceQuota cannot be configured so: ${problem}`);
  return records(record(configuration)['limitedResources']).map((each) => ({
    group: text(each['apiGroup']),
    resource: text(each['resource']),
    parts: strings(each['matchContains']),
    scopes: records(each['matchScopes']).map((scope) => ({
      scopeName: text(scope['scopeName']),
      operator: text(scope['operator']),
      values: strings(scope['values']),
    })),
  }));
}
