import { fieldsOf, integer, text } from '../../../shared/object/accessors';
import { StorageError } from '../backend';

/**
 * One line of history of a store, as it is written down in the store itself. Another one begins when the store is replaced by an empty or
 * an older one: from there on the store counts revisions that it has given out before.
 */
export interface LineageRecord {
  /** No two lines of history have the same. */
  readonly id: string;
  /** What is added to the store's revisions: at least the newest that was seen of the lines before. */
  readonly offset: number;
}

export function encodeLineage({ id, offset }: LineageRecord): Buffer {
  return Buffer.from(JSON.stringify({ id, offset }));
}

/** Throws a StorageError `corrupt` for bytes that are no record of a lineage. */
export function decodeLineage(value: Buffer): LineageRecord {
  let fields: ReturnType<typeof fieldsOf<LineageRecord>>;
  try {
    fields = fieldsOf<LineageRecord>(JSON.parse(value.toString('utf8')));
  } catch (cause) {
    throw new StorageError('corrupt', "the record of the store's identity is no JSON", { cause });
  }
  const [id, offset] = [text(fields.id), integer(fields.offset)];
  if (id !== '' && offset !== undefined && offset >= 0) return { id, offset };
  throw new StorageError('corrupt', "the record of the store's identity lacks its id or its offset");
}

/** So much may have been acknowledged by others beyond what is known here. */
const UNSEEN_MAX = 1_000_000;
/** Offsets are round, so that the store's own revision can be read in the last digits. */
const STEP = 1_000_000_000;

/** The offset of a line of history that begins where `seen` was the newest revision known. */
export function offsetAbove(seen: number): number {
  return Math.ceil((seen + UNSEEN_MAX) / STEP) * STEP;
}
