import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { STORE_BACKUP_HEAD } from '../../../shared/files/store-backup';
import type { SnapshotPiece } from '../etcd/members';

export type BackedUpStore = 'etcd' | 'embedded';

/** A snapshot that is on disk as a whole, and whose checksum is right. */
export interface CheckedSnapshot {
  /** Of what it is a backup. */
  readonly store: BackedUpStore;
  readonly bytes: number;
  /** Of the database without the checksum at its end, in hexadecimal; the file's last 32 bytes are the same. */
  readonly sha256: string;
}

/** etcd puts the SHA-256 of the database after it, which is a whole number of pages. */
const CHECKSUM_BYTES = 32;
const PAGE_BYTES = 512;
const READ_BYTES = 1_024 * 1_024;
/** It holds every Secret. */
const MODE = 0o600;

/**
 * Writes a snapshot beside `file`, and gives it its name when it is whole, checked and on disk; an older file of that name is replaced
 * then. Tells how much has come after each piece.
 */
export async function saveSnapshot(
  pieces: AsyncIterable<SnapshotPiece>,
  file: string,
  progress: (bytes: number, remaining: number) => void,
): Promise<CheckedSnapshot> {
  const part = `${file}.part`;
  try {
    const handle = await open(part, 'w', MODE);
    try {
      let bytes = 0;
      for await (const piece of pieces) {
        await handle.writeFile(piece.bytes);
        bytes += piece.bytes.length;
        progress(bytes, piece.remaining);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const checked = await checkSnapshot(part);
    await rename(part, file);
    return checked;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Rejects, with a sentence that says so, where the file is no snapshot of etcd, was cut, or has changed. */
export async function checkSnapshot(file: string): Promise<CheckedSnapshot> {
  const handle = await open(file, 'r');
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${file} is no file`);
    const { size } = stat;
    const store = await storeOf(handle);
    if (store === 'etcd' && (size < PAGE_BYTES || size % PAGE_BYTES !== CHECKSUM_BYTES))
      throw new Error(
        `${file} is no whole snapshot of etcd: it was cut, or is something else; take another one`,
      );
    const sha256 = await digestOf(handle, size - CHECKSUM_BYTES);
    const { buffer: kept } = await handle.read(
      Buffer.alloc(CHECKSUM_BYTES),
      0,
      CHECKSUM_BYTES,
      size - CHECKSUM_BYTES,
    );
    if (kept.toString('hex') !== sha256)
      throw new Error(
        `${file} has changed since it was taken, or was cut: its checksum is wrong; take another one`,
      );
    return { store, bytes: size, sha256 };
  } finally {
    await handle.close();
  }
}

async function storeOf(handle: FileHandle): Promise<BackedUpStore> {
  const { length } = STORE_BACKUP_HEAD;
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.equals(STORE_BACKUP_HEAD) ? 'embedded' : 'etcd';
}

async function digestOf(handle: FileHandle, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(READ_BYTES);
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BYTES, bytes - at), at);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}
