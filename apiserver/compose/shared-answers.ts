import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openRedis } from '../../shared/client/redis';
import type { Clock } from '../../shared/concurrency/clock';
import { redisAnswers } from '../engine/remote/redis-answers';
import type { RemoteReviewOptions } from '../engine/remote/review-call';
import { serviceIdentity } from '../engine/remote/service-identity';
import type { AnswerPurpose, AnswersOf, SharedAnswersOptions } from '../engine/remote/shared-answers';
import { SharedAnswers } from '../engine/remote/shared-answers';
import type { SharedAnswerOptions } from './options/shared-answer-options';

export interface SharedAnswerParts {
  readonly clock: Clock;
  readonly storePrefix: string;
  /** Replicas of one cluster have the same, and no others. */
  readonly clusterId: string;
  /** Who is asked for each purpose; undefined: nobody. */
  readonly services: Readonly<Record<AnswerPurpose, RemoteReviewOptions | undefined>>;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** A guessed secret opens everything. */
const SECRET_BYTES_MIN = 32;

/** What replicas tell each other of webhooks' answers. Throws an error that names the file when the secret cannot be used. */
export function openSharedAnswers(
  options: SharedAnswerOptions,
  { storePrefix, shutdownSignal, ...parts }: SharedAnswerParts,
): AnswersOf {
  const secret = createSecretKey(readSecret(options.keyFile));
  const redis = openRedis(options);
  shutdownSignal.addEventListener('abort', () => redis.disconnect(), { once: true });
  const store = redisAnswers(redis, `${storePrefix}:webhooks:`);
  return boundAnswers({ store, secret, storePrefix, ...parts });
}

/**
 * Answers that only replicas of the same cluster understand, of the same service: clusters may have the same Redis, prefix and secret, and what
 * holds in one must not be heard in another.
 */
export function boundAnswers({
  store,
  secret,
  clock,
  storePrefix,
  clusterId,
  services,
}: Omit<SharedAnswerParts, 'shutdownSignal'> & Pick<SharedAnswersOptions, 'store' | 'secret'>): AnswersOf {
  return (purpose) => {
    const service = services[purpose];
    const whose = [storePrefix, clusterId, service === undefined ? '' : serviceIdentity(service), purpose];
    return new SharedAnswers({ store, secret, purpose: whose.join(' '), clock });
  };
}

function readSecret(file: string): Buffer {
  const bytes = readFileSync(file);
  if (bytes.length < SECRET_BYTES_MIN) {
    throw new Error(`${file} must hold a secret of at least ${String(SECRET_BYTES_MIN)} bytes`);
  }
  return bytes;
}
