import type { ApiObject } from '../../../shared/object/object';
import type { Guard } from '../storage/backend';
import type { WriteNotes } from './write-notes';
import type { WriteRequest } from './write-request';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One attempt of a write as admission sees it. */
export interface AdmissionAttributes {
  /** The request, the same in all attempts. */
  readonly write: WriteRequest;
  /** State that plugins keep between attempts of the write. */
  readonly notes: WriteNotes;
  readonly operation: AdmissionOperation;
  /** Undefined for a deletion. */
  readonly object: ApiObject | undefined;
  /** Undefined for a creation. */
  readonly oldObject: ApiObject | undefined;
  /**
   * Makes the write fail if this other record changes before the object is stored. For repeated calls with
   * one key the last one counts. Absent for deletions; without effect for objects that are not stored
   * (operations, reviews).
   */
  readonly relyOn?: ((guard: Guard) => void) | undefined;
}

/**
 * A check of every attempt that is not a plugin. It refuses by throwing, and returns a promise only if it
 * has to wait.
 */
export type WriteCheck = (attributes: AdmissionAttributes, signal: AbortSignal) => Promise<void> | void;

/**
 * Runs in every attempt of a write, so that it always sees the object that will be stored. It refuses by
 * throwing.
 */
export interface Admission {
  /** May change the object, and returns the new one; undefined for a deletion. */
  mutate(
    attributes: AdmissionAttributes,
    signal: AbortSignal,
  ): Promise<ApiObject | undefined> | ApiObject | undefined;
  validate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void> | void;
}
