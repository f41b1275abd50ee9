import { badRequest } from '../../../shared/errors/status-error';
import { record, strings, text } from '../../../shared/object/accessors';
import type { Operation, OperationServices, TokenQuestion } from '../../registry/operation';

/** Says whose token it is. A token that nobody knows is an answer, not a failure. */
export const reviewToken: Operation = async ({ services }, { object }, signal) => {
  const spec = record(object['spec']);
  const token = text(spec['token']);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = strings(spec['audiences']);
  const audiences = asked.length === 0 ? services.apiAudiences : asked;
  const status = await statusOf(services, { token, audiences }, signal);
  return { ...object, status: { ...givenStatus(record(object['status'])), ...status } };
};

/** What the client itself says the outcome was stands wherever nothing else is known, but for the outcome, as upstream. */
function givenStatus({ authenticated: _claimed, ...status }: Readonly<Record<string, unknown>>): object {
  return { ...status, user: record(status['user']) };
}

async function statusOf(
  services: OperationServices,
  question: TokenQuestion,
  signal: AbortSignal,
): Promise<object> {
  const verdict = await services.reviewToken(question, signal);
  if (!verdict.isKnown) return { error: verdict.why };
  const { user, audiences } = verdict;
  return {
    authenticated: true,
    user: {
      username: user.name,
      ...(user.uid === '' ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
    audiences,
  };
}
