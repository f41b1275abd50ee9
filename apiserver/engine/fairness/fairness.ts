import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1';
import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import type { Log } from '../../../shared/log/log';
import type { Exchange, UserInfo } from '../request/exchange';
import type { FlowConfiguration, FlowObjects } from './configuration';
import { Flow } from './flow';
import { FlowCounts } from './flow-counts';
import { LENDS, Level, isUsable } from './level';
import type { SeatBounds, SeatDemand } from './lending';
import { lentSeats } from './lending';
import type { CompiledRules } from './rules';
import { compileRules } from './rules';

export interface FlowControlOptions {
  /** The seats of all levels together. */
  readonly seats: number;
  /** Objects that are in force even if the configuration lacks them; one schema and one level among them are named `catch-all`. */
  readonly mandatory: FlowObjects;
  /** Where the objects come from; absent: only calls of `configure` change them. */
  readonly configuration?: Pick<FlowConfiguration, 'takeChanges'>;
  readonly log: Pick<Log, 'warn'>;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Upper bound of the cost of all rules together; the rules beyond it are ignored, because they would delay every request. */
export const RULES_COST_MAX = 10_000;
/** Rules of at most this cost are evaluated for each request; the results of more expensive ones are cached. */
const UNCACHED_COST_MAX = 32;
const CACHED_USERS_MAX = 10_000;
const CACHED_RESULTS_MAX = 10_000;

interface Candidate {
  readonly flow: Flow;
  readonly rules: CompiledRules;
}

/** The rules whose subjects include a user, in the order in which they are evaluated. */
interface Candidates {
  readonly groups: readonly string[];
  readonly list: readonly Candidate[];
  /** Cached results by request attributes; undefined where evaluating the rules is cheap. */
  readonly results: Map<string, Flow> | undefined;
}

/**
 * Classifies requests by FlowSchema and priority level, as kube-apiserver's API Priority and Fairness does. Schemas are compiled when they
 * change; a request evaluates only the rules whose subjects include its user. A change that the watch cache has applies to the next request.
 */
export class FlowControl implements SharedLimit {
  readonly #options: FlowControlOptions;
  #levels: ReadonlyMap<string, Level> = new Map();
  #candidates: readonly Candidate[] = [];
  #catchAll: Flow;
  #counts = new Map<string, FlowCounts>();
  #users = new Map<string, Candidates>();
  #parts: ReadonlyMap<string, number> = new Map();
  #evenPart = 1;
  /** Whether the demand of a first period is known. */
  #lends = false;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#catchAll = this.configure([], []);
  }

  get levels(): Iterable<Level> {
    this.#applyChanges();
    return this.#levels.values();
  }

  get counts(): Iterable<FlowCounts> {
    return this.#counts.values();
  }

  /** Returns the flow of the first schema that matches the request. */
  classify({ user, info }: Pick<Exchange, 'user' | 'info'>): Flow {
    this.#applyChanges();
    const { list, results } = this.#candidatesOf(user);
    if (results === undefined) {
      for (const { flow, rules } of list) if (rules.matches(info)) return flow;
      return this.#catchAll;
    }
    const { verb, apiGroup, resource, subresource, namespace, path } = info;
    const key = info.isResourceRequest
      ? `${verb} ${apiGroup} ${resource} ${subresource} ${namespace}`
      : `${verb} ${path}`;
    const known = results.get(key);
    if (known !== undefined) return known;
    if (results.size >= CACHED_RESULTS_MAX) results.clear();
    const found = list.find(({ rules }) => rules.matches(info))?.flow ?? this.#catchAll;
    results.set(key, found);
    return found;
  }

  /** Applies all objects of a configuration, and the mandatory ones that it lacks. Returns the flow `catch-all`. */
  configure(levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): Flow {
    this.#levels = this.#nextLevels(levels);
    this.#divide();
    const counts = new Map<string, FlowCounts>();
    const flows = inOrder(schemas, this.#options.mandatory.schemas).flatMap((schema) => {
      const level = this.#levelOf(schema);
      return level === undefined ? [] : [{ schema, flow: this.#flow(schema, level, counts) }];
    });
    for (const [key, each] of this.#counts) if (!counts.has(key) && !each.isIdle) counts.set(key, each);
    this.#counts = counts;
    this.#candidates = this.#compile(flows);
    this.#users = new Map();
    const last = flows.findLast(({ schema }) => schema.metadata.name === CATCH_ALL);
    if (last === undefined) throw new Error('no FlowSchema catch-all');
    this.#catchAll = last.flow;
    return last.flow;
  }

  /** Returns the peak demand of each level since the last call, in seats taken or waited for. */
  takeDemands(): ReadonlyMap<string, number> {
    return new Map(
      [...this.levels].flatMap(({ name, queues }) =>
        queues === undefined ? [] : [[name, queues.takePeak()]],
      ),
    );
  }

  /** Limits each level to a part of its seats, from 0 to 1; `even` applies to levels that `parts` lacks. Other replicas have the rest. */
  divide(parts: ReadonlyMap<string, number>, even: number): void {
    this.#parts = parts;
    this.#evenPart = even;
    this.#divide();
  }

  /** Lends idle seats to the levels that need them, by the demand since the last call. Call it every {@link LENDING_PERIOD_MS}. */
  lend(): void {
    if (!LENDS) return;
    for (const level of this.levels)
      level.demand.update(demandOfAll(demandOf(level), this.#partOf(level.name)));
    this.#lends = true;
    this.#divide();
  }

  /** Divides the seats of levels that lend by their last demand. */
  #lentSeats(): ReadonlyMap<Level, number> {
    const all = [...this.#levels.values()];
    const limited = all.filter(({ queues }) => queues !== undefined);
    const boundsOf = (level: Level): SeatBounds => level.bounds(this.#options.seats);
    const sumOf = (levels: readonly Level[], seats: (level: Level) => number): number =>
      levels.reduce((sum, level) => sum + seats(level), 0);
    const seats = lentSeats(
      limited.map((level) => ({ demand: level.demand, ...boundsOf(level) })),
      {
        total: sumOf(all, (level) => boundsOf(level).nominal),
        exempt: sumOf(
          all.filter(({ queues }) => queues === undefined),
          (level) => Math.max(boundsOf(level).min, level.demand.highest),
        ),
      },
    );
    return new Map(limited.map((level, at) => [level, seats[at] ?? 0]));
  }

  /** Removes a level without an object once it is idle, and gives its seats to the others. Call it when a request of the level ends. */
  retire(level: Level): void {
    if (!level.isQuiescing || level.queues?.isIdle === false || this.#levels.get(level.name) !== level)
      return;
    this.#levels = new Map([...this.#levels].filter(([name]) => name !== level.name));
    this.#divide();
  }

  #applyChanges(): void {
    const objects = this.#options.configuration?.takeChanges();
    if (objects !== undefined) this.configure(objects.levels, objects.schemas);
  }

  /** Returns undefined if the level does not exist, except for `catch-all`, which must always classify. */
  #levelOf({ metadata, spec }: FlowSchema): Level | undefined {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level?.isQuiescing === false) return level;
    return metadata.name === CATCH_ALL ? this.#levels.get(CATCH_ALL) : undefined;
  }

  #nextLevels(objects: readonly PriorityLevelConfiguration[]): ReadonlyMap<string, Level> {
    const next = new Map<string, Level>();
    for (const object of [...objects.filter(isUsable), ...this.#options.mandatory.levels]) {
      const { name = '' } = object.metadata;
      if (next.has(name)) continue;
      const known = this.#levels.get(name);
      if (known?.suits(object) === true) known.take(object);
      next.set(name, known?.suits(object) === true ? known : new Level(name, object, this.#options.now));
    }
    for (const [name, level] of this.#levels) {
      if (next.has(name) || level.queues === undefined || level.queues.isIdle) continue;
      level.isQuiescing = true;
      next.set(name, level);
    }
    return next;
  }

  /** Divides the seats by shares and rounds up, so that the sum may exceed the total by a few seats. */
  #divide(): void {
    const all = [...this.#levels.values()];
    const sum = all.reduce((shares, level) => shares + level.shares, 0);
    for (const level of all) level.wholeSeats = Math.ceil((this.#options.seats * level.shares) / sum);
    const lent = this.#lends ? this.#lentSeats() : undefined;
    for (const level of all) {
      level.limit(lent?.get(level), this.#partOf(level.name));
    }
  }

  #partOf(level: string): number {
    return this.#parts.get(level) ?? this.#evenPart;
  }

  #flow(schema: FlowSchema, level: Level, counts: Map<string, FlowCounts>): Flow {
    const { name = '' } = schema.metadata;
    const key = `${level.name} ${name}`;
    const own = this.#counts.get(key) ?? new FlowCounts(name, level.name);
    counts.set(key, own);
    return new Flow(schema, level, own);
  }

  #compile(flows: readonly { readonly schema: FlowSchema; readonly flow: Flow }[]): readonly Candidate[] {
    const candidates: Candidate[] = [];
    let cost = 0;
    for (const { schema, flow } of flows) {
      const rules = (schema.spec.rules ?? []).map(compileRules);
      const own = rules.reduce((sum, each) => sum + each.cost, 0);
      if (cost + own > RULES_COST_MAX) {
        this.#options.log.warn(
          { schema: flow.name, rules: own, max: RULES_COST_MAX },
          'flow schema ignored: together with those before it, it has too many rules',
        );
        continue;
      }
      cost += own;
      candidates.push(...rules.map((each) => ({ flow, rules: each })));
    }
    return candidates;
  }

  #candidatesOf(user: UserInfo): Candidates {
    const known = this.#users.get(user.name);
    if (known !== undefined && isSame(known.groups, user.groups)) return known;
    if (this.#users.size >= CACHED_USERS_MAX) this.#users.clear();
    const list = this.#candidates.filter(({ rules }) => rules.isAbout(user));
    const cost = list.reduce((sum, { rules }) => sum + rules.cost, 0);
    const made = {
      groups: user.groups,
      list,
      results: cost > UNCACHED_COST_MAX ? new Map<string, Flow>() : undefined,
    };
    this.#users.set(user.name, made);
    return made;
  }
}

/** Returns the demand since the last call. Only the peak of an exempt level counts. */
function demandOf(level: Level): SeatDemand {
  return level.queues?.takeDemand() ?? { average: 0, deviation: 0, max: level.takeExemptPeak(), tookMs: 0 };
}

/** Returns the demand at all replicas, from that at the one that has this part of the seats: seats are lent before they are divided. */
function demandOfAll({ average, deviation, max, tookMs }: SeatDemand, part: number): SeatDemand {
  return { average: average / part, deviation: deviation / part, max: max / part, tookMs };
}

const CATCH_ALL = 'catch-all';

/** Sorts by precedence, then by name, and adds the mandatory schemas that are missing. */
function inOrder(schemas: readonly FlowSchema[], mandatory: readonly FlowSchema[]): readonly FlowSchema[] {
  const names = new Set(schemas.map(({ metadata }) => metadata.name));
  return [...schemas, ...mandatory.filter(({ metadata }) => !names.has(metadata.name))].sort(
    (a, b) =>
      a.spec.matchingPrecedence - b.spec.matchingPrecedence ||
      compareNames(a.metadata.name ?? '', b.metadata.name ?? ''),
  );
}

function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((each, at) => each === b[at]);
}
