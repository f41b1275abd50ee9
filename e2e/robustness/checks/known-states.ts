import type { ObjectOperation } from '../record/operation';

/** A state of one object that an answer showed. */
export interface KnownState {
  /** What it holds; undefined: nothing is there, before the first write. */
  readonly turn: string | undefined;
  readonly version: number;
  /** What made it; undefined: no client did, it was there before, or somebody else has stored the object again. */
  readonly write: ObjectOperation | undefined;
  /** The start of the first and of the last read of the state; Infinity and -Infinity without reads. */
  readonly firstReadMs: number;
  readonly lastReadMs: number;
  /** Whether the object may be deleted in it: what was written next presumes no object. */
  readonly mayEnd: boolean;
}

export interface KnownStates {
  /** In the order of their versions; the first is the one before all answers. */
  readonly states: readonly KnownState[];
  /** Of each write and read that was done, the index of what it left or saw; -1 when no order can have it there. */
  readonly indexes: ReadonlyMap<ObjectOperation, number>;
}

/**
 * Versions only go up, and the answer to a write or a read names one: so whatever order explains the answers, it has the writes in the
 * order of their versions, and between two of them those who read the first. What floats is deletions and refusals.
 */
export function knownStates(
  operations: readonly ObjectOperation[],
  initialTurn: string | undefined,
): KnownStates {
  const sorted = operations
    .filter(isVersioned)
    .sort((a, b) => versionOf(a) - versionOf(b) || rank(a) - rank(b));
  const indexes = new Map<ObjectOperation, number>();
  const states: Building[] = [stateOf({ turn: initialTurn, version: 0, write: undefined })];
  let last = states[0];
  for (const operation of sorted) {
    const version = versionOf(operation);
    const isWrite = operation.verb !== 'get';
    const isNew = version !== last?.version;
    if (isNew) {
      const turn = isWrite ? operation.turn : last?.turn;
      last = stateOf({ turn, version, write: isWrite ? operation : undefined });
      states.push(last);
    }
    const fits = isWrite ? isNew : last?.turn !== undefined && last.turn === operation.seen;
    indexes.set(operation, fits ? states.length - 1 : -1);
    if (isWrite || last === undefined) continue;
    last.firstReadMs = Math.min(last.firstReadMs, operation.invokedMs);
    last.lastReadMs = Math.max(last.lastReadMs, operation.invokedMs);
  }
  const withEnds = states.map((state, index): KnownState => {
    const next = states[index + 1];
    const verb = next?.write?.verb;
    return { ...state, mayEnd: next === undefined || verb === 'create' || verb === 'apply' };
  });
  return { states: withEnds, indexes };
}

/** Writes and reads that were done; deletions state no version. */
export function isVersioned({ outcome, verb }: ObjectOperation): boolean {
  return outcome === 'done' && verb !== 'delete' && verb !== 'deletecollection';
}

interface Building extends Omit<KnownState, 'mayEnd' | 'firstReadMs' | 'lastReadMs'> {
  firstReadMs: number;
  lastReadMs: number;
}

function stateOf(state: Pick<KnownState, 'turn' | 'version' | 'write'>): Building {
  return { ...state, firstReadMs: Infinity, lastReadMs: -Infinity };
}

/** An answer without a version is as good as one with a version of the past: no order has it. */
function versionOf({ version = 0 }: ObjectOperation): number {
  return Number.isNaN(version) ? 0 : version;
}

/** Of one version, its write comes before those who read it. */
function rank({ verb }: ObjectOperation): number {
  return verb === 'get' ? 1 : 0;
}
