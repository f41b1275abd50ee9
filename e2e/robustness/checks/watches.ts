import type { History, WatchedChange } from '../record/history';
import { viewOfId } from '../record/history';
import type { WatchSegment } from '../record/operation';
import type { Check, Finding } from './finding';

/**
 * Every connection of a watch received exactly the store's history of its view after its version, each change once, in
 * order, up to the newest version that it received in an event or a bookmark. A watch that resumes where another ended
 * therefore misses nothing either. Changes after the newest version are not guaranteed yet.
 */
export function checkWatches(segments: readonly WatchSegment[], history: History): readonly Finding[] {
  return segments.flatMap((segment) => checkSegment(segment, history));
}

function checkSegment(segment: WatchSegment, history: History): readonly Finding[] {
  const { from, events, view } = segment;
  if (from < history.base) return [];
  const findings = [...checkOrder(segment), ...checkInitial(segment, history)];
  const changes = events.filter(({ type }) => type !== 'BOOKMARK');
  const promised = Math.max(from, ...events.map(({ version }) => version));
  if (promised > history.revision) {
    return [
      ...findings,
      found(
        'bookmarks true',
        segment,
        `version ${String(promised)} was promised, the store has ${String(history.revision)}`,
      ),
    ];
  }
  const known = new Map(changes.map((event) => [idOf(event.version, event.key), event]));
  const due = history.eventsOf(viewOfId(view), from, promised);
  const dueIds = new Set(due.map(({ revision, key }) => idOf(revision, key)));
  for (const change of due) {
    const event = known.get(idOf(change.revision, change.key));
    if (event === undefined) findings.push(missing(segment, change));
    else if (event.type !== change.type || event.turn !== change.turn) {
      const text = `${event.type} ${event.key} "${event.turn}" at ${String(event.version)} is ${change.type} "${change.turn}" in the store`;
      findings.push(found('watch true to the store', segment, text));
    }
  }
  for (const event of changes) {
    if (!dueIds.has(idOf(event.version, event.key))) {
      const text = `${event.type} ${event.key} at ${String(event.version)} is not in the store's history after ${String(from)}`;
      findings.push(found('watch true to the store', segment, text));
    }
  }
  return findings;
}

/** A bookmark that arrives before the events that it covers is a separate violation. */
function missing(segment: WatchSegment, { type, key, revision }: WatchedChange): Finding {
  const later = segment.events.find(({ version }) => version >= revision);
  const isPromised = later?.type === 'BOOKMARK';
  const text = `${type} ${key} at ${String(revision)} was never delivered`;
  return isPromised
    ? found('bookmarks true', segment, `${text}, but a bookmark promises ${String(later.version)}`)
    : found('watch complete', segment, `${text}, but ${String(later?.version)} was`);
}

function checkOrder(segment: WatchSegment): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  let last = segment.from;
  let bookmark = segment.from;
  for (const { type, key, version } of segment.events) {
    if (type === 'BOOKMARK') {
      if (version < last)
        findings.push(found('bookmarks true', segment, `bookmark ${String(version)} after ${String(last)}`));
      bookmark = Math.max(bookmark, version);
    } else {
      const id = idOf(version, key);
      const text = `${type} ${key} at ${String(version)} came after ${String(last)}`;
      if (seen.has(id))
        findings.push(found('watch unique', segment, `${key} at ${String(version)} was delivered twice`));
      else if (version <= bookmark && bookmark > segment.from)
        findings.push(
          found('bookmarks true', segment, `${text}, a bookmark of ${String(bookmark)} among it`),
        );
      else if (version < last || version <= segment.from)
        findings.push(found('watch in order', segment, text));
      seen.add(id);
    }
    last = Math.max(last, version);
  }
  return findings;
}

/** The initial state of a watch is checked as a list. */
function checkInitial(segment: WatchSegment, history: History): readonly Finding[] {
  if (segment.initial === undefined || segment.from > history.revision) return [];
  const truth = history.stateAt(viewOfId(segment.view), segment.from);
  const shown = new Map(segment.initial.map((object) => [object.key, object]));
  const differing = [...new Set([...truth.keys(), ...shown.keys()])].filter(
    (key) => truth.get(key)?.version !== shown.get(key)?.version,
  );
  if (differing.length === 0) return [];
  const text = `it begins with another state of ${differing.slice(0, SHOWN).join(', ')} than the store's`;
  return [found('list is one snapshot', segment, text)];
}

const SHOWN = 3;

function idOf(version: number, key: string): string {
  return `${String(version)} ${key}`;
}

function found(check: Check, segment: WatchSegment, what: string): Finding {
  const { watcher, view, replica, from, end } = segment;
  const text = `${watcher} of ${view} through replica ${String(replica)} after ${String(from)} (ended: ${end}): ${what}`;
  return { check, text };
}
