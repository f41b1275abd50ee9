import { createHash } from 'node:crypto';
import { STORE_BACKUP_HEAD } from '../../../../../shared/files/store-backup';
import type { Database } from './database';
import { onDisk, takeSnapshot } from './database';
import { decodeLogRow, decodeValueRow, logRowKey, valueRowKey } from './rows';
import { StorageError } from '../../backend';
import type { StoreState } from './store-state';

/** A store as it is when its first piece is read. */
export interface StoreBackup {
  /** Size of all pieces together, if there are no writes before the first one is read. */
  readonly bytes: number;
  /** Must be read to the end or returned once started. */
  readonly pieces: AsyncIterable<Buffer>;
}

/**
 * The current records of an open store, each as its log row and its value row with lengths before them, after the head and the newest revision
 * (64 bits), and before a SHA-256 of all that. Writes continue meanwhile; history is not included.
 */
export function backupOf({
  database,
  state,
}: {
  readonly database: Database;
  readonly state: StoreState;
}): StoreBackup {
  const { found: known } = state.index.find('', {});
  const bytes = known.reduce((sum, { key }) => sum + recordBytes(key, state), FIXED_BYTES);
  async function* pieces(): AsyncGenerator<Buffer> {
    // There is no await between the index and the snapshot, so both are of one moment. Without a reader no snapshot is taken.
    const { found } = state.index.find('', {});
    const revision = Buffer.alloc(REVISION_BYTES);
    revision.writeBigUInt64BE(BigInt(state.revision));
    const snapshot = takeSnapshot(database);
    const hash = createHash('sha256');
    const hashed = (piece: Buffer): Buffer => {
      hash.update(piece);
      return piece;
    };
    try {
      yield hashed(Buffer.concat([STORE_BACKUP_HEAD, revision]));
      for (let at = 0; at < found.length; at += RECORDS_PER_PIECE) {
        const revisions = found.slice(at, at + RECORDS_PER_PIECE).map((each) => each.revision);
        const keys = revisions.flatMap((each) => [logRowKey(each), valueRowKey(each)]);
        const rows = await onDisk(database.getMany(keys, { snapshot }));
        yield hashed(
          Buffer.concat(
            revisions.flatMap((each, index) => framed(each, rows[2 * index], rows[2 * index + 1])),
          ),
        );
      }
      yield hash.digest();
    } finally {
      await snapshot.close();
    }
  }
  return { bytes, pieces: pieces() };
}

export const REVISION_BYTES = 8;
export const CHECKSUM_BYTES = 32;
/** Before each record: the revision, and the lengths of its two rows. */
export const RECORD_HEAD_BYTES = REVISION_BYTES + 4 + 4;
const FIXED_BYTES = STORE_BACKUP_HEAD.length + REVISION_BYTES + CHECKSUM_BYTES;
/** A record has at most 1.5 MiB. */
const RECORDS_PER_PIECE = 32;
/** What a row has beside its key or its value. */
const LOG_ROW_BYTES = 33;
const VALUE_ROW_BYTES = 4;

function recordBytes(key: string, state: StoreState): number {
  const valueBytes = state.index.get(key)?.valueBytes ?? 0;
  return RECORD_HEAD_BYTES + LOG_ROW_BYTES + Buffer.byteLength(key) + VALUE_ROW_BYTES + valueBytes;
}

/** Throws `corrupt` if the store itself is damaged. */
function framed(revision: number, log: Buffer | undefined, value: Buffer | undefined): readonly Buffer[] {
  if (log === undefined || value === undefined)
    throw new StorageError('corrupt', `revision ${String(revision)} is missing from the store`);
  decodeLogRow(logRowKey(revision), log);
  decodeValueRow(revision, value);
  const head = Buffer.alloc(RECORD_HEAD_BYTES);
  head.writeBigUInt64BE(BigInt(revision));
  head.writeUInt32BE(log.length, REVISION_BYTES);
  head.writeUInt32BE(value.length, REVISION_BYTES + 4);
  return [head, log, value];
}
