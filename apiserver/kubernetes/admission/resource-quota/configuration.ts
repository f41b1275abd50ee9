import type { ScopeRequirement } from '../../../../shared/quota/scopes';
import { fieldsOf, fieldsOfEach, strings, text } from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';

/** A resource that may be used only if a quota limits it. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** The limited resources: those of quotas whose names contain one of these. */
  readonly parts: readonly string[];
  /** Further limits: pods that match one of these scopes. */
  readonly scopes: readonly ScopeRequirement[];
}

/** As in the file. */
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

/** Returns the problem of the configuration, or undefined. */
export function resourceQuotaProblem(configuration: unknown): string | undefined {
  if (configuration === undefined) return undefined;
  const { kind } = fieldsOf<Written>(configuration);
  if (!KINDS.includes(text(kind))) return `the kind must be ${KINDS.join(' or ')}`;
  const nameless = limitsIn(configuration).findIndex(({ resource }) => text(resource) === '');
  return nameless < 0 ? undefined : `limitedResources[${String(nameless)}] needs a resource`;
}

/** Throws for a configuration with a problem. */
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
