import type { History } from '../record/history';
import { viewOfId } from '../record/history';
import type { AgedRead, ListOperation, ObjectOperation, ShownObject } from '../record/operation';
import type { Check, Finding } from './finding';

/**
 * Every list shows exactly the content of the store at its version, over all its pages. It is at least as new as requested. A
 * consistent list shows every write that was acknowledged before the request.
 */
export function checkLists(
  lists: readonly ListOperation[],
  operations: readonly ObjectOperation[],
  history: History,
): readonly Finding[] {
  const newest = new AcknowledgedVersions(operations);
  return lists.flatMap((list) => [
    ...checkSnapshot(list, history),
    ...checkAge(list),
    ...checkFresh(list, newest),
  ]);
}

/** The newest version of the writes that were acknowledged before a time. */
export class AcknowledgedVersions {
  readonly #times: number[] = [];
  readonly #versions: number[] = [];

  constructor(operations: readonly ObjectOperation[]) {
    const writes = operations
      .filter(({ outcome, verb, version }) => outcome === 'done' && verb !== 'get' && version !== undefined)
      .sort((a, b) => a.returnedMs - b.returnedMs);
    let newest = 0;
    for (const { returnedMs, version = 0 } of writes) {
      newest = Math.max(newest, version);
      this.#times.push(returnedMs);
      this.#versions.push(newest);
    }
  }

  before(timeMs: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? Infinity) < timeMs) low = middle + 1;
      else high = middle;
    }
    return this.#versions[low - 1] ?? 0;
  }
}

/**
 * A get with a minimum version shows the object at some revision from that version on: a state that was replaced or deleted before is
 * too old.
 */
export function checkAges(reads: readonly AgedRead[], history: History): readonly Finding[] {
  return reads.flatMap(({ key, replica, asked, version, turn }): readonly Finding[] => {
    const changes = history.of(key);
    const index = changes.findIndex(({ revision }) => revision === version);
    const next = changes[index + 1]?.revision ?? Infinity;
    const text = `get of ${key} through replica ${String(replica)}, not older than ${String(asked)}`;
    if (index < 0 || changes[index]?.object?.turn !== turn) {
      if (version <= history.base) return [];
      const what = `shows "${turn}" at ${String(version)}, which the store does not have`;
      return [{ check: 'fresh reads', text: `${text}: ${what}` }];
    }
    if (next > asked) return [];
    const what = `shows version ${String(version)}, which was replaced at ${String(next)}`;
    return [{ check: 'not older than', text: `${text}: ${what}` }];
  });
}

const SHOWN = 3;

function checkSnapshot(list: ListOperation, history: History): readonly Finding[] {
  const [version = 0] = list.versions;
  if (new Set(list.versions).size > 1) {
    return [found('list is one snapshot', list, `its pages are of versions ${list.versions.join(', ')}`)];
  }
  if (version < history.base || version > history.revision) {
    return version < history.base
      ? []
      : [found('list is one snapshot', list, `version ${String(version)} has not happened`)];
  }
  const truth = history.stateAt(viewOfId(list.view), version);
  const shown = new Map(list.objects.map((object) => [object.key, object]));
  const differing = [...new Set([...truth.keys(), ...shown.keys()])].filter(
    (key) => !isSame(truth.get(key), shown.get(key)),
  );
  if (differing.length === 0 && shown.size === list.objects.length) return [];
  const details = differing
    .slice(0, SHOWN)
    .map((key) => `${key} is ${textOf(shown.get(key))}, the store has ${textOf(truth.get(key))}`);
  const more = shown.size === list.objects.length ? [] : ['an object stands in it twice'];
  return [found('list is one snapshot', list, [...details, ...more].join('; '))];
}

function checkAge(list: ListOperation): readonly Finding[] {
  const [version = 0] = list.versions;
  const { asked } = list;
  if (asked.kind === 'not older than' && version < asked.version) {
    return [found('not older than', list, `${String(asked.version)} was asked for`)];
  }
  if (asked.kind === 'exact' && version !== asked.version) {
    return [found('not older than', list, `exactly ${String(asked.version)} was asked for`)];
  }
  return [];
}

function checkFresh(list: ListOperation, newest: AcknowledgedVersions): readonly Finding[] {
  const [version = 0] = list.versions;
  if (list.asked.kind !== 'most recent') return [];
  const due = newest.before(list.invokedMs);
  if (version >= due) return [];
  return [found('fresh reads', list, `version ${String(due)} had been acknowledged before it was asked`)];
}

function isSame(a: ShownObject | undefined, b: ShownObject | undefined): boolean {
  return a?.version === b?.version && a?.turn === b?.turn;
}

function textOf(object: ShownObject | undefined): string {
  return object === undefined ? 'absent' : `at ${String(object.version)}`;
}

function found(check: Check, list: ListOperation, what: string): Finding {
  const { view, replicas, versions, invokedMs, asked } = list;
  const at = `at ${invokedMs.toFixed(1)} ms`;
  const text = `list of ${view} (${asked.kind}) through replicas ${replicas.join(', ')} ${at}, version ${String(versions[0])}: ${what}`;
  return { check, text };
}
