import type { ObjectOperation, ObjectState } from '../record/operation';

/**
 * Whether some order explains the answers, by trying every order. It is the reference for the search, for a few operations only.
 */
export function hasOrder(operations: readonly ObjectOperation[], state: ObjectState = NOTHING): boolean {
  if (operations.every(isOptional)) return true;
  return operations.some((operation) => {
    // Operations that returned before this one was invoked come first, or had no effect.
    const rest = operations.filter((each) => each !== operation && !(each.returnedMs < operation.invokedMs));
    const isLate = operations.some((each) => each.returnedMs < operation.invokedMs && !isOptional(each));
    const after = isLate ? undefined : stateAfter(operation, state);
    return after !== undefined && hasOrder(rest, after);
  });
}

/** The object does not exist: a turn is never empty. */
const NOTHING: ObjectState = { turn: '', version: 0 };

function isOptional({ outcome, verb }: ObjectOperation): boolean {
  return outcome === 'unknown' || verb === 'deletecollection';
}

/** Undefined if the single copy would have answered differently. */
function stateAfter(operation: ObjectOperation, state: ObjectState): ObjectState | undefined {
  const { verb, outcome, turn, version = 0, seen, expected } = operation;
  const isThere = state.turn !== '';
  if (verb === 'deletecollection') return { ...state, turn: '' };
  if (outcome === 'absent') return isThere ? undefined : state;
  if (outcome === 'present') return isThere ? state : undefined;
  const isExpected = isThere && state.turn === expected?.turn;
  if (outcome === 'conflict') return isExpected && state.version === expected?.version ? undefined : state;
  if (verb === 'get')
    return isThere && state.turn === seen && version >= state.version ? { turn: seen, version } : undefined;
  if (isThere !== (verb !== 'create') && verb !== 'apply') return undefined;
  if (verb === 'delete') return { ...state, turn: '' };
  if (verb === 'guarded update' && !isExpected) return undefined;
  return version > state.version ? { turn, version } : undefined;
}
