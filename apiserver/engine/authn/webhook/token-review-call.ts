import { GROUP } from '../../../../shared/names';
import type { UserInfo } from '../../request/exchange';
import type { TokenQuestion } from '../../registry/operation';
import type { TokenReviewStatus, UserInfo as ToldUser } from '../../../../shared/api/types/authentication-v1';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';
import type { RemoteReviewOptions } from '../../remote/review-call';
import { createReviewCall } from '../../remote/review-call';

/** What the remote service says of a token. */
export type RemoteVerdict =
  /** `audiences` is empty where the service knows nothing of them: the token is meant for this API then. */
  | { readonly isKnown: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** `why` is empty where the service gives no reason. */
  | { readonly isKnown: false; readonly why: string };

/** Asks the remote service. Rejects with an Error when there is no answer, or one that cannot be understood. */
export type TokenReviewCall = (question: TokenQuestion, signal: AbortSignal) => Promise<RemoteVerdict>;

/** Throws KubeconfigError for a file that cannot be used. */
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
  const user = fieldsOf<ToldUser>(status.user);
  if (text(user.username) === '') throw new Error('the token webhook told no username');
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

/** What is no list of texts is no answer: audiences that cannot be read must not pass for none. */
function texts(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (!isList) throw new Error('the token webhook told something else than a list of texts');
  return value;
}
