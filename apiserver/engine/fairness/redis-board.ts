import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { DemandBoard, Demands } from './shared-limits';

/** A replica without an update for this time counts as stopped. */
const LIVE_MS = 5_000;

/**
 * Stores the demand of one replica in a hash, sums up those of live replicas, and drops the others, by the clock of the Redis server. Only names
 * of limits and numbers are sent, no data of users or requests.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({ at = now, seats = cjson.decode(ARGV[3]) }))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local all = redis.call('HGETALL', KEYS[1])
local sums = {}
local live = 0
for place = 1, #all, 2 do
  local one = cjson.decode(all[place + 1])
  if now - one.at > tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[1], all[place])
  else
    live = live + 1
    for level, seats in pairs(one.seats) do sums[level] = (sums[level] or 0) + seats end
  end
end
return { live, cjson.encode(sums) }
`;

/** A demand board in Redis; an exchange is one call of a script. */
export class RedisBoard implements DemandBoard {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #replica = randomUUID();

  /** Replicas of one cluster have the same key prefix. */
  constructor(redis: Redis, keyPrefix: string) {
    this.#redis = redis;
    this.#key = `${keyPrefix}seats`;
  }

  async exchange(own: ReadonlyMap<string, number>): Promise<Demands> {
    const demand = JSON.stringify(Object.fromEntries(own));
    const answer = await this.#redis.eval(SCRIPT, 1, this.#key, this.#replica, LIVE_MS, demand);
    return parseAnswer(answer);
  }

  close(): void {
    this.#redis.disconnect();
  }
}

function parseAnswer(answer: unknown): Demands {
  const [replicas, text] = Array.isArray(answer) ? (answer as unknown[]) : [];
  const sums: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  if (typeof replicas !== 'number' || replicas < 1 || typeof sums !== 'object' || sums === null) {
    throw new Error('the shared store returned a malformed answer');
  }
  const numbers = Object.entries(sums).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return { replicas, byName: new Map(numbers) };
}
