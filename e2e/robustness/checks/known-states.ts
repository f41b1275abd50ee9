import type { ObjectOperation } from '../record/operation';

/** A state of an object that an answer contained. */
export interface KnownState {
  /** The content; undefined before the first write. */
  readonly turn: string | undefined;
  readonly version: number;
  /** The operation that created it; undefined if no client did: it is the initial state, or another writer stored the object again. */
  readonly write: ObjectOperation | undefined;
  /** The start of the first and of the last read of the state; Infinity and -Infinity without reads. */
  readonly firstReadMs: number;
  readonly lastReadMs: number;
  /** Whether the object may be deleted in this state: the next write expects no object. */
  readonly mayEnd: boolean;
}

export interface KnownStates {
  /** In order of their versions; the first is the initial state. */
  readonly states: readonly KnownState[];
  /** The index of the resulting or returned state of each acknowledged write and read; -1 if no order can contain it. */
  readonly indexes: ReadonlyMap<ObjectOperation, number>;
}

/**
 * Versions increase, and the answer to a write or a read contains one. Every linearization therefore has the writes in the order of
 * their versions, each followed by the reads that return it. Only deletions and refusals can move.
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

/** Acknowledged writes and reads. Deletions have no version. */
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

/** An answer without a version is treated as one with an old version: no order contains it. */
function versionOf({ version = 0 }: ObjectOperation): number {
  return Number.isNaN(version) ? 0 : version;
}

/** A write comes before the reads of its version. */
function rank({ verb }: ObjectOperation): number {
  return verb === 'get' ? 1 : 0;
}
