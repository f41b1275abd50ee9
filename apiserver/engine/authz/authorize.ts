import { AUDIT_ANNOTATION } from '../../../shared/names';
import { forbidden, internalError, StatusError } from '../../../shared/errors/status-error';
import type { AccessQuestion, Authorizer, AccessVerdict } from '../request/access';
import type { Exchange, Stage } from '../request/exchange';
import type { AccessCondition } from '../request/access-condition';
import { addAccessCondition } from '../request/access-condition';
import { questionOf } from './authorizer';

/** The stage that lets a request through or answers 403. It covers every path, health and version included. */
export function createAuthorizationStage(authorizer: Authorizer): Stage {
  return async (exchange, next) => {
    const question = questionOf(exchange);
    const verdict = await authorizer(question, exchange.signal);
    note(exchange, verdict);
    if (verdict.decision !== 'allow') throw refusalOf(question, verdict);
    addAccessCondition(exchange, () => accessGround(authorizer, question));
    await next();
  };
}

/** That the user may do this. */
export function accessGround(authorizer: Authorizer, question: AccessQuestion): AccessCondition {
  return {
    key: JSON.stringify(question),
    of: 'access',
    refusal: async (signal) => {
      const verdict = await authorizer(question, signal);
      if (verdict.decision === 'allow') return undefined;
      // Nobody is turned away where that is not known.
      if (verdict.error !== undefined) throw new Error(verdict.error);
      return refusal(question, verdict.reason);
    },
  };
}

/** Nobody is told that they may not where that is not known. */
function refusalOf(question: AccessQuestion, { reason, error }: AccessVerdict): StatusError {
  return error === undefined ? refusal(question, reason) : internalError(error);
}

/** What is not known is no decision, in the audit event neither. */
function note({ audit }: Pick<Exchange, 'audit'>, { decision, reason, error }: AccessVerdict): void {
  const isDecided = decision === 'allow' || error === undefined;
  if (isDecided) {
    audit?.annotate(AUDIT_ANNOTATION.authorizationDecision, decision === 'allow' ? 'allow' : 'forbid');
  }
  audit?.annotate(AUDIT_ANNOTATION.authorizationReason, isDecided ? reason : 'internal error');
}

/** The 403 as Kubernetes words it; also for checks inside verbs, such as impersonation. */
export function refusal(question: AccessQuestion, reason: string): StatusError {
  const sentence = withoutMarkup(sentenceOf(question));
  const why = reason === '' ? sentence : `${sentence}: ${reason}`;
  if (question.apiGroup === '' && question.resource === '') {
    return new StatusError('Forbidden', `forbidden: ${why}`, { ...UNGUESSED, details: {} });
  }
  return forbidden({ group: question.apiGroup, resource: question.resource }, question.name, why, UNGUESSED);
}

/** The words hold what a client said, so that browsers are told not to guess what they are. */
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

/** Names and paths come from the client; what it says must not become markup in a browser. */
export function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
