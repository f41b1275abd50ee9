/**
 * The identity of a store, recorded in the store itself. A new one begins when the store is replaced by an empty or older one, which
 * counts revisions again.
 */
export interface StoreIdentityRecord {
  /** Unique. */
  readonly id: string;
  /** Added to the store's revisions: at least the newest one seen before. */
  readonly offset: number;
}

/** The key of the record, below the prefix of the store. Keys of objects have more segments. */
export const STORE_IDENTITY_KEY = 'store-identity';

export function encodeStoreIdentity({ id, offset }: StoreIdentityRecord): Buffer {
  return Buffer.from(JSON.stringify({ id, offset }));
}

/** Returns the record, or what is wrong with the bytes. */
export function parseStoreIdentity(
  value: Buffer,
): StoreIdentityRecord | { readonly problem: string; readonly cause?: unknown } {
  let read: unknown;
  try {
    read = JSON.parse(value.toString('utf8'));
  } catch (cause) {
    return { problem: 'the identity record of the store is no JSON', cause };
  }
  const { id, offset } = Object(read) as { readonly id?: unknown; readonly offset?: unknown };
  if (typeof id === 'string' && id !== '' && Number.isSafeInteger(offset) && Number(offset) >= 0)
    return { id, offset: Number(offset) };
  return { problem: 'the identity record of the store lacks its id or its offset' };
}

/** Allowance for revisions that other replicas saw and this one did not. */
const UNSEEN_MAX = 1_000_000;
/** Offsets are round, so that the store's own revision can be read in the last digits. */
const STEP = 1_000_000_000;
const REVISIONS_PER_SECOND_MAX = 1_000_000;
const MS_PER_SECOND = 1_000;

/** The offset of a new identity after `seen`, the newest revision known. */
export function offsetAbove(seen: number): number {
  return Math.ceil((seen + UNSEEN_MAX) / STEP) * STEP;
}

/**
 * The same when no running replica knows what was given out after `seen`: counted by the clock, which is faster than any store accepts
 * writes, so that a later restore of the same backup is above an earlier one.
 */
export function offsetOfRestore(seen: number, nowMs: number): number {
  return Math.max(offsetAbove(seen), Math.ceil(nowMs / MS_PER_SECOND) * REVISIONS_PER_SECOND_MAX);
}
