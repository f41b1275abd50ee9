import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Event } from '../../../shared/api/types/core-v1';
import type { Clock } from '../../../shared/concurrency/clock';
import { StatusError } from '../../../shared/errors/status-error';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import { fieldsOf, fieldsOfEach, integer, text } from '../../../shared/object/accessors';
import type { Unchecked } from '../../../shared/object/values';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { listed } from '../../../shared/errors/listed';
import { EVENTS } from './resources';

/** What has a budget of its own under each type of limit. */
const KEY_OF = {
  Server: () => '',
  Namespace: ({ write: { namespace } }) => namespace,
  User: ({ write: { user } }) => user.name,
  SourceAndObject: sourceAndObject,
} as const satisfies Readonly<Record<string, (attributes: WriteOf<Event>) => string>>;

interface Limit {
  readonly type: keyof typeof KEY_OF;
  /** Events a second that are let in over time. */
  readonly qps: number;
  /** Events that are let in at once. */
  readonly burst: number;
  /** How many budgets are kept; the one that was not used for longest is forgotten. */
  readonly budgetsMax: number;
}

/** As it stands in the configuration. */
interface WrittenLimit extends Pick<Limit, 'type' | 'qps' | 'burst'> {
  readonly cacheSize: number;
}

const BUDGETS_MAX = 4_096;

/**
 * Whoever writes too many events is told so (429) and loses them, and nobody else's are lost. Dry runs are not counted, and neither are
 * events that are written through the newer group: v1.21 looks at the group of the request and not at the object.
 */
export function eventRateLimit(configuration: unknown, clock: Clock): AdmissionPlugin {
  const buckets = limitsOf(configuration).map((limit) => new Buckets(limit, clock));
  return pluginOf(writesOf(EVENTS, ['CREATE', 'UPDATE']), {
    validate(attributes) {
      if (attributes.write.dryRun) return;
      const problems = buckets.map((each) => each.take(attributes)).filter((each) => each !== undefined);
      if (problems.length === 0) return;
      throw new StatusError('TooManyRequests', `Too many requests: ${listed(problems)}`);
    },
  });
}

/** What is wrong with the configuration; undefined for a good one. */
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

/** Throws for a configuration that has a problem. */
function limitsOf(configuration: unknown): readonly Limit[] {
  const problem = eventRateLimitProblem(configuration);
  if (problem !== undefined) throw new Error(`EventRateLimit cannot be configured so: ${problem}`);
  return limitsIn(configuration).map(({ type, qps, burst, cacheSize }) => ({
    type: text(type) as Limit['type'],
    qps: integer(qps) ?? 1,
    burst: integer(burst) ?? 1,
    budgetsMax: integer(cacheSize) ?? BUDGETS_MAX,
  }));
}

function sourceAndObject({ object }: WriteOf<Event>): string {
  const { component, host } = object?.source ?? {};
  const { kind, namespace, name, uid, apiVersion } = object?.involvedObject ?? {};
  return [component, host, kind, namespace, name, uid, apiVersion].join('');
}

const KEY_CHARS_MAX = 512;

/** Clients write what becomes a key: of a longer one only a digest is kept. */
function shortKey(key: string): string {
  return key.length > KEY_CHARS_MAX ? createHash('sha256').update(key).digest('hex') : key;
}

/** A token bucket for each key of a limit. */
class Buckets {
  readonly #limit: Limit;
  readonly #clock: Clock;
  readonly #budgets: LRUCache<string, TokenBucket>;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    // By size and not by number, for which room would be set aside at once, however many the configuration says.
    this.#budgets = new LRUCache({ maxSize: limit.budgetsMax, sizeCalculation: () => 1 });
  }

  /** Takes one event from the budget; what is wrong if there is none left. */
  take(attributes: WriteOf<Event>): string | undefined {
    const { type, qps, burst } = this.#limit;
    const key = shortKey(KEY_OF[type](attributes));
    const budget = this.#budgets.get(key) ?? new TokenBucket({ perSecond: qps, burst }, this.#clock);
    this.#budgets.set(key, budget);
    return budget.take() === 0 ? undefined : `limit reached on type ${type} for key ${key}`;
  }
}
