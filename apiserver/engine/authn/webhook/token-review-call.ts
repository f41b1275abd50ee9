import { GROUP } from '../../../../shared/names';
import type { UserInfo } from '../../request/exchange';
import type { TokenQuestion } from '../../registry/operation';
import type {
  TokenReviewStatus,
  UserInfo as ReviewedUser,
} from '../../../../shared/api/types/authentication-v1';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';
import type { RemoteReviewOptions } from '../../remote/review-call';
import { createReviewCall } from '../../remote/review-call';

/** The result of a token review. */
export type RemoteVerdict =
  /** `audiences` is empty if the webhook does not report any: then the token is valid for this API. */
  | { readonly isKnown: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** `why` is empty if the webhook gives no reason. */
  | { readonly isKnown: false; readonly why: string };

/** Calls the token webhook. Rejects with an Error if there is no answer, or a malformed one. */
export type TokenReviewCall = (question: TokenQuestion, signal: AbortSignal) => Promise<RemoteVerdict>;

/** Creates the call. Throws KubeconfigError for a file that cannot be used. */
export function createTokenReviewCall({ version, ...options }: RemoteReviewOptions): TokenReviewCall {
  const call = createReviewCall<TokenReviewStatus>({
    ...options,
    who: 'the token webhook',
    apiVersion: `${GROUP.authentication}/${version}`,
    kind: 'TokenReview',
  });
  return async ({ token, audiences }, signal) =>
    verdictOf(await call({ spec: { token, audiences }, status: { user: {} } }, signal));
}

function verdictOf(status: Unchecked<TokenReviewStatus>): RemoteVerdict {
  if (status.authenticated !== true) return { isKnown: false, why: text(status.error) };
  const user = fieldsOf<ReviewedUser>(status.user);
  if (text(user.username) === '') throw new Error('the token webhook returned no username');
  const extra = Object.entries(optionalRecord(user.extra) ?? {}).map(
    ([key, values]) => [key, texts(values)] as const,
  );
  return {
    isKnown: true,
    user: {
      name: text(user.username),
      uid: text(user.uid),
      groups: texts(user.groups),
      extra: Object.fromEntries(extra),
    },
    audiences: texts(status.audiences),
  };
}

/** Throws for anything but a list of strings: malformed audiences must not count as none. */
function texts(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (!isList) throw new Error('the token webhook returned something other than a list of strings');
  return value;
}
