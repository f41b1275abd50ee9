import { USER, USER_GROUP } from '../../../shared/names';
import { accessGround, refusal, withoutMarkup } from '../authz/authorize';
import type { AccessQuestion, Authorizer } from '../request/access';
import type { Answer, Exchange, Stage, UserInfo } from '../request/exchange';
import { addAccessCondition } from '../request/access-condition';
import { removeHeaders } from '../request/header-values';
import type { Guise, RequestedUser } from './requested-user';
import { isImpersonationHeader, requestedUser } from './requested-user';

/**
 * Creates the impersonation stage. If the Impersonate headers are allowed, it sets `exchange.user` and removes the headers, or else answers 403.
 * Later stages see only the impersonated user; the audit event records both.
 */
export function createImpersonationStage(authorizer: Authorizer): Stage {
  const actAs = async (requested: RequestedUser, ...[exchange, next]: Parameters<Stage>): Promise<void> => {
    for (const guise of requested.guises) {
      const question = questionOf(exchange.user, guise);
      const result = await authorizer(question, exchange.signal);
      if (result.decision !== 'allow') throw refusal(question, result.reason);
      addAccessCondition(exchange, () => accessGround(authorizer, question));
    }
    const user = withImpliedGroup(requested.user);
    exchange.audit?.impersonated(user);
    exchange.user = user;
    removeHeaders(exchange, isImpersonationHeader);
    await next();
  };
  // Requests without impersonation create no promise here: every request passes this stage.
  return (exchange, next) => {
    const requested = requestedUser(exchange);
    if (requested === undefined) return next();
    if (requested.hasUser) return actAs(requested, exchange, next);
    exchange.answer = withoutUser(exchange, requested.guises);
    return Promise.resolve();
  };
}

function questionOf(user: UserInfo, guise: Guise): AccessQuestion {
  const { kind: _kind, ...asked } = guise;
  return { user, verb: 'impersonate', isResourceRequest: true, path: '', ...asked };
}

/** Adds `system:authenticated`, or `system:unauthenticated` for the anonymous user, unless the headers contain one of them. */
function withImpliedGroup(user: UserInfo): UserInfo {
  const { name, groups } = user;
  const isAnonymous = name === USER.anonymous;
  const isGiven =
    groups.includes(USER_GROUP.unauthenticated) ||
    (!isAnonymous && groups.includes(USER_GROUP.authenticated));
  if (isGiven) return user;
  return {
    ...user,
    groups: [...groups, isAnonymous ? USER_GROUP.unauthenticated : USER_GROUP.authenticated],
  };
}

const INTERNAL_ERROR = 500;

/** Answers groups or extras without a user as kube-apiserver does: plain text instead of a Status. */
function withoutUser({ path, search, query }: Exchange, guises: readonly Guise[]): Answer {
  const asked = search ?? query.toString();
  const target = JSON.stringify(asked === '' ? path : `${path}?${asked}`);
  const wanted = guises.map(referenceText).join(' ');
  const problem = `requested [${wanted}] without impersonating a user`;
  return {
    code: INTERNAL_ERROR,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from(`${withoutMarkup(`Internal Server Error: ${target}: ${problem}`)}\n`),
  };
}

/** Formats an ObjectReference as Go's `%v` does: kind, namespace, name, uid, version, resource version and field. */
function referenceText({ kind, namespace, name, apiGroup, apiVersion, subresource }: Guise): string {
  const version = apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}`;
  return `{${[kind, namespace, name, '', version, '', subresource].join(' ')}}`;
}
