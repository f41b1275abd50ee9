import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Event } from '../../../../shared/api/types/core-v1';
import type { Clock } from '../../../../shared/concurrency/clock';
import { StatusError } from '../../../../shared/errors/status-error';
import type { SharedLimit } from '../../../../shared/concurrency/shared-limit';
import type { Rate } from '../../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../../shared/concurrency/token-bucket';
import { fieldsOf, fieldsOfEach, integer, text } from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { joinProblems } from '../../../../shared/errors/field-error';
import { EVENTS } from '../../cluster/resources';

/** The key of the budget under each type of limit. */
const KEY_OF = {
  Server: () => '',
  Namespace: ({ write: { namespace } }) => namespace,
  User: ({ write: { user } }) => user.name,
  SourceAndObject: sourceAndObject,
} as const satisfies Readonly<Record<string, (attributes: WriteOf<Event>) => string>>;

interface Limit {
  readonly type: keyof typeof KEY_OF;
  /** Admitted events per second over time. */
  readonly qps: number;
  /** Events admitted at once. */
  readonly burst: number;
  /** Number of budgets; the least recently used one is dropped. */
  readonly budgetsMax: number;
}

/** As written in the configuration. */
interface WrittenLimit extends Pick<Limit, 'type' | 'qps' | 'burst'> {
  readonly cacheSize: number;
}

const BUDGETS_MAX = 4_096;

export interface EventRateLimitContext {
  readonly clock: Clock;
  /** Registers a limit that replicas may share. */
  readonly registerSharedLimit: (limit: SharedLimit) => void;
}

/**
 * Limits the rate of Events (429). Dry runs are not counted, nor are events written through the newer group: v1.21 checks the group of
 * the request.
 */
export function eventRateLimit(
  configuration: unknown,
  { clock, registerSharedLimit }: EventRateLimitContext,
): AdmissionPlugin {
  const buckets = limitsOf(configuration).map((limit) => new Buckets(limit, clock));
  for (const each of buckets) registerSharedLimit(each);
  return pluginOf(writesOf(EVENTS, ['CREATE', 'UPDATE']), {
    validate(attributes) {
      if (attributes.write.dryRun) return;
      const problems = buckets.map((each) => each.take(attributes)).filter((each) => each !== undefined);
      if (problems.length === 0) return;
      throw new StatusError('TooManyRequests', `Too many requests: ${joinProblems(problems)}`);
    },
  });
}

/** Returns the problem of the configuration, or undefined. */
export function eventRateLimitProblem(configuration: unknown): string | undefined {
  const limits = limitsIn(configuration);
  if (limits.length === 0) return 'at least one limit is needed';
  for (const { type: given, qps, burst, cacheSize } of limits) {
    const type = text(given);
    if (!Object.hasOwn(KEY_OF, type)) return `a type must be one of ${Object.keys(KEY_OF).join(', ')}`;
    if (!isPositive(qps) || !isPositive(burst)) return 'qps and burst must be more than 0';
    if (cacheSize !== undefined && !isPositive(cacheSize)) return 'a cacheSize must be more than 0';
  }
  return undefined;
}

function limitsIn(configuration: unknown): readonly Unchecked<WrittenLimit>[] {
  const { limits } = fieldsOf<{ readonly limits: readonly WrittenLimit[] }>(configuration);
  return fieldsOfEach<WrittenLimit>(limits);
}

function isPositive(value: unknown): boolean {
  return (integer(value) ?? 0) > 0;
}

/** Throws for a configuration with a problem. */
function limitsOf(configuration: unknown): readonly Limit[] {
  const problem = eventRateLimitProblem(configuration);
  if (problem !== undefined) throw new Error(`EventRateLimit cannot be configured so: ${problem}`);
  return limitsIn(configuration).map(({ type, qps, burst, cacheSize }) => ({
    type: text(type) as Limit['type'],
    qps: Number(integer(qps) ?? 1),
    burst: Number(integer(burst) ?? 1),
    budgetsMax: Number(integer(cacheSize) ?? BUDGETS_MAX),
  }));
}

function sourceAndObject({ object }: WriteOf<Event>): string {
  const { component, host } = object?.source ?? {};
  const { kind, namespace, name, uid, apiVersion } = object?.involvedObject ?? {};
  return [component, host, kind, namespace, name, uid, apiVersion].join('');
}

const KEY_CHARS_MAX = 512;

/** Keys contain text from clients, so a long one is replaced by its digest. */
function shortKey(key: string): string {
  return key.length > KEY_CHARS_MAX ? createHash('sha256').update(key).digest('hex') : key;
}

interface Budget {
  readonly bucket: TokenBucket;
  /** Events since demands were last read, admitted or not. */
  asked: number;
  /** The name that other replicas use. */
  readonly name: string;
  part: number;
}

/** Number of budgets per limit that are divided by demand, the busiest ones; the others are divided evenly. */
const DIVIDED_MAX = 64;

/** A token bucket for each key of a limit. */
class Buckets implements SharedLimit {
  readonly #limit: Limit;
  readonly #clock: Clock;
  readonly #budgets: LRUCache<string, Budget>;
  #evenPart = 1;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    // By size instead of number, because `max` would preallocate the configured number.
    this.#budgets = new LRUCache({ maxSize: limit.budgetsMax, sizeCalculation: () => 1 });
  }

  /** Takes one event from the budget; returns the problem if it is empty. */
  take(attributes: WriteOf<Event>): string | undefined {
    const { type } = this.#limit;
    const key = shortKey(KEY_OF[type](attributes));
    const budget = this.#budgets.get(key) ?? this.#newBudget(key);
    budget.asked += 1;
    return budget.bucket.take() === 0 ? undefined : `limit reached on type ${type} for key ${key}`;
  }

  takeDemands(): ReadonlyMap<string, number> {
    const asked = [...this.#budgets.values()].filter((budget) => budget.asked > 0);
    const busiest = asked.sort((a, b) => b.asked - a.asked).slice(0, DIVIDED_MAX);
    const demands = new Map(busiest.map((budget) => [budget.name, budget.asked]));
    for (const budget of asked) budget.asked = 0;
    return demands;
  }

  divide(parts: ReadonlyMap<string, number>, even: number): void {
    this.#evenPart = even;
    for (const budget of this.#budgets.values()) {
      const part = parts.get(budget.name) ?? even;
      if (part === budget.part) continue;
      budget.part = part;
      budget.bucket.changeRate(this.#rateOf(part));
    }
  }

  #newBudget(key: string): Budget {
    const { type, qps, burst } = this.#limit;
    const part = this.#evenPart;
    const budget: Budget = {
      bucket: new TokenBucket(this.#rateOf(part), this.#clock),
      asked: 0,
      name: nameOf(`${type} ${String(qps)} ${String(burst)}`, key),
      part,
    };
    this.#budgets.set(key, budget);
    return budget;
  }

  /** A burst below one event would never admit anything. */
  #rateOf(part: number): Rate {
    const { qps, burst } = this.#limit;
    return { perSecond: qps * part, burst: Math.max(1, burst * part) };
  }
}

const NAME_CHARS = 22;

/** A digest, so that names of users and objects stay in this process. */
function nameOf(limit: string, key: string): string {
  const digest = createHash('sha256').update(`${limit}\0${key}`).digest('base64url');
  return `events ${digest.slice(0, NAME_CHARS)}`;
}
