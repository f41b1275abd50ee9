import { GROUP } from '../../../../shared/names';
import type { TokenQuestion, TokenReviewResult } from '../../registry/operation';
import type { TokenReviewStatus } from '../../../../shared/api/types/authentication-v1';
import { decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import type { Unchecked } from '../../../../shared/object/values';
import type { RemoteReviewOptions } from '../../remote/review-call';
import { createReviewCall } from '../../remote/review-call';

/** Calls the token webhook. Rejects with an Error if there is no answer, or a malformed one. */
export type TokenReviewCall = (question: TokenQuestion, signal: AbortSignal) => Promise<TokenReviewResult>;

/** Creates the call. Throws KubeconfigError for a file that cannot be used. */
export function createTokenReviewCall({ version, ...options }: RemoteReviewOptions): TokenReviewCall {
  const call = createReviewCall<TokenReviewStatus>({
    ...options,
    who: 'the token webhook',
    apiVersion: `${GROUP.authentication}/${version}`,
    kind: 'TokenReview',
  });
  return async ({ token, audiences }, signal) =>
    resultOf(await call({ spec: { token, audiences }, status: { user: {} } }, signal));
}

const STATUS = messageType('authentication/v1.TokenReviewStatus');

/** Throws for a malformed status: malformed audiences must not count as none. */
function resultOf(answer: Unchecked<TokenReviewStatus>): TokenReviewResult {
  const { object: status } = decodeObject(STATUS, answer);
  if (status.authenticated !== true) return { isKnown: false, why: status.error ?? '' };
  const { username: name = '', uid = '', groups = [], extra = {} } = status.user ?? {};
  if (name === '') throw new Error('the token webhook returned no username');
  return {
    isKnown: true,
    user: {
      name,
      uid,
      groups,
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []])),
    },
    audiences: status.audiences ?? [],
  };
}
