import { defined } from '../../../../shared/defined';
import type { TokenQuestion } from '../../registry/operation';
import { unauthorized } from '../authenticator';
import type { TokenAuthenticator } from '../token-authenticator';
import type { TokenCacheCounts } from '../token-cache-counts';
import type { RemoteOptions } from '../../remote/questions';
import { Questions } from '../../remote/questions';
import type { RemoteVerdict, TokenReviewCall } from './token-review-call';
import { parseVerdict } from './parse-verdict';

export interface WebhookTokenOptions extends RemoteOptions {
  readonly ask: TokenReviewCall;
  /** What a token is meant for of which the service says nothing. */
  readonly apiAudiences: readonly string[];
  /** How long a verdict stands; 0 asks each time. */
  readonly ttlMs: number;
  readonly counts?: TokenCacheCounts;
}

/**
 * Asks a remote service about tokens. Equal questions are one, and what was said stands for a while, be it yes or no; a reason for a no
 * is not kept, as it may be one that passes. A service that does not answer makes tokens unknown, and nothing else.
 */
export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { ask, apiAudiences, ttlMs, clock, log, shutdownSignal, counts, answersOf } = options;
  const questions = new Questions<TokenQuestion, RemoteVerdict>({
    ask,
    isGood: ({ isKnown }) => isKnown,
    ttlMsOf: (verdict) => (verdict.isKnown || verdict.why === '' ? ttlMs : 0),
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
      shared: answersOf === undefined ? undefined : { answers: answersOf('tokens'), parse: parseVerdict },
    }),
  });
  return async (question, signal) => {
    const verdict = await verdictOf(questions, question, signal);
    const meantFor = verdict.isKnown && verdict.audiences.length > 0 ? verdict.audiences : apiAudiences;
    const audiences = question.audiences.filter((each) => meantFor.includes(each));
    if (!verdict.isKnown) {
      if (verdict.why !== '') throw unauthorized(verdict.why);
      return undefined;
    }
    return audiences.length === 0 ? undefined : { user: verdict.user, audiences };
  };
}

async function verdictOf(
  questions: Questions<TokenQuestion, RemoteVerdict>,
  { token, audiences }: TokenQuestion,
  signal: AbortSignal,
): Promise<RemoteVerdict> {
  try {
    return await questions.verdict({ token, audiences }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw unauthorized('the token webhook could not be asked');
  }
}
