import type { ApiObject } from '../../../shared/object/object';
import type { Guard } from '../storage/backend';
import type { WriteNotes } from './write-notes';
import type { WriteRequest } from './write-request';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One attempt at a write as admission sees it. */
export interface AdmissionAttributes {
  /** What is asked for, and by whom: the same in all attempts. */
  readonly write: WriteRequest;
  /** What plugins remember of the write from one attempt to the next. */
  readonly notes: WriteNotes;
  readonly operation: AdmissionOperation;
  /** Undefined for a deletion. */
  readonly object: ApiObject | undefined;
  /** Undefined for a creation. */
  readonly oldObject: ApiObject | undefined;
  /**
   * Lets the object be stored only while this other object stays as it was judged. Of several calls for one object the last one counts.
   * Absent for deletions; of what is not stored at all (operations, reviews) it has no effect.
   */
  readonly relyOn?: ((guard: Guard) => void) | undefined;
}

/** A check of every attempt that is no plugin. Refuses by throwing; what need not wait is no promise. */
export type WriteCheck = (attributes: AdmissionAttributes, signal: AbortSignal) => Promise<void> | void;

/** Runs inside every attempt of a write, so that it always judges the object that will be stored. It refuses by throwing. */
export interface Admission {
  /** May change the object: returns what goes on. For a deletion it returns undefined. */
  mutate(
    attributes: AdmissionAttributes,
    signal: AbortSignal,
  ): Promise<ApiObject | undefined> | ApiObject | undefined;
  validate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void> | void;
}
