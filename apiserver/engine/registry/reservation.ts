import type { ApiObject } from '../../../shared/object/object';

/** Resources outside an object that a write of it must hold first. A kind requests them by name. */
export const RESERVED = ['service addresses'] as const;
export type Reserved = (typeof RESERVED)[number];

/** One attempt to write an object. */
export interface ReservedWrite {
  /** The object as it would be stored; undefined when it is removed. */
  readonly next: ApiObject | undefined;
  readonly previous: ApiObject | undefined;
  readonly namespace: string;
  readonly name: string;
  /** Nothing may be taken or given back. */
  readonly dryRun: boolean;
}

/**
 * What one attempt holds. Exactly one of `commit` and `release` is called, when the outcome of the attempt
 * is known.
 */
export interface Reservation {
  /** The object with what was reserved filled in; undefined when it is removed. */
  readonly object: ApiObject | undefined;
  /** The write happened at this revision: releases what the object no longer uses. Never throws. */
  commit(revision: number): Promise<void>;
  /** Nothing was written: releases what this attempt took. Never throws. */
  release(): Promise<void>;
}

/**
 * Reserves what the next object needs. Throws a StatusError, with nothing held, if it is not available. An
 * attempt with an unknown outcome is neither committed nor released: a repair loop checks later what became
 * of the object.
 */
export type Reserver = (write: ReservedWrite, signal: AbortSignal) => Promise<Reservation>;
