import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { DemandBoard, Demands } from './shared-limits';

export interface RedisOptions {
  /** `rediss://…`, or `redis://…` without TLS; may hold a user and a password. */
  readonly url: string;
  /** The certificate authorities of the server, PEM. Undefined: those of this machine. */
  readonly ca: string | undefined;
  /** What the key begins with: replicas of one cluster share it. */
  readonly keyPrefix: string;
}

/** A replica that says nothing for so long is gone. */
const LIVE_MS = 5_000;
const CALL_MS_MAX = 800;
const RECONNECT_MS_MAX = 2_000;

/**
 * Writes what one replica could use into a hash, sums up what all live ones could, and forgets the others; by the clock of the server. Limits
 * are sent as their names with numbers, so that nothing of users or requests is there.
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

/** The board of demands in Redis: one call of a script each time. */
export class RedisBoard implements DemandBoard {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #replica = randomUUID();

  constructor({ url, ca, keyPrefix }: RedisOptions) {
    this.#key = `${keyPrefix}seats`;
    this.#redis = new Redis(url, {
      // What cannot be sent now is of no use later.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CALL_MS_MAX,
      commandTimeout: CALL_MS_MAX,
      retryStrategy: (attempt) => Math.min(attempt * 100, RECONNECT_MS_MAX),
      ...(ca === undefined ? {} : { tls: { ca } }),
    });
    // Told by the calls that fail; without a listener it would end the process.
    this.#redis.on('error', () => undefined);
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
    throw new Error('the shared store answered what is no division');
  }
  const numbers = Object.entries(sums).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return { replicas, byName: new Map(numbers) };
}
