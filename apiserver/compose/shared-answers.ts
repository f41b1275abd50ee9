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
  /** Equal for all replicas of one cluster, and different between clusters. */
  readonly clusterId: string;
  /** The service of each purpose; undefined if there is none. */
  readonly services: Readonly<Record<AnswerPurpose, RemoteReviewOptions | undefined>>;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** The secret must be too long to guess, because it authenticates all shared responses. */
const SECRET_BYTES_MIN = 32;

/** Opens the shared cache of webhook responses. Throws an error that names the file if the secret is unusable. */
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
 * Binds shared responses to the cluster and the service. Clusters may have the same Redis, prefix and secret, and responses must not leak
 * between them.
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
