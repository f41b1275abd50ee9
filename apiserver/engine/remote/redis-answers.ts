import type { Redis } from 'ioredis';
import type { AnswerStore } from './shared-answers';

/** Creates a store of shared results in Redis, where they expire. Replicas of one cluster have the same key prefix. */
export function redisAnswers(redis: Redis, keyPrefix: string): AnswerStore {
  return {
    get: async (name) => (await redis.getBuffer(`${keyPrefix}${name}`)) ?? undefined,
    set: async (name, bytes, ttlMs) => {
      await redis.set(`${keyPrefix}${name}`, bytes, 'PX', Math.ceil(ttlMs));
    },
  };
}
