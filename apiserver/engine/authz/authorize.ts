import { AUDIT_ANNOTATION } from '../../../shared/names';
import { forbidden, internalError, StatusError } from '../../../shared/errors/status-error';
import type { AccessQuestion, Authorizer, AccessResult } from '../request/access';
import type { Exchange, Stage } from '../request/exchange';
import type { AccessCondition } from '../request/access-condition';
import { addAccessCondition } from '../request/access-condition';
import { questionOf } from './authorizer';

/** Creates the authorization stage, which answers 403 to requests that are not allowed. It covers every path, health and version included. */
export function createAuthorizationStage(authorizer: Authorizer): Stage {
  return async (exchange, next) => {
    const question = questionOf(exchange);
    const result = await authorizer(question, exchange.signal);
    note(exchange, result);
    if (result.decision !== 'allow') throw refusalOf(question, result);
    addAccessCondition(exchange, () => accessGround(authorizer, question));
    await next();
  };
}

/** Returns the condition that the user is still allowed to do this. */
export function accessGround(authorizer: Authorizer, question: AccessQuestion): AccessCondition {
  return {
    key: JSON.stringify(question),
    of: 'access',
    refusal: async (signal) => {
      const result = await authorizer(question, signal);
      if (result.decision === 'allow') return undefined;
      // An authorizer error does not revoke access.
      if (result.error !== undefined) throw new Error(result.error);
      return refusal(question, result.reason);
    },
  };
}

/** An authorizer error is a 500, never a 403. */
function refusalOf(question: AccessQuestion, { reason, error }: AccessResult): StatusError {
  return error === undefined ? refusal(question, reason) : internalError(error);
}

/** Annotates the audit event; an authorizer error is recorded as such and not as a decision. */
function note({ audit }: Pick<Exchange, 'audit'>, { decision, reason, error }: AccessResult): void {
  const isDecided = decision === 'allow' || error === undefined;
  if (isDecided) {
    audit?.annotate(AUDIT_ANNOTATION.authorizationDecision, decision === 'allow' ? 'allow' : 'forbid');
  }
  audit?.annotate(AUDIT_ANNOTATION.authorizationReason, isDecided ? reason : 'internal error');
}

/** Returns the 403 with upstream's message text; also for checks outside this stage, such as impersonation. */
export function refusal(question: AccessQuestion, reason: string): StatusError {
  const sentence = withoutMarkup(sentenceOf(question));
  const why = reason === '' ? sentence : `${sentence}: ${reason}`;
  if (question.apiGroup === '' && question.resource === '') {
    return new StatusError('Forbidden', `forbidden: ${why}`, { ...UNGUESSED, details: {} });
  }
  return forbidden({ group: question.apiGroup, resource: question.resource }, question.name, why, UNGUESSED);
}

/** The message contains text of the client, so that browsers must not sniff its content type. */
const UNGUESSED = { headers: { 'X-Content-Type-Options': 'nosniff' } } as const;

function sentenceOf({ user, verb, isResourceRequest, path, ...rest }: AccessQuestion): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${JSON.stringify(path)}`;
  const resource = rest.subresource === '' ? rest.resource : `${rest.resource}/${rest.subresource}`;
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(rest.apiGroup)}`;
  return rest.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${JSON.stringify(rest.namespace)}`;
}

/** Escapes names and paths of the client, which must not become markup in a browser. */
export function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
