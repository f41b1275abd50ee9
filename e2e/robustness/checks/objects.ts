import type { History } from '../record/history';
import type { ObjectOperation } from '../record/operation';
import type { Finding } from './finding';
import { searchOrder } from './linearizable';

/**
 * Checks each object separately. One order explains all answers; the store is consulted only for the effect of writes with unknown
 * outcome. Every acknowledged write is in the store's history at the version of its answer, after its predecessor. No write is there
 * twice or after a refusal. An undecided object is a violation.
 */
export function checkObjects(operations: readonly ObjectOperation[], history: History): readonly Finding[] {
  const byObject = groupByObject(operations);
  const findings: Finding[] = [];
  for (const [object, of] of byObject) {
    const written = writtenTurns(history, object);
    const ending = new Set(of.filter((operation) => hasEndedDeletion(operation, written, history)));
    const writes = of.filter((operation) => !ending.has(operation));
    findings.push(...writes.flatMap((operation) => checkWrite(operation, written, history)));
    const before = history.of(object).findLast(({ revision }) => revision <= history.base)?.object;
    const { result, stuckAt } = searchOrder(
      [...resolved(writes, written), ...[...ending].flatMap(asEnd)],
      before?.turn,
    );
    if (result === 'undecided') {
      const text = `${object}: not decided, the ways in which ${String(of.length)} answers may have come about are too many`;
      findings.push({ check: 'linearizable', text });
    }
    if (result === 'not linearizable') {
      const [unexplained = '', ...beside] = stuckAt.slice(0, SHOWN).map(describe);
      const others = beside.length === 0 ? '' : `; under way beside it: ${beside.join('; ')}`;
      const text = `${object}: no order explains all of ${String(of.length)} answers up to this one: ${unexplained}${others}`;
      findings.push({ check: 'linearizable', text });
    }
  }
  return findings;
}

const SHOWN = 4;

function groupByObject(
  operations: readonly ObjectOperation[],
): ReadonlyMap<string, readonly ObjectOperation[]> {
  const groups = new Map<string, ObjectOperation[]>();
  for (const operation of operations) {
    const group = groups.get(operation.key);
    if (group === undefined) groups.set(operation.key, [operation]);
    else group.push(operation);
  }
  return groups;
}

/** The revisions of each turn. */
type Written = ReadonlyMap<string, readonly number[]>;

function writtenTurns(history: History, object: string): Written {
  const written = new Map<string, number[]>();
  for (const { revision, object: stored } of history.of(object)) {
    if (stored === undefined || stored.turn === '') continue;
    const at = written.get(stored.turn);
    // Marking for deletion keeps the turn, and is not a second write of it.
    if (at !== undefined && stored.isMarked) continue;
    if (at === undefined) written.set(stored.turn, [revision]);
    else at.push(revision);
  }
  return written;
}

/**
 * A write of a pod that is marked for immediate deletion, which was interrupted, finishes that deletion: the response
 * is the pod as it would have been, at the version of the mark, and nothing is stored. Kubernetes does the same.
 */
function hasEndedDeletion(
  { outcome, verb, turn, version, key, expected }: ObjectOperation,
  written: Written,
  history: History,
): boolean {
  if (outcome !== 'done' || turn === '' || verb === 'create' || written.has(turn)) return false;
  if (expected !== undefined && expected.version !== version) return false;
  const changes = history.of(key);
  const at = changes.findIndex(({ revision }) => revision === version);
  const next = changes[at + 1];
  return changes[at]?.object?.isMarked === true && next !== undefined && next.object === undefined;
}

/**
 * The write finished the deletion, or found it finished: like a deletion of the collection it has deleted the object or not. The object
 * was gone before the answer, or a later write replaced this one.
 */
function asEnd({ key, replica, invokedMs, returnedMs }: ObjectOperation): readonly ObjectOperation[] {
  const at = { key, replica, invokedMs, returnedMs, turn: '' };
  return [
    { ...at, verb: 'deletecollection', outcome: 'done' },
    { ...at, verb: 'get', outcome: 'absent' },
  ];
}

/** A write with unknown outcome becomes acknowledged or is removed. The store cannot attribute deletions to clients. */
function resolved(operations: readonly ObjectOperation[], written: Written): readonly ObjectOperation[] {
  return operations.flatMap((operation): ObjectOperation[] => {
    if (operation.outcome !== 'unknown') return [operation];
    if (operation.verb === 'get') return [];
    if (operation.turn === '') return [{ ...operation, returnedMs: Infinity }];
    const version = written.get(operation.turn)?.[0];
    return version === undefined ? [] : [{ ...operation, outcome: 'done', version, returnedMs: Infinity }];
  });
}

function checkWrite(operation: ObjectOperation, written: Written, history: History): readonly Finding[] {
  const { turn, outcome, version, expected, key } = operation;
  if (turn === '') return [];
  const at = written.get(turn) ?? [];
  if (outcome !== 'done') {
    if (outcome === 'unknown' && at.length <= 1) return [];
    if (at.length === 0) return [];
    return [{ check: 'applied once', text: `${describe(operation)}, but it is stored at ${at.join(', ')}` }];
  }
  const findings: Finding[] = [];
  if (version === undefined || !at.includes(version)) {
    const text = `${describe(operation)}, which the store does not have (it has that write at ${at.join(', ') || 'no version'})`;
    findings.push({ check: 'acknowledged writes are stored', text });
  }
  if (at.length > 1) {
    const text = `${describe(operation)}, but it is stored ${String(at.length)} times, at ${at.join(', ')}`;
    findings.push({ check: 'applied once', text });
  }
  if (expected !== undefined && version !== undefined && at.includes(version)) {
    const before = history.of(key).findLast(({ revision }) => revision < version);
    if (before?.revision !== expected.version) {
      const text = `${describe(operation)} on version ${String(expected.version)}, but replaced ${String(before?.revision)}`;
      findings.push({ check: 'no lost update', text });
    }
  }
  return findings;
}

/** `apply of configmaps/chaos-0/o3 ("17") through replica 1 was done at version 812`. */
export function describe(operation: ObjectOperation): string {
  const { verb, key, turn, replica, outcome, version, seen } = operation;
  const what = turn === '' ? '' : ` ("${turn}")`;
  const read = seen === undefined ? '' : ` showing "${seen}"`;
  const at = version === undefined ? '' : ` at version ${String(version)}`;
  const times = `${operation.invokedMs.toFixed(1)}–${operation.returnedMs.toFixed(1)} ms`;
  return `${verb} of ${key}${what} through replica ${String(replica)} was ${outcome}${read}${at} (${times})`;
}
