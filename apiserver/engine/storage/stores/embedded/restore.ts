import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../../../shared/concurrency/clock';
import { STORE_BACKUP_FILE, STORE_BACKUP_HEAD } from '../../../../../shared/files/store-backup';
import type { Log } from '../../../../../shared/log/log';
import { offsetOfRestore } from '../../../../../shared/store-identity';
import { StorageError } from '../../backend';
import { CHECKSUM_BYTES, RECORD_HEAD_BYTES, REVISION_BYTES } from './backup';
import type { Database, RowWrite } from './database';
import { closeDatabase, onDisk, openDatabase } from './database';
import { historyMeta } from './loading';
import { encodeLogRow, logRowKey, valueRowKey } from './rows';

const NEW_RECORDS = 'records.new';
const READ_BYTES = 1024 * 1024;
const BATCH_BYTES = 4 * 1024 * 1024;
const MARK = 'restored';

/**
 * Makes the records of a store out of the backup in its directory, where there is one and the store has no records yet. Its newest revision is
 * above all that the store that was backed up can have given out. Throws a StorageError `corrupt` for a backup that is not whole.
 */
export async function restoreBackup(
  directory: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const file = join(directory, STORE_BACKUP_FILE);
  const records = join(directory, 'records');
  if (!existsSync(file)) return;
  if (existsSync(records)) {
    log.warn({ file }, 'the store has records already; the backup beside it is left alone');
    return;
  }
  const handle = await open(file, 'r');
  const fresh = join(directory, NEW_RECORDS);
  try {
    const { size } = await handle.stat();
    await checkWhole(handle, { file, size });
    await rm(fresh, { recursive: true, force: true });
    const database = await openDatabase(fresh, false);
    try {
      const restored = await copyRecords(handle, { database, end: size - CHECKSUM_BYTES, now: clock.now() });
      log.info({ file, ...restored }, 'the store was made out of a backup');
    } finally {
      await closeDatabase(database);
    }
  } finally {
    await handle.close();
  }
  await rename(fresh, records);
  await rm(file);
}

async function checkWhole(
  handle: FileHandle,
  { file, size }: { readonly file: string; readonly size: number },
): Promise<void> {
  const hash = createHash('sha256');
  const end = size - CHECKSUM_BYTES;
  for (let at = 0; at < end; at += READ_BYTES)
    hash.update(await bytesAt(handle, at, Math.min(READ_BYTES, end - at)));
  const head =
    end < STORE_BACKUP_HEAD.length ? undefined : await bytesAt(handle, 0, STORE_BACKUP_HEAD.length);
  const isWhole =
    head?.equals(STORE_BACKUP_HEAD) === true &&
    hash.digest().equals(await bytesAt(handle, end, CHECKSUM_BYTES));
  if (!isWhole)
    throw new StorageError('corrupt', `${file} is no whole backup of an embedded store; take another one`);
}

async function copyRecords(
  handle: FileHandle,
  { database, end, now }: { readonly database: Database; readonly end: number; readonly now: number },
): Promise<{ readonly records: number; readonly revision: number }> {
  let at = STORE_BACKUP_HEAD.length;
  const newest = Number((await bytesAt(handle, at, REVISION_BYTES)).readBigUInt64BE());
  at += REVISION_BYTES;
  let records = 0;
  let batch: RowWrite[] = [];
  let batched = 0;
  const write = async (): Promise<void> => {
    await onDisk(database.batch(batch, { sync: true }));
    batch = [];
    batched = 0;
  };
  while (at < end) {
    const head = await bytesAt(handle, at, RECORD_HEAD_BYTES);
    const revision = Number(head.readBigUInt64BE());
    const logBytes = head.readUInt32BE(REVISION_BYTES);
    const bytes = logBytes + head.readUInt32BE(REVISION_BYTES + 4);
    const rows = await bytesAt(handle, at + RECORD_HEAD_BYTES, bytes);
    batch.push(
      { type: 'put', key: logRowKey(revision), value: rows.subarray(0, logBytes) },
      { type: 'put', key: valueRowKey(revision), value: rows.subarray(logBytes) },
    );
    batched += bytes;
    records += 1;
    at += RECORD_HEAD_BYTES + bytes;
    if (batched >= BATCH_BYTES) await write();
  }
  // No revision below is readable: older resourceVersions are rejected as compacted.
  const revision = offsetOfRestore(newest, now);
  const mark = {
    revision,
    type: 'delete',
    key: MARK,
    previous: 0,
    expiresAt: 0,
    committedAt: now,
    valueBytes: 0,
  } as const;
  batch.push(
    { type: 'put', key: logRowKey(revision), value: encodeLogRow(mark) },
    historyMeta(revision, revision),
  );
  await write();
  return { records, revision };
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new StorageError('corrupt', 'the backup ends in the middle of a record');
  return buffer;
}
