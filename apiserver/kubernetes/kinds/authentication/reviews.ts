import type {
  SelfSubjectReview,
  TokenReview,
  TokenReviewStatus,
  UserInfo as TokenReviewUser,
} from '../../../../shared/api/types/authentication-v1';
import { badRequest } from '../../../../shared/errors/status-error';
import { formatTime } from '../../../../shared/meta/time';
import type { UserInfo } from '../../../engine/request/exchange';
import type { OperationServices, TokenQuestion } from '../../../engine/registry/operation';
import { operationOn } from '../../../engine/registry/operation';
import type { Kind } from '../kind';

/** Authenticates the token of a review. An unknown token yields `authenticated: false`, not an error. */
const reviewToken = operationOn<TokenReview>(async ({ services }, { object }, signal) => {
  const { token = '', audiences: asked = [] } = object.spec;
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const audiences = asked.length === 0 ? services.apiAudiences : asked;
  const status = await statusOf(services, { token, audiences }, signal);
  return { ...object, status: { ...givenStatus(object.status), ...status } };
});

/** As upstream, status fields from the client are kept unless authentication sets them; `authenticated` is always overwritten. */
function givenStatus(given: TokenReviewStatus = { user: {} }): TokenReviewStatus {
  const { authenticated: _claimed, ...status } = given;
  return status;
}

async function statusOf(
  services: OperationServices,
  question: TokenQuestion,
  signal: AbortSignal,
): Promise<Partial<TokenReviewStatus>> {
  const result = await services.reviewToken(question, signal);
  if (!result.isKnown) return { error: result.why };
  const { user, audiences } = result;
  return {
    authenticated: true,
    user: reviewedUser(user),
    audiences,
  };
}

/** A user as reviews report it, without what is empty. */
function reviewedUser(user: UserInfo): TokenReviewUser {
  return {
    username: user.name,
    ...(user.uid === '' ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  };
}

/** Returns the user that the server recognizes by the credentials of the request. The object that the client sends is ignored. */
const reviewSelf = operationOn<SelfSubjectReview>(async ({ store }, { user }) =>
  Promise.resolve({
    metadata: { creationTimestamp: formatTime(store.clock.now()) },
    status: { userInfo: reviewedUser(user) },
  }),
);

export const selfSubjectReviews: Kind = { virtual: { create: reviewSelf } };
export const tokenReviews: Kind = { virtual: { create: reviewToken } };
