import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openRedis } from '../../shared/client/redis';
import type { Clock } from '../../shared/concurrency/clock';
import { redisAnswers } from '../access/webhook/redis-answers';
import type { AnswersOf } from '../access/webhook/shared-answers';
import { SharedAnswers } from '../access/webhook/shared-answers';
import type { SharedAnswerOptions } from './options/shared-answer-options';

export interface SharedAnswerParts {
  readonly clock: Clock;
  /** Replicas of one cluster have the same. */
  readonly storePrefix: string;
  /** Aborts when the server is stopped. */
  readonly life: AbortSignal;
}

/** A guessed secret opens everything. */
const SECRET_BYTES_MIN = 32;

/**
 * What replicas tell each other of webhooks' answers; undefined where they tell nothing. Throws an error that names the file when the secret
 * cannot be used.
 */
export function openSharedAnswers(
  options: SharedAnswerOptions | undefined,
  { clock, storePrefix, life }: SharedAnswerParts,
): AnswersOf | undefined {
  if (options === undefined) return undefined;
  const secret = createSecretKey(readSecret(options.keyFile));
  const redis = openRedis(options);
  life.addEventListener('abort', () => redis.disconnect(), { once: true });
  const store = redisAnswers(redis, `${storePrefix}:webhooks:`);
  return (purpose) => new SharedAnswers({ store, secret, purpose: `${storePrefix} ${purpose}`, clock });
}

function readSecret(file: string): Buffer {
  const bytes = readFileSync(file);
  if (bytes.length < SECRET_BYTES_MIN) {
    throw new Error(`${file} must hold a secret of at least ${String(SECRET_BYTES_MIN)} bytes`);
  }
  return bytes;
}
