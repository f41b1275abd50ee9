import type { ObjectOperation, ObjectVerb } from '../record/operation';
import type { Configuration } from './configurations';
import { Configurations } from './configurations';
import type { KnownState } from './known-states';
import { isVersioned, knownStates } from './known-states';

export type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

export interface Search {
  readonly verdict: Verdict;
  /** Where no order was found: the first answer that none explains, then what was under way beside it. */
  readonly stuckAt: readonly ObjectOperation[];
}

/** Configurations that one search looks at; beyond this the result is undecided. Responses of real runs need about two each. */
const CONFIGURATIONS_MAX = 2_000_000;

/**
 * Looks for one order of all operations of one object that respects time (what returned before another was invoked comes first) and
 * in which each answer is what a single copy of the object would have answered, with versions that only go up. `initialTurn` is what the
 * object held before; undefined: it was not there.
 *
 * Goes through the calls and answers in the order of time, and keeps every way in which what was asked so far may have happened (Lowe's
 * just-in-time linearization): an operation takes effect no sooner than an answer needs it, and a way that cannot explain an answer
 * ends. The versions in the answers give the order of writes and reads (`known-states.ts`), so the ways differ in deletions and
 * refusals alone, and in few of them, as of two deletions that could both come next the one that is answered first does. Where nothing
 * is under way, few ways are left, however long the history is.
 *
 * Deletions of unknown outcome may have taken effect at any time after they were invoked, or never; other operations of unknown outcome
 * are taken for such that had none.
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
      return { verdict: 'not linearizable', stuckAt: [operation, ...search.underWay()] };
    if (search.looked > configurationsMax) return { verdict: 'undecided', stuckAt: [] };
  }
  return { verdict: 'linearizable', stuckAt: [] };
}

interface HistoryEvent {
  readonly operation: ObjectOperation;
  readonly atMs: number;
  readonly isReturn: boolean;
}

/** Of one time, calls come before answers: the two may have overlapped. */
function eventsOf(operations: readonly ObjectOperation[]): readonly HistoryEvent[] {
  return operations
    .flatMap((operation): HistoryEvent[] => {
      const call = { operation, atMs: operation.invokedMs, isReturn: false };
      if (operation.outcome === 'unknown') return [call];
      return [call, { operation, atMs: operation.returnedMs, isReturn: true }];
    })
    .sort((a, b) => compare(a.atMs, b.atMs) || Number(a.isReturn) - Number(b.isReturn));
}

/** Of two that never return the difference is no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** Something under way that states no version, and its bit. */
interface Floating {
  readonly operation: ObjectOperation;
  readonly bit: bigint;
}

class OrderSearch {
  readonly #states: readonly KnownState[];
  readonly #indexes: ReadonlyMap<ObjectOperation, number>;
  readonly #running = new Set<ObjectOperation>();
  /** Each in the order in which they are answered. */
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

  /** Configurations looked at so far. */
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

  /** False when no way explains the answer. */
  end(operation: ObjectOperation): boolean {
    this.#nowMs = operation.returnedMs;
    this.#running.delete(operation);
    const bit = [...this.#deletions, ...this.#optional, ...this.#refusals].find(
      (each) => each.operation === operation,
    )?.bit;
    const explaining = this.#explaining(operation, bit ?? 0n);
    if (operation.verb === 'deletecollection') {
      // It has deleted the object by now, or it never does.
      for (const way of this.#ways) explaining.add(way);
    }
    if (explaining.size === 0) return false;
    this.#ways = explaining;
    if (bit !== undefined) this.#forget(operation, bit);
    return true;
  }

  /** The ways that go on from those of before until the operation has taken effect. */
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

  /** What may happen next: the object is in its next state, or is deleted. All who read the state that it leaves have asked. */
  *#nexts(way: Configuration): IterableIterator<Configuration> {
    const state = this.#states[way.at];
    if (state === undefined || state.lastReadMs > this.#nowMs) return;
    const next = this.#states[way.at + 1];
    if (next !== undefined && this.#leadsTo(way, next)) yield { ...way, at: way.at + 1, isThere: true };
    if (!way.isThere || !state.mayEnd) return;
    const gone = { ...way, isThere: false };
    // Of those that could all come next, the one that is answered first does: in its place the other can still come later.
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

  /** The way, with every refusal that is under way and right in its state: later could not be better. */
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
 * A pod is marked by one write and removed by another. The marking client does not learn that another client removed it first (so it is
 * in v1.21), so one end may be the answer of two deletions; a third finds nothing.
 */
function goesInTwoSteps({ key }: ObjectOperation): boolean {
  return key.startsWith('pods/');
}

function inOrder(all: readonly Floating[], added: Floating): readonly Floating[] {
  return [...all, added].sort((a, b) => compare(a.operation.returnedMs, b.operation.returnedMs));
}

/** Whether a refusal is what the object answers in the state. */
function isRight(operation: ObjectOperation, { turn, version }: KnownState, isThere: boolean): boolean {
  const { outcome, expected } = operation;
  if (outcome === 'absent') return !isThere;
  if (outcome === 'present') return isThere;
  return !isThere || expected === undefined || turn !== expected.turn || version !== expected.version;
}

function isDeletion(verb: ObjectVerb): boolean {
  return verb === 'delete' || verb === 'deletecollection';
}
