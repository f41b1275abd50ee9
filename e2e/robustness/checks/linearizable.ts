import type { ObjectOperation, ObjectVerb } from '../record/operation';
import type { Configuration } from './configurations';
import { Configurations } from './configurations';
import type { KnownState } from './known-states';
import { isVersioned, knownStates } from './known-states';

export type Result = 'linearizable' | 'not linearizable' | 'undecided';

export interface Search {
  readonly result: Result;
  /** If no order was found: the first unexplained answer, then the operations that were pending with it. */
  readonly stuckAt: readonly ObjectOperation[];
}

/** Maximum configurations of one search; beyond it the result is undecided. Real runs need about two for each answer. */
const CONFIGURATIONS_MAX = 2_000_000;

/**
 * Searches a linearization of all operations of one object. It respects real time (an operation that returned before another was
 * invoked comes first), and each answer is that of a single copy of the object whose versions increase. `initialTurn` is the initial
 * content of the object; undefined: it did not exist.
 *
 * The search processes calls and answers in order of time and keeps all possible executions (Lowe's just-in-time linearization). An
 * operation takes effect only when an answer requires it, and an execution that cannot explain an answer is dropped. The versions in
 * the answers determine the order of writes and reads (`known-states.ts`). Executions therefore differ only in deletions and refusals,
 * and of two possible deletions the one that is answered first comes first. Without pending operations few executions remain, for any
 * length of the history.
 *
 * A deletion with unknown outcome may have taken effect at any time after its invocation, or never. Other operations with unknown
 * outcome are treated as having no effect.
 */
export function searchOrder(
  operations: readonly ObjectOperation[],
  initialTurn?: string,
  configurationsMax = CONFIGURATIONS_MAX,
): Search {
  const counted = operations.filter(
    ({ outcome, verb }) => outcome !== 'refused' && (outcome !== 'unknown' || isDeletion(verb)),
  );
  const search = new OrderSearch(counted, initialTurn);
  for (const { operation, isReturn } of eventsOf(counted)) {
    if (!isReturn) {
      search.begin(operation);
      continue;
    }
    if (!search.end(operation))
      return { result: 'not linearizable', stuckAt: [operation, ...search.underWay()] };
    if (search.looked > configurationsMax) return { result: 'undecided', stuckAt: [] };
  }
  return { result: 'linearizable', stuckAt: [] };
}

interface HistoryEvent {
  readonly operation: ObjectOperation;
  readonly atMs: number;
  readonly isReturn: boolean;
}

/** At equal times calls come before answers, because they may have overlapped. */
function eventsOf(operations: readonly ObjectOperation[]): readonly HistoryEvent[] {
  return operations
    .flatMap((operation): HistoryEvent[] => {
      const call = { operation, atMs: operation.invokedMs, isReturn: false };
      if (operation.outcome === 'unknown') return [call];
      return [call, { operation, atMs: operation.returnedMs, isReturn: true }];
    })
    .sort((a, b) => compare(a.atMs, b.atMs) || Number(a.isReturn) - Number(b.isReturn));
}

/** Two operations that never return have no numeric difference. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** A pending operation without a version, and its bit. */
interface Floating {
  readonly operation: ObjectOperation;
  readonly bit: bigint;
}

class OrderSearch {
  readonly #states: readonly KnownState[];
  readonly #indexes: ReadonlyMap<ObjectOperation, number>;
  readonly #running = new Set<ObjectOperation>();
  /** In the order of their answers. */
  #deletions: readonly Floating[] = [];
  #optional: readonly Floating[] = [];
  #refusals: readonly Floating[] = [];
  #unknown = 0;
  #nowMs = -Infinity;
  #ways = new Configurations();
  #looked = 0;

  constructor(operations: readonly ObjectOperation[], initialTurn: string | undefined) {
    const { states, indexes } = knownStates(operations, initialTurn);
    this.#states = states;
    this.#indexes = indexes;
    const isThere = initialTurn !== undefined;
    this.#ways.add({ at: 0, isThere, deletions: 0n, optional: 0n, refusals: 0n, unknown: 0 });
  }

  /** Configurations visited so far. */
  get looked(): number {
    return this.#looked;
  }

  underWay(): readonly ObjectOperation[] {
    return [...this.#running];
  }

  begin(operation: ObjectOperation): void {
    this.#nowMs = operation.invokedMs;
    if (operation.outcome === 'unknown') {
      this.#unknown++;
      return;
    }
    this.#running.add(operation);
    if (isVersioned(operation)) return;
    const floating = { operation, bit: this.#freeBit() };
    if (operation.verb === 'deletecollection') this.#optional = inOrder(this.#optional, floating);
    else if (operation.outcome === 'done') this.#deletions = inOrder(this.#deletions, floating);
    else {
      this.#refusals = [...this.#refusals, floating];
      this.#replace([...this.#ways].map((way) => this.#explained(way)));
    }
  }

  /** Returns false if no execution explains the answer. */
  end(operation: ObjectOperation): boolean {
    this.#nowMs = operation.returnedMs;
    this.#running.delete(operation);
    const bit = [...this.#deletions, ...this.#optional, ...this.#refusals].find(
      (each) => each.operation === operation,
    )?.bit;
    const explaining = this.#explaining(operation, bit ?? 0n);
    if (operation.verb === 'deletecollection') {
      // It has deleted the object before this point, or never does.
      for (const way of this.#ways) explaining.add(way);
    }
    if (explaining.size === 0) return false;
    this.#ways = explaining;
    if (bit !== undefined) this.#forget(operation, bit);
    return true;
  }

  /** Extends the executions until the operation has taken effect. */
  #explaining(operation: ObjectOperation, bit: bigint): Configurations {
    const index = this.#indexes.get(operation);
    const hasHappened = (way: Configuration): boolean =>
      index === undefined
        ? ((way.deletions | way.optional | way.refusals) & bit) !== 0n
        : index >= 0 && way.at >= index;
    const explaining = new Configurations();
    const seen = new Configurations();
    const open: Configuration[] = [];
    const meet = (way: Configuration): void => {
      this.#looked++;
      if (hasHappened(way)) explaining.add(way);
      else if (seen.add(way)) open.push(way);
    };
    for (const way of this.#ways) meet(way);
    for (let way = open.pop(); way !== undefined; way = open.pop()) {
      for (const next of this.#nexts(way)) meet(this.#explained(next));
    }
    return explaining;
  }

  /** The possible next steps: the next state of the object, or its deletion. All reads of the state that ends have been invoked. */
  *#nexts(way: Configuration): IterableIterator<Configuration> {
    const state = this.#states[way.at];
    if (state === undefined || state.lastReadMs > this.#nowMs) return;
    const next = this.#states[way.at + 1];
    if (next !== undefined && this.#leadsTo(way, next)) yield { ...way, at: way.at + 1, isThere: true };
    if (!way.isThere || !state.mayEnd) return;
    const gone = { ...way, isThere: false };
    // Of several possible ones the first answered comes first: the others can still follow.
    const deletion = this.#deletions.find(({ bit }) => (way.deletions & bit) === 0n);
    if (deletion !== undefined) {
      const deletions = way.deletions | deletion.bit;
      yield { ...gone, deletions };
      const other = this.#deletions.find(({ bit }) => (deletions & bit) === 0n);
      if (other !== undefined && goesInTwoSteps(deletion.operation))
        yield { ...gone, deletions: deletions | other.bit };
    }
    const optional = this.#optional.find(({ bit }) => (way.optional & bit) === 0n);
    if (optional !== undefined) yield { ...gone, optional: way.optional | optional.bit };
    else if (way.unknown < this.#unknown) yield { ...gone, unknown: way.unknown + 1 };
  }

  #leadsTo({ at, isThere }: Configuration, { write, firstReadMs }: KnownState): boolean {
    if (write === undefined) return isThere && firstReadMs <= this.#nowMs;
    if (write.invokedMs > this.#nowMs) return false;
    if (write.verb === 'apply') return true;
    if (write.verb === 'create') return !isThere;
    if (!isThere) return false;
    return write.verb !== 'guarded update' || this.#states[at]?.turn === write.expected?.turn;
  }

  /** The execution with every pending refusal that its state explains: explaining it later is never better. */
  #explained(way: Configuration): Configuration {
    const state = this.#states[way.at];
    if (state === undefined) return way;
    let { refusals } = way;
    for (const { operation, bit } of this.#refusals) {
      if ((refusals & bit) === 0n && isRight(operation, state, way.isThere)) refusals |= bit;
    }
    return refusals === way.refusals ? way : { ...way, refusals };
  }

  #forget(operation: ObjectOperation, bit: bigint): void {
    const others = (all: readonly Floating[]): readonly Floating[] =>
      all.filter((each) => each.operation !== operation);
    this.#deletions = others(this.#deletions);
    this.#optional = others(this.#optional);
    this.#refusals = others(this.#refusals);
    this.#replace(
      [...this.#ways].map((way) => ({
        ...way,
        deletions: way.deletions & ~bit,
        optional: way.optional & ~bit,
        refusals: way.refusals & ~bit,
      })),
    );
  }

  #replace(ways: readonly Configuration[]): void {
    this.#ways = new Configurations();
    for (const way of ways) {
      this.#looked++;
      this.#ways.add(way);
    }
  }

  #freeBit(): bigint {
    let used = 0n;
    for (const { bit } of [...this.#deletions, ...this.#optional, ...this.#refusals]) used |= bit;
    let bit = 1n;
    while ((used & bit) !== 0n) bit <<= 1n;
    return bit;
  }
}

/**
 * A pod is marked by one write and removed by another. As in v1.21, the marking client does not learn that another client removed it
 * first. Two deletions may therefore return the same end; a third returns not found.
 */
function goesInTwoSteps({ key }: ObjectOperation): boolean {
  return key.startsWith('pods/');
}

function inOrder(all: readonly Floating[], added: Floating): readonly Floating[] {
  return [...all, added].sort((a, b) => compare(a.operation.returnedMs, b.operation.returnedMs));
}

/** Whether the object returns this refusal in the state. */
function isRight(operation: ObjectOperation, { turn, version }: KnownState, isThere: boolean): boolean {
  const { outcome, expected } = operation;
  if (outcome === 'absent') return !isThere;
  if (outcome === 'present') return isThere;
  return !isThere || expected === undefined || turn !== expected.turn || version !== expected.version;
}

function isDeletion(verb: ObjectVerb): boolean {
  return verb === 'delete' || verb === 'deletecollection';
}
