import type { ApiObject } from '../../../shared/object/object';
import { Age } from '../columns/age';
import type { RowOf } from '../columns/cells';
import { at, nameOf, numberAt, textAt, textOr } from '../columns/read';

export const eventRow: RowOf = (event) => {
  const first = new Age(at(event, 'firstTimestamp') ?? at(event, 'eventTime'));
  return [
    lastSeen(event, first),
    textAt(event, 'type'),
    textAt(event, 'reason'),
    target(event),
    textAt(event, 'involvedObject', 'fieldPath'),
    source(event),
    textAt(event, 'message').trim(),
    first,
    count(event),
    nameOf(event),
  ];
};

function lastSeen(event: ApiObject, first: Age): Age {
  if (at(event, 'series') !== undefined) return new Age(at(event, 'series', 'lastObservedTime'));
  const last = new Age(at(event, 'lastTimestamp'));
  return last.isUnknown ? first : last;
}

/** An event that stands for itself has no count in the newer API. */
function count(event: ApiObject): number | bigint {
  if (at(event, 'series') !== undefined) return numberAt(event, 'series', 'count');
  const own = numberAt(event, 'count');
  return own === 0 ? 1 : own;
}

function target(event: ApiObject): string {
  const kind = textAt(event, 'involvedObject', 'kind').toLowerCase();
  const name = textAt(event, 'involvedObject', 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function source(event: ApiObject): string {
  const component = textOr(textAt(event, 'reportingComponent'), event, 'source', 'component');
  const instance = textOr(textAt(event, 'reportingInstance'), event, 'source', 'host');
  return instance === '' ? component : `${component}, ${instance}`;
}
