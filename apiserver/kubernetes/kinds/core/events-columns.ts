import type { Event } from '../../../../shared/api/types/core-v1';
import { Age } from '../../../engine/registry/object-table';
import { NAME } from '../columns/common';
import { derivedTableOf } from '../columns/table';

export const eventTable = derivedTableOf(
  ({ firstTimestamp, eventTime }: Event) => new Age(firstTimestamp ?? eventTime),
  [
    { name: 'Last Seen', cell: lastSeen },
    { name: 'Type', cell: ({ type = '' }) => type },
    { name: 'Reason', cell: ({ reason = '' }) => reason },
    { name: 'Object', cell: target },
    { name: 'Subobject', isWide: true, cell: ({ involvedObject }) => involvedObject.fieldPath ?? '' },
    { name: 'Source', isWide: true, cell: source },
    { name: 'Message', cell: ({ message = '' }) => message.trim() },
    { name: 'First Seen', isWide: true, cell: (_event, first) => first },
    { name: 'Count', isWide: true, cell: count },
    { ...NAME, isWide: true },
  ],
);

function lastSeen({ series, lastTimestamp }: Event, first: Age): Age {
  if (series !== undefined) return new Age(series.lastObservedTime);
  const last = new Age(lastTimestamp);
  return last.isUnknown ? first : last;
}

/** An event that stands for itself has no count in the newer API, and in a series v1.21 takes the first one for not counted. */
function count({ series, count: own = 0 }: Event): number {
  if (series !== undefined) return (series.count ?? 0) + 1;
  return own === 0 ? 1 : own;
}

function target({ involvedObject: { kind = '', name = '' } }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function source({ source: { component, host }, reportingComponent, reportingInstance }: Event): string {
  const who = component ?? reportingComponent;
  const where = host ?? reportingInstance;
  return where === '' ? who : `${who}, ${where}`;
}
