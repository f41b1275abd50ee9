import { defined } from '../../../../shared/defined';
import { fieldsOf } from '../../../../shared/object/accessors';
import type { RemoteOptions } from '../../remote/questions';
import { Questions } from '../../remote/questions';
import type { AccessControl, AccessQuestion, AccessVerdict } from '../../request/access';
import { NO_RULES } from '../rules';
import type { AccessReviewCall } from './access-review-call';

export interface WebhookAccessOptions extends RemoteOptions {
  readonly ask: AccessReviewCall;
  /** How long a yes stands; 0 asks each time. */
  readonly authorizedTtlMs: number;
  /** How long everything else stands; 0 asks each time. */
  readonly unauthorizedTtlMs: number;
}

/** What a question may hold to be remembered, in characters: whoever asks may write paths and names of any length. */
const REMEMBERED_QUESTION_MAX = 10_000;

/**
 * Asks a remote service who may do what. Equal questions are one, and what was said stands for a while. A service that does not answer
 * has no opinion, and the request fails if nobody else allows it. It cannot list rules.
 */
export function webhookAccess(options: WebhookAccessOptions): AccessControl {
  const { ask, authorizedTtlMs, unauthorizedTtlMs, clock, log, shutdownSignal, answersOf } = options;
  const isGood = ({ decision }: AccessVerdict): boolean => decision === 'allow';
  const questions = new Questions<AccessQuestion, AccessVerdict>({
    ask,
    isGood,
    ttlMsOf: (verdict) => (isGood(verdict) ? authorizedTtlMs : unauthorizedTtlMs),
    isRemembered: (question) => lengthOf(question) < REMEMBERED_QUESTION_MAX,
    onTrouble: (trouble) => {
      log.warn(
        trouble,
        'authorization webhook call failed; requests that no other authorizer allows get 500',
      );
    },
    clock,
    shutdownSignal,
    ...defined({
      shared: answersOf === undefined ? undefined : { answers: answersOf('access'), parse: parseVerdict },
    }),
  });
  return {
    authorize: async (question, signal) => {
      try {
        return await questions.verdict(question, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return { decision: 'no-opinion', reason: '', error: 'the authorization webhook could not be asked' };
      }
    },
    rulesOf: async () =>
      Promise.resolve({
        ...NO_RULES,
        incomplete: true,
        evaluationError: 'webhook authorizer does not support user rule resolution',
      }),
  };
}

/** Without the user, who is known. */
function lengthOf({
  verb,
  path,
  apiGroup,
  apiVersion,
  namespace,
  resource,
  subresource,
  name,
}: AccessQuestion): number {
  return [verb, path, apiGroup, apiVersion, namespace, resource, subresource, name].join('').length;
}

const DECISIONS = ['allow', 'deny', 'no-opinion'] as const;

/** A verdict that a replica wrote down; undefined for what is none. */
function parseVerdict(value: unknown): AccessVerdict | undefined {
  const { decision, reason } = fieldsOf<AccessVerdict>(value);
  const known = DECISIONS.find((each) => each === decision);
  return known === undefined || typeof reason !== 'string' ? undefined : { decision: known, reason };
}
