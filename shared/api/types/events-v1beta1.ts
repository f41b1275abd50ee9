// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { MicroTime, Time } from '../../object/values';
import type { EventSource, ObjectReference } from './core-v1';
import type { ListMeta, ObjectMeta } from './meta-v1';

/** Something that happened to an object, kept for a while. */
export type Event = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly eventTime: MicroTime | null;
  readonly series?: EventSeries;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type?: string;
  readonly deprecatedSource: EventSource;
  readonly deprecatedFirstTimestamp: Time | null;
  readonly deprecatedLastTimestamp: Time | null;
  readonly deprecatedCount?: number;
};

/** A list of objects of the kind Event. */
export type EventList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Event[] | null;
};

export type EventSeries = {
  readonly count: number;
  readonly lastObservedTime: MicroTime | null;
};
