import type { Conflict, Revision, StoredRecord, WriteOutcome } from '../../backend';

/** What a store answers, with `offset` added to every revision. */

export function shiftedRecord({ key, value, revision }: StoredRecord, offset: number): StoredRecord {
  return { key, value, revision: revision + offset };
}

export function shiftedOutcome<T extends WriteOutcome | Conflict>(outcome: T, offset: number): T {
  const revision = outcome.revision + offset;
  if (outcome.ok || outcome.current === undefined) return { ...outcome, revision };
  return { ...outcome, revision, current: shiftedRecord(outcome.current, offset) };
}

export function shiftedRevision({ revision, events }: Revision, offset: number): Revision {
  return {
    revision: revision + offset,
    events: events.map((event) =>
      event.previous === undefined ? event : { ...event, previous: shiftedRecord(event.previous, offset) },
    ),
  };
}
