import { defined } from '../../../../shared/defined';
import { fieldsOf } from '../../../../shared/object/accessors';
import type { RemoteOptions } from '../../remote/questions';
import { Questions } from '../../remote/questions';
import type { AccessControl, AccessQuestion, AccessResult } from '../../request/access';
import { NO_RULES } from '../rules';
import type { AccessReviewCall } from './access-review-call';

export interface WebhookAccessOptions extends RemoteOptions {
  readonly ask: AccessReviewCall;
  /** How long an allowed result is cached, in milliseconds; 0: not at all. */
  readonly authorizedTtlMs: number;
  /** How long other results are cached, in milliseconds; 0: not at all. */
  readonly unauthorizedTtlMs: number;
}

/** The maximum size of a cached request in characters, because clients choose paths and names of any length. */
const REMEMBERED_QUESTION_MAX = 10_000;

/**
 * Creates the webhook authorizer. Equal requests share one call (single-flight), and results are cached. A failed call is no opinion with an
 * error, so that the request gets a 500 unless another authorizer allows it. It cannot list rules.
 */
export function webhookAccess(options: WebhookAccessOptions): AccessControl {
  const { ask, authorizedTtlMs, unauthorizedTtlMs, clock, log, shutdownSignal, answersOf } = options;
  const isGood = ({ decision }: AccessResult): boolean => decision === 'allow';
  const questions = new Questions<AccessQuestion, AccessResult>({
    ask,
    isGood,
    ttlMsOf: (result) => (isGood(result) ? authorizedTtlMs : unauthorizedTtlMs),
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
      shared: answersOf === undefined ? undefined : { answers: answersOf('access'), parse: parseResult },
    }),
  });
  return {
    authorize: async (question, signal) => {
      try {
        return await questions.result(question, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return { decision: 'no-opinion', reason: '', error: 'the authorization webhook call failed' };
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

/** The size without the user, which the client cannot choose. */
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

/** Parses a result that a replica shared; undefined if malformed. */
function parseResult(value: unknown): AccessResult | undefined {
  const { decision, reason } = fieldsOf<AccessResult>(value);
  const known = DECISIONS.find((each) => each === decision);
  return known === undefined || typeof reason !== 'string' ? undefined : { decision: known, reason };
}
