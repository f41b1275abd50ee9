import type { ApiObject } from '../../../shared/object/object';

/** Things outside an object that a write of it must hold first, by the name under which a kind's row asks for them. */
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

/** What one attempt holds. Exactly one of `commit` and `release` is called, once the attempt's outcome is known. */
export interface Reservation {
  /** The object with what was reserved filled in; undefined when it is removed. */
  readonly object: ApiObject | undefined;
  /** The write happened at this revision: lets go of what the object no longer uses. Never throws. */
  commit(revision: number): Promise<void>;
  /** Nothing was written: gives back what this attempt took. Never throws. */
  release(): Promise<void>;
}

/**
 * Takes what the next object needs. Throws a StatusError, with nothing held, when it cannot be had. An attempt whose outcome is
 * unknown is neither committed nor released: what it holds stays until repair has seen what became of the object.
 */
export type Reserver = (write: ReservedWrite, signal: AbortSignal) => Promise<Reservation>;
