import type { ObjectOperation, ObjectVerb } from '../record/operation';

/** What one object holds: `turn` undefined where there is none; `version` is that of the last write whose version is known. */
interface State {
  readonly turn: string | undefined;
  readonly version: number;
}

export type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

export interface Search {
  readonly verdict: Verdict;
  /** Where no order was found: the operations that none of the longest orders could take next. */
  readonly stuckAt: readonly ObjectOperation[];
}

/** Steps of one search; what needs more is told as undecided. */
const STEPS_MAX = 400_000;

/**
 * Looks for one order of all operations of one object that respects time (what returned before another was invoked comes first) and
 * in which each answer is what a single copy of the object would have answered, with versions that only go up: Wing and Gong's search,
 * with the memory of Lowe. Operations of unknown outcome may have taken effect at any time after they were invoked, or never.
 * `initial` is what the object held before.
 */
export function searchOrder(
  operations: readonly ObjectOperation[],
  initial: State = { turn: undefined, version: 0 },
): Search {
  const sorted = operations
    .filter(({ outcome }) => outcome !== 'refused')
    .sort((a, b) => a.invokedMs - b.invokedMs);
  const seen = new Set<string>();
  const stack: Node[] = [{ state: initial, low: 0, ahead: [], newestMs: -Infinity }];
  let [best, bestCount, steps] = [stack[0], -1, 0];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (++steps > STEPS_MAX) return { verdict: 'undecided', stuckAt: [] };
    if (isOver(sorted, node)) return { verdict: 'linearizable', stuckAt: [] };
    const count = node.low + node.ahead.length;
    if (count > bestCount) [best, bestCount] = [node, count];
    const next = candidates(sorted, node)
      .map((index) => after(sorted, node, index))
      .filter((each) => each !== undefined);
    // The stack gives the last one first: what is known to be the oldest version goes there.
    for (const each of next.sort((a, b) => rank(b) - rank(a))) {
      const id = idOf(each);
      if (seen.has(id)) continue;
      seen.add(id);
      stack.push(each);
    }
  }
  const stuckAt = best === undefined ? [] : candidates(sorted, best).flatMap((index) => sorted[index] ?? []);
  return { verdict: 'not linearizable', stuckAt };
}

/** One partial order: everything before `low`, and `ahead` of it, was taken. */
interface Node {
  readonly state: State;
  readonly low: number;
  /** Ascending. */
  readonly ahead: readonly number[];
  /** The latest invocation among what was taken: what returned before can no longer take effect. */
  readonly newestMs: number;
  readonly taken?: ObjectOperation;
}

/** What may have happened, or not. */
function isOptional({ outcome, verb }: ObjectOperation): boolean {
  return outcome === 'unknown' || verb === 'deletecollection';
}

function isOver(sorted: readonly ObjectOperation[], { low, ahead }: Node): boolean {
  for (let index = low; index < sorted.length; index++) {
    const operation = sorted[index];
    if (operation !== undefined && !ahead.includes(index) && !isOptional(operation)) return false;
  }
  return true;
}

/** Operations that may come next: none that was not taken has returned before they were invoked. */
function candidates(sorted: readonly ObjectOperation[], { low, ahead, newestMs }: Node): number[] {
  const found: number[] = [];
  let firstReturnMs = Infinity;
  for (let index = low; index < sorted.length; index++) {
    const operation = sorted[index];
    if (operation === undefined || operation.invokedMs > firstReturnMs) break;
    if (ahead.includes(index)) continue;
    if (isOptional(operation)) {
      if (operation.returnedMs >= newestMs) found.push(index);
      continue;
    }
    firstReturnMs = Math.min(firstReturnMs, operation.returnedMs);
    found.push(index);
  }
  return found.filter((index) => (sorted[index]?.invokedMs ?? 0) <= firstReturnMs);
}

function after(sorted: readonly ObjectOperation[], node: Node, index: number): Node | undefined {
  const taken = sorted[index];
  if (taken === undefined) return undefined;
  const state = apply(node.state, taken);
  if (state === undefined) return undefined;
  let { low } = node;
  const ahead = [...node.ahead, index].sort((a, b) => a - b);
  // What is optional and can no longer take effect does not hold the beginning up.
  const newestMs = Math.max(node.newestMs, taken.invokedMs);
  for (;;) {
    const first = sorted[low];
    if (ahead[0] === low) ahead.shift();
    else if (first === undefined || !isOptional(first) || first.returnedMs >= newestMs) break;
    low++;
  }
  return { state, low, ahead, newestMs, taken };
}

function rank({ taken }: Node): number {
  if (taken === undefined) return 0;
  if (isOptional(taken)) return Infinity;
  return taken.version ?? 0;
}

function idOf({ low, ahead, state }: Node): string {
  return `${String(low)} ${ahead.join(' ')} ${state.turn ?? '-'} ${String(state.version)}`;
}

/** The object after the operation; undefined when a single copy would have answered otherwise. */
function apply(state: State, operation: ObjectOperation): State | undefined {
  const { verb, outcome } = operation;
  if (verb === 'deletecollection') return { ...state, turn: undefined };
  if (outcome === 'absent') return state.turn === undefined ? state : undefined;
  if (outcome === 'present') return state.turn === undefined ? undefined : state;
  if (outcome === 'conflict') return isAsExpected(state, operation) ? undefined : state;
  if (verb === 'get') return read(state, operation);
  if (!NEEDS[verb](state, operation)) return undefined;
  if (verb === 'delete') return { ...state, turn: undefined };
  const { version } = operation;
  if (version !== undefined && version <= state.version) return undefined;
  return { turn: operation.turn, version: version ?? state.version };
}

function read(state: State, { seen, version = 0 }: ObjectOperation): State | undefined {
  if (state.turn === undefined || state.turn !== seen || version < state.version) return undefined;
  return { turn: state.turn, version };
}

/** What a write that was done found. */
const NEEDS: Readonly<
  Record<
    Exclude<ObjectVerb, 'get' | 'deletecollection'>,
    (state: State, operation: ObjectOperation) => boolean
  >
> = {
  create: isAbsent,
  update: isPresent,
  'guarded update': isAsExpected,
  'merge patch': isPresent,
  'JSON patch': isPresent,
  'strategic patch': isPresent,
  status: isPresent,
  apply: () => true,
  delete: isPresent,
};

function isAsExpected({ turn }: State, { expected }: ObjectOperation): boolean {
  return turn !== undefined && turn === expected?.turn;
}

function isAbsent({ turn }: State): boolean {
  return turn === undefined;
}

function isPresent({ turn }: State): boolean {
  return turn !== undefined;
}
