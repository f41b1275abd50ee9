import type { Exchange, UserInfo } from '../exchange/exchange';

/** What authorizers decide on. For a path that is no resource, `verb` is the lower-cased method. */
export interface Attributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

/** `no-opinion` leaves the decision to the next authorizer; the request is refused when none allows it. */
export interface Verdict {
  readonly decision: 'allow' | 'deny' | 'no-opinion';
  /** Shown to the client behind a refusal; empty when there is nothing to say. */
  readonly reason: string;
}

export type Authorizer = (attributes: Attributes, signal: AbortSignal) => Promise<Verdict>;

/** Asks in order until one allows or denies. The reasons of those without an opinion are kept, one a line. */
export function firstOpinionOf(authorizers: readonly Authorizer[]): Authorizer {
  return async (attributes, signal) => {
    const reasons: string[] = [];
    for (const authorizer of authorizers) {
      const verdict = await authorizer(attributes, signal);
      if (verdict.decision !== 'no-opinion') return verdict;
      if (verdict.reason !== '') reasons.push(verdict.reason);
    }
    return { decision: 'no-opinion', reason: reasons.join('\n') };
  };
}

export function attributesOf({ user, info }: Pick<Exchange, 'user' | 'info'>): Attributes {
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
