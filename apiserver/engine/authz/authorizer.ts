import type { AccessQuestion, Authorizer } from '../request/access';
import { joinProblems } from '../../../shared/errors/field-error';
import type { Exchange } from '../request/exchange';

/** Calls the authorizers in order until one allows or denies. Otherwise the reasons are joined, one per line. */
export function firstOpinionOf(authorizers: readonly Authorizer[]): Authorizer {
  return async (question, signal) => {
    const reasons: string[] = [];
    const errors: string[] = [];
    for (const authorizer of authorizers) {
      const result = await authorizer(question, signal);
      if (result.decision !== 'no-opinion') return result;
      if (result.reason !== '') reasons.push(result.reason);
      if (result.error !== undefined) errors.push(result.error);
    }
    const reason = reasons.join('\n');
    return {
      decision: 'no-opinion',
      reason,
      ...(errors.length === 0 ? {} : { error: joinProblems(errors) }),
    };
  };
}

/** Returns the authorization attributes of a request. */
export function questionOf({ user, info }: Pick<Exchange, 'user' | 'info'>): AccessQuestion {
  const { verb, isResourceRequest, path, apiGroup, apiVersion, namespace, resource, subresource, name } =
    info;
  return {
    user,
    verb,
    isResourceRequest,
    path,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
  };
}
