import { defined } from '../../../../shared/defined';
import type { TokenQuestion, TokenReviewResult } from '../../registry/operation';
import { unauthorized } from '../authenticator';
import type { TokenAuthenticator } from '../token-authenticator';
import type { TokenCacheCounts } from '../token-cache-counts';
import type { RemoteOptions } from '../../remote/questions';
import { Questions } from '../../remote/questions';
import type { TokenReviewCall } from './token-review-call';
import { parseResult } from './parse-result';

export interface WebhookTokenOptions extends RemoteOptions {
  readonly ask: TokenReviewCall;
  /** The audiences of tokens for which the webhook reports none. */
  readonly apiAudiences: readonly string[];
  /** How long a result is cached, in milliseconds; 0: not at all. */
  readonly ttlMs: number;
  readonly counts?: TokenCacheCounts;
}

/**
 * Creates the webhook token authenticator. Equal reviews share one call (single-flight), and results are cached, except rejections with a
 * reason, which may be temporary. A failed call rejects the token with 401.
 */
export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { ask, apiAudiences, ttlMs, clock, log, shutdownSignal, counts, answersOf } = options;
  const questions = new Questions<TokenQuestion, TokenReviewResult>({
    ask,
    isGood: ({ isKnown }) => isKnown,
    ttlMsOf: (result) => (result.isKnown || result.why === '' ? ttlMs : 0),
    onTrouble: (trouble) => {
      log.warn(
        trouble,
        'authentication webhook call failed; requests with tokens that only it can verify get 401',
      );
    },
    clock,
    shutdownSignal,
    ...defined({
      counts,
      shared: answersOf === undefined ? undefined : { answers: answersOf('tokens'), parse: parseResult },
    }),
  });
  return async (question, signal) => {
    const result = await resultOf(questions, question, signal);
    const meantFor = result.isKnown && result.audiences.length > 0 ? result.audiences : apiAudiences;
    const audiences = question.audiences.filter((each) => meantFor.includes(each));
    if (!result.isKnown) {
      if (result.why !== '') throw unauthorized(result.why);
      return undefined;
    }
    return audiences.length === 0 ? undefined : { user: result.user, audiences };
  };
}

async function resultOf(
  questions: Questions<TokenQuestion, TokenReviewResult>,
  { token, audiences }: TokenQuestion,
  signal: AbortSignal,
): Promise<TokenReviewResult> {
  try {
    return await questions.result({ token, audiences }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw unauthorized('the token webhook call failed');
  }
}
