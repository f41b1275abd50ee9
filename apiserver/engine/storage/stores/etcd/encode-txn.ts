import type { Compare, RequestOp, TxnRequest } from './proto';

const FRAME_HEAD_BYTES = 5;
/** More than the tags, lengths and numbers of a comparison or an operation take, a number taking 8 bytes at most. */
const PART_BYTES_MAX = 64;
const VARINT = 0;
const BYTES = 2;
const ONE_BYTE_MAX = 0x7f;

/**
 * The message of a transaction, with five free bytes before it for the head of its frame. Every write has one, so it is encoded here instead
 * of by protobufjs: backwards, so that the length of a part is known before it is written. The fields
 * are those of `MESSAGES`.
 */
export function encodeTxn({ compare, success, failure, encoded }: TxnRequest): Buffer {
  const writer = new BackwardWriter(
    FRAME_HEAD_BYTES + (encoded?.length ?? 0) + sizeOf(compare) + sizeOf(success) + sizeOf(failure),
  );
  if (encoded !== undefined) writer.raw(encoded);
  for (let at = failure.length - 1; at >= 0; at--) writeOperation(writer, 3, failure[at]);
  for (let at = success.length - 1; at >= 0; at--) writeOperation(writer, 2, success[at]);
  for (let at = compare.length - 1; at >= 0; at--) writeComparison(writer, compare[at]);
  return writer.withRoom(FRAME_HEAD_BYTES);
}

/** Encodes the common parts of several transactions, to be appended to each as `encoded`. */
export function encodeShared(shared: TxnRequest): Buffer {
  return encodeTxn(shared).subarray(FRAME_HEAD_BYTES);
}

/** No less than the parts take. */
function sizeOf(parts: readonly (Compare | RequestOp)[]): number {
  let size = 0;
  for (const part of parts) {
    size += PART_BYTES_MAX;
    if ('target' in part) size += part.key.length;
    else if (part.put !== undefined) size += part.put.key.length + part.put.value.length;
    else size += (part.range ?? part.deleteRange)?.key.length ?? 0;
  }
  return size;
}

function writeComparison(writer: BackwardWriter, compare: Compare | undefined): void {
  if (compare === undefined) return;
  const { end } = writer;
  const { version, createRevision, modRevision } = compare;
  if (modRevision !== undefined) writer.number(6, modRevision);
  if (createRevision !== undefined) writer.number(5, createRevision);
  if (version !== undefined) writer.number(4, version);
  writer.bytes(3, compare.key);
  writer.number(2, compare.target);
  writer.message(1, end);
}

function writeOperation(writer: BackwardWriter, field: number, operation: RequestOp | undefined): void {
  if (operation === undefined) return;
  const { end } = writer;
  const { put, range, deleteRange } = operation;
  if (put !== undefined) {
    if (put.lease !== undefined) writer.number(3, put.lease);
    writer.bytes(2, put.value);
    writer.bytes(1, put.key);
    writer.message(2, end);
  } else if (range !== undefined) {
    if (range.keysOnly === true) writer.number(8, 1);
    writer.bytes(1, range.key);
    writer.message(1, end);
  } else if (deleteRange !== undefined) {
    if (deleteRange.prevKv) writer.number(3, 1);
    writer.bytes(1, deleteRange.key);
    writer.message(3, end);
  }
  writer.message(field, end);
}

/** Fills a buffer from its end. Field numbers are below 16. */
class BackwardWriter {
  readonly #buffer: Buffer;
  /** The index of the first written byte. */
  #at: number;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
    this.#at = size;
  }

  /** Where a message ends whose fields are written next. */
  get end(): number {
    return this.#at;
  }

  /** What was written, with free bytes before it. */
  withRoom(freeBytes: number): Buffer {
    return this.#buffer.subarray(this.#at - freeBytes);
  }

  raw(bytes: Buffer): void {
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  bytes(field: number, bytes: Buffer): void {
    this.raw(bytes);
    this.#varint(bytes.length);
    this.#tag(field, BYTES);
  }

  /** The head of a message whose fields are already written. */
  message(field: number, end: number): void {
    this.#varint(end - this.#at);
    this.#tag(field, BYTES);
  }

  /** Whole, not negative. */
  number(field: number, value: number): void {
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  #tag(field: number, kind: number): void {
    this.#buffer[--this.#at] = (field << 3) | kind;
  }

  #varint(value: number): void {
    if (value > ONE_BYTE_MAX) {
      this.#longVarint(value);
      return;
    }
    this.#buffer[--this.#at] = value;
  }

  /** Its low bits come first, so its length has to be known. */
  #longVarint(value: number): void {
    let bytes = 1;
    for (let rest = value; rest > ONE_BYTE_MAX; rest = Math.floor(rest / 0x80)) bytes++;
    this.#at -= bytes;
    let at = this.#at;
    let rest = value;
    while (rest > ONE_BYTE_MAX) {
      this.#buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[at] = rest;
  }
}
