/**
 * One line of history of a store, as it is written down in the store itself. Another one begins when the store is replaced by an empty or
 * an older one: from there on the store counts revisions that it has given out before.
 */
export interface StoreIdentityRecord {
  /** No two lines of history have the same. */
  readonly id: string;
  /** What is added to the store's revisions: at least the newest that was seen of the lines before. */
  readonly offset: number;
}

/** The key of the record, below the prefix of the store. No object has it: those lie in folders. */
export const STORE_IDENTITY_KEY = 'store-identity';

export function encodeStoreIdentity({ id, offset }: StoreIdentityRecord): Buffer {
  return Buffer.from(JSON.stringify({ id, offset }));
}

/** What is wrong with the bytes, or the record. */
export function parseStoreIdentity(
  value: Buffer,
): StoreIdentityRecord | { readonly problem: string; readonly cause?: unknown } {
  let read: unknown;
  try {
    read = JSON.parse(value.toString('utf8'));
  } catch (cause) {
    return { problem: "the record of the store's identity is no JSON", cause };
  }
  const { id, offset } = Object(read) as { readonly id?: unknown; readonly offset?: unknown };
  if (typeof id === 'string' && id !== '' && Number.isSafeInteger(offset) && Number(offset) >= 0)
    return { id, offset: Number(offset) };
  return { problem: "the record of the store's identity lacks its id or its offset" };
}

/** So much may have been acknowledged by others beyond what is known here. */
const UNSEEN_MAX = 1_000_000;
/** Offsets are round, so that the store's own revision can be read in the last digits. */
const STEP = 1_000_000_000;
const REVISIONS_PER_SECOND_MAX = 1_000_000;
const MS_PER_SECOND = 1_000;

/** The offset of a line of history that begins where `seen` was the newest revision known. */
export function offsetAbove(seen: number): number {
  return Math.ceil((seen + UNSEEN_MAX) / STEP) * STEP;
}

/**
 * The same where nobody knows what was given out after `seen`, because all that was running is gone: counted by the clock, which is faster than
 * any store takes writes, so that a later restore of the same backup is above an earlier one.
 */
export function offsetOfRestore(seen: number, nowMs: number): number {
  return Math.max(offsetAbove(seen), Math.ceil(nowMs / MS_PER_SECOND) * REVISIONS_PER_SECOND_MAX);
}
