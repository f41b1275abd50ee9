import type { Redis } from 'ioredis';
import type { AnswerStore } from './shared-answers';

/** Answers in Redis, each of which goes by itself when its time is up. Replicas of one cluster share what the keys begin with. */
export function redisAnswers(redis: Redis, keyPrefix: string): AnswerStore {
  return {
    get: async (name) => (await redis.getBuffer(`${keyPrefix}${name}`)) ?? undefined,
    set: async (name, bytes, ttlMs) => {
      await redis.set(`${keyPrefix}${name}`, bytes, 'PX', Math.ceil(ttlMs));
    },
  };
}
