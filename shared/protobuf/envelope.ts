import { DecodeError } from '../schema/decode-error';
import { WireReader } from './wire-reader';
import { WireWriter } from './wire-writer';

/** Magic number of every Protobuf document of the API: `k8s` and a zero byte, in both dialects. */
const PROTOBUF_MAGIC: Buffer = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The message `runtime.Unknown`, which carries an object and its kind. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

const TYPE_META = 1;
const RAW = 2;
const API_VERSION = 1;
const KIND = 2;
/** Empty contentEncoding and contentType, which Go's encoder writes. */
const TAIL = Buffer.from([0x1a, 0x00, 0x22, 0x00]);

/**
 * Returns the bytes before and after an object of `rawBytes` bytes, for objects that are not in one buffer.
 * The three together are one document.
 */
export function envelopeAround(
  { apiVersion, kind }: Pick<Envelope, 'apiVersion' | 'kind'>,
  rawBytes: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const writer = new WireWriter();
  writer.uint32(rawBytes);
  writer.tag(RAW, 2);
  const mark = writer.length;
  writeText(writer, KIND, kind);
  writeText(writer, API_VERSION, apiVersion);
  writer.delimit(TYPE_META, mark);
  writer.bytes(PROTOBUF_MAGIC);
  return { head: writer.take(), tail: TAIL };
}

/** Wraps an object into a document. */
export function wrapEnvelope(envelope: Envelope): Buffer {
  const { head, tail } = envelopeAround(envelope, envelope.raw.length);
  return Buffer.concat([head, envelope.raw, tail]);
}

/**
 * Unwraps a document; `raw` is a view of the bytes. Throws DecodeError when the magic is missing or the
 * message is malformed.
 */
export function unwrapEnvelope(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!bytes.subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)) {
    throw new DecodeError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  const reader = new WireReader(bytes.subarray(PROTOBUF_MAGIC.length));
  let typeMeta = { apiVersion: '', kind: '' };
  let raw: Buffer = bytes.subarray(0, 0);
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === TYPE_META * 8 + 2) typeMeta = readTypeMeta(reader.slice());
    else if (tag === RAW * 8 + 2) raw = reader.slice();
    else reader.skip(tag);
  }
  return { ...typeMeta, raw };
}

function readTypeMeta(bytes: Buffer): { readonly apiVersion: string; readonly kind: string } {
  const reader = new WireReader(bytes);
  let apiVersion = '';
  let kind = '';
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === API_VERSION * 8 + 2) apiVersion = reader.string();
    else if (tag === KIND * 8 + 2) kind = reader.string();
    else reader.skip(tag);
  }
  return { apiVersion, kind };
}

function writeText(writer: WireWriter, number: number, text: string): void {
  const mark = writer.length;
  writer.string(text);
  writer.delimit(number, mark);
}
