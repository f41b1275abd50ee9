import { crc32 } from 'node:zlib';
import { StorageError } from '../../backend';

/**
 * The layout on disk. Every revision has one log row `l<revision>`, and a put has a value row `v<revision>` beside it, so that
 * reading what happened does not read the values. A revision in a row key is a big-endian 64-bit integer: the order of the rows is
 * that of the revisions. Each row begins with a CRC-32 over its own key and everything after the checksum.
 */
export interface LogRow {
  readonly revision: number;
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The revision of the record before this one, or 0 when there was none. */
  readonly previous: number;
  /** When the record expires, in milliseconds since 1970, or 0 for never. */
  readonly expiresAt: number;
  /** Milliseconds since 1970. */
  readonly committedAt: number;
  readonly valueBytes: number;
}

const CHECKSUM_BYTES = 4;
const FIXED_BYTES = CHECKSUM_BYTES + 1 + 8 + 8 + 8 + 4;
const TYPES = ['put', 'delete'] as const;

export function logRowKey(revision: number): Buffer {
  return rowKey('l', revision);
}

export function valueRowKey(revision: number): Buffer {
  return rowKey('v', revision);
}

export function encodeLogRow(row: LogRow): Buffer {
  const bytes = Buffer.allocUnsafe(FIXED_BYTES + Buffer.byteLength(row.key));
  let at = bytes.writeUInt8(TYPES.indexOf(row.type), CHECKSUM_BYTES);
  at = bytes.writeDoubleBE(row.previous, at);
  at = bytes.writeDoubleBE(row.expiresAt, at);
  at = bytes.writeDoubleBE(row.committedAt, at);
  at = bytes.writeUInt32BE(row.valueBytes, at);
  bytes.write(row.key, at);
  return sealed(logRowKey(row.revision), bytes);
}

/** Throws `corrupt` when the bytes are not what was written. */
export function decodeLogRow(key: Uint8Array, stored: Uint8Array): LogRow {
  const revision = revisionOf(key);
  const bytes = opened(key, stored, `log row ${String(revision)}`);
  const type = TYPES[bytes.readUInt8(CHECKSUM_BYTES)];
  if (type === undefined)
    throw new StorageError('corrupt', `log row ${String(revision)} is of an unknown type`);
  return {
    revision,
    type,
    previous: bytes.readDoubleBE(CHECKSUM_BYTES + 1),
    expiresAt: bytes.readDoubleBE(CHECKSUM_BYTES + 9),
    committedAt: bytes.readDoubleBE(CHECKSUM_BYTES + 17),
    valueBytes: bytes.readUInt32BE(CHECKSUM_BYTES + 25),
    key: bytes.toString('utf8', FIXED_BYTES),
  };
}

export function encodeValueRow(revision: number, value: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(CHECKSUM_BYTES + value.length);
  bytes.set(value, CHECKSUM_BYTES);
  return sealed(valueRowKey(revision), bytes);
}

/** Throws `corrupt` when the row is missing or its bytes are not what was written. */
export function decodeValueRow(revision: number, stored: Uint8Array | undefined): Buffer {
  const name = `the value of revision ${String(revision)}`;
  if (stored === undefined) throw new StorageError('corrupt', `${name} is missing`);
  return opened(valueRowKey(revision), stored, name).subarray(CHECKSUM_BYTES);
}

/** A small value of the store itself, as JSON. */
export function encodeMetaRow(name: string, value: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(value));
  return sealed(metaRowKey(name), Buffer.concat([Buffer.alloc(CHECKSUM_BYTES), json]));
}

export function decodeMetaRow(name: string, stored: Uint8Array): unknown {
  return JSON.parse(opened(metaRowKey(name), stored, `the store's ${name}`).toString('utf8', CHECKSUM_BYTES));
}

export function metaRowKey(name: string): Buffer {
  return Buffer.from(`m${name}`);
}

function rowKey(table: string, revision: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key.write(table, 0, 'latin1');
  key.writeBigUInt64BE(BigInt(revision), 1);
  return key;
}

function revisionOf(key: Uint8Array): number {
  return Number(Buffer.from(key.buffer, key.byteOffset, key.byteLength).readBigUInt64BE(1));
}

function checksumOf(key: Uint8Array, bytes: Buffer): number {
  return crc32(bytes.subarray(CHECKSUM_BYTES), crc32(key));
}

function sealed(key: Buffer, bytes: Buffer): Buffer {
  bytes.writeUInt32BE(checksumOf(key, bytes), 0);
  return bytes;
}

function opened(key: Uint8Array, stored: Uint8Array, name: string): Buffer {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const isSound = bytes.length >= CHECKSUM_BYTES && bytes.readUInt32BE(0) === checksumOf(key, bytes);
  if (!isSound) throw new StorageError('corrupt', `${name} fails its checksum`);
  return bytes;
}
