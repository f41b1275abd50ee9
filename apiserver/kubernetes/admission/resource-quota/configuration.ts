import type { ScopeRequirement } from '../../../../shared/quota/scopes';
import { fieldsOf, fieldsOfEach, strings, text } from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';

/** A resource that may be used only where a quota says how much of it. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** What is limited: the resources of quotas whose names contain one of these. */
  readonly parts: readonly string[];
  /** What else is limited: the pods that match one of these, whatever they use. */
  readonly scopes: readonly ScopeRequirement[];
}

/** As it stands in the file. */
interface Written {
  readonly kind: string;
  readonly limitedResources: readonly WrittenLimit[];
}

interface WrittenLimit {
  readonly apiGroup: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
}

const KINDS = ['ResourceQuotaConfiguration', 'Configuration'];

/** What is wrong with the configuration; undefined for a good one, and for none. */
export function resourceQuotaProblem(configuration: unknown): string | undefined {
  if (configuration === undefined) return undefined;
  const { kind } = fieldsOf<Written>(configuration);
  if (!KINDS.includes(text(kind))) return `the kind must be ${KINDS.join(' or ')}`;
  const nameless = limitsIn(configuration).findIndex(({ resource }) => text(resource) === '');
  return nameless < 0 ? undefined : `limitedResources[${String(nameless)}] needs a resource`;
}

/** Throws for a configuration that has a problem. */
export function limitedResourcesIn(configuration: unknown): readonly LimitedResource[] {
  const problem = resourceQuotaProblem(configuration);
  if (problem !== undefined) throw new Error(`ResourceQuota cannot be configured so: ${problem}`);
  return limitsIn(configuration).map(({ apiGroup, resource, matchContains, matchScopes }) => ({
    group: text(apiGroup),
    resource: text(resource),
    parts: strings(matchContains),
    scopes: fieldsOfEach<ScopeRequirement>(matchScopes).map(({ scopeName, operator, values }) => ({
      scopeName: text(scopeName),
      operator: text(operator),
      values: strings(values),
    })),
  }));
}

function limitsIn(configuration: unknown): readonly Unchecked<WrittenLimit>[] {
  return fieldsOfEach<WrittenLimit>(fieldsOf<Written>(configuration).limitedResources);
}
