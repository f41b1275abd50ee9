import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1beta1';
import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import type { Log } from '../../../shared/log/log';
import type { Exchange, UserInfo } from '../request/exchange';
import {
  MANDATORY_FLOW_SCHEMAS,
  MANDATORY_PRIORITY_LEVELS,
} from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { Flow } from './flow';
import { FlowCounts } from './flow-counts';
import { Level, isUsable } from './level';
import type { CompiledRules } from './rules';
import { compileRules } from './rules';

export interface FlowControlOptions {
  /** That all levels have together. */
  readonly seats: number;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds from any beginning. */
  readonly now: () => number;
}

/** The rules of all schemas together, in parts that are looked at one after the other: those beyond would hold up every request. */
export const RULES_COST_MAX = 10_000;
/** What so many parts say is asked anew each time; beyond, what they said is kept. */
const ASKED_COST_MAX = 32;
const KEPT_USERS_MAX = 10_000;
const KEPT_ANSWERS_MAX = 10_000;

interface Candidate {
  readonly flow: Flow;
  readonly rules: CompiledRules;
}

/** The rules that are about a user, in the order in which they are asked. */
interface Candidates {
  readonly groups: readonly string[];
  readonly list: readonly Candidate[];
  /** Undefined where asking is cheap. */
  readonly answers: Map<string, Flow> | undefined;
}

/**
 * Which schema and level a request belongs to, as kube-apiserver's API Priority and Fairness has it. The schemas are read when they change;
 * a request asks the few rules that are about its user.
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

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#catchAll = this.configure([], []);
  }

  get levels(): Iterable<Level> {
    return this.#levels.values();
  }

  get counts(): Iterable<FlowCounts> {
    return this.#counts.values();
  }

  /** The schemas in use, with what was counted of each. */
  classify({ user, info }: Pick<Exchange, 'user' | 'info'>): Flow {
    const { list, answers } = this.#candidatesOf(user);
    if (answers === undefined) {
      for (const { flow, rules } of list) if (rules.matches(info)) return flow;
      return this.#catchAll;
    }
    const { verb, apiGroup, resource, subresource, namespace, path } = info;
    const key = info.isResourceRequest
      ? `${verb} ${apiGroup} ${resource} ${subresource} ${namespace}`
      : `${verb} ${path}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= KEPT_ANSWERS_MAX) answers.clear();
    const found = list.find(({ rules }) => rules.matches(info))?.flow ?? this.#catchAll;
    answers.set(key, found);
    return found;
  }

  /** Follows new objects, all that there are. What is mandatory is there whether they name it or not. Returns the flow of last resort. */
  configure(levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): Flow {
    this.#levels = this.#nextLevels(levels);
    this.#divide();
    const counts = new Map<string, FlowCounts>();
    const flows = inOrder(schemas).flatMap((schema) => {
      const level = this.#levelOf(schema);
      return level === undefined ? [] : [{ schema, flow: this.#flow(schema, level, counts) }];
    });
    for (const [key, each] of this.#counts) if (!counts.has(key) && !each.isIdle) counts.set(key, each);
    this.#counts = counts;
    this.#candidates = this.#compile(flows);
    this.#users = new Map();
    const last = flows.findLast(({ schema }) => schema.metadata.name === CATCH_ALL);
    if (last === undefined) throw new Error('there is no schema of last resort');
    this.#catchAll = last.flow;
    return last.flow;
  }

  /** The most seats of each level that were taken and waited for at one time. */
  takeDemands(): ReadonlyMap<string, number> {
    return new Map(
      [...this.levels].flatMap(({ name, queues }) =>
        queues === undefined ? [] : [[name, queues.takePeak()]],
      ),
    );
  }

  /** Gives each level only a part of its seats: the others are other replicas'. */
  divide(parts: ReadonlyMap<string, number>, even: number): void {
    this.#parts = parts;
    this.#evenPart = even;
    this.#divide();
  }

  /** To be called when a level has become idle: one that nobody wants any more goes, and leaves its seats to the others. */
  retire(level: Level): void {
    if (!level.isQuiescing || level.queues?.isIdle === false || this.#levels.get(level.name) !== level)
      return;
    this.#levels = new Map([...this.#levels].filter(([name]) => name !== level.name));
    this.#divide();
  }

  /** The schema of last resort always has a level, whatever is stored: without one nobody could be served. */
  #levelOf({ metadata, spec }: FlowSchema): Level | undefined {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level?.isQuiescing === false) return level;
    return metadata.name === CATCH_ALL ? this.#levels.get(CATCH_ALL) : undefined;
  }

  #nextLevels(objects: readonly PriorityLevelConfiguration[]): ReadonlyMap<string, Level> {
    const next = new Map<string, Level>();
    for (const object of [...objects.filter(isUsable), ...MANDATORY_LEVELS]) {
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

  /** By shares, rounded up: together they may have a few more seats than there are. */
  #divide(): void {
    const all = [...this.#levels.values()];
    const sum = all.reduce((shares, level) => shares + level.shares, 0);
    for (const level of all) {
      const part = this.#parts.get(level.name) ?? this.#evenPart;
      level.limit((this.#options.seats * level.shares) / sum, part);
    }
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
    if (this.#users.size >= KEPT_USERS_MAX) this.#users.clear();
    const list = this.#candidates.filter(({ rules }) => rules.isAbout(user));
    const cost = list.reduce((sum, { rules }) => sum + rules.cost, 0);
    const made = {
      groups: user.groups,
      list,
      answers: cost > ASKED_COST_MAX ? new Map<string, Flow>() : undefined,
    };
    this.#users.set(user.name, made);
    return made;
  }
}

const CATCH_ALL = 'catch-all';

const MANDATORY_LEVELS: readonly PriorityLevelConfiguration[] = Object.entries(MANDATORY_PRIORITY_LEVELS).map(
  ([name, spec]) => ({ metadata: { name }, spec }),
);

/** By precedence, then by name; with those that must not be missing. */
function inOrder(schemas: readonly FlowSchema[]): readonly FlowSchema[] {
  const names = new Set(schemas.map(({ metadata }) => metadata.name));
  const missing = Object.entries(MANDATORY_FLOW_SCHEMAS).filter(([name]) => !names.has(name));
  return [...schemas, ...missing.map(([name, spec]) => ({ metadata: { name }, spec }))].sort(
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
