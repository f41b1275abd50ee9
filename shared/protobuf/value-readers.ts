import { decodeJson } from '../schema/decode';
import { DecodeError } from '../schema/decode-error';
import type { FieldKind } from '../schema/types';
import { timeText } from './timestamp';
import { WireReader } from './wire-reader';
import { WIRE } from './wire-writer';

/** Reader of one type of value that is not a message in JSON. */
export interface ScalarReader {
  readonly wire: number;
  readonly read: (reader: WireReader) => unknown;
}

const BYTES_TAG_1 = 1 * 8 + WIRE.bytes;
const VARINT_TAG_1 = 1 * 8 + WIRE.varint;
const VARINT_TAG_2 = 2 * 8 + WIRE.varint;
const BYTES_TAG_3 = 3 * 8 + WIRE.bytes;

/** Deepest nesting of JSON inside a message, such as managedFields or an object of any kind. */
const EMBEDDED_DEPTH_MAX = 500;

export const SCALAR_READERS: Readonly<Partial<Record<FieldKind, ScalarReader>>> = {
  string: { wire: WIRE.bytes, read: (reader) => reader.string() },
  bool: { wire: WIRE.varint, read: (reader) => reader.bool() },
  int32: { wire: WIRE.varint, read: (reader) => reader.int32() },
  int64: { wire: WIRE.varint, read: (reader) => reader.int64() },
  double: { wire: WIRE.fixed64, read: (reader) => reader.double() },
  bytes: { wire: WIRE.bytes, read: (reader) => reader.base64() },
  time: { wire: WIRE.bytes, read: (reader) => readTime(reader, { micro: false }) },
  microTime: { wire: WIRE.bytes, read: (reader) => readTime(reader, { micro: true }) },
  quantity: { wire: WIRE.bytes, read: readQuantity },
  intOrString: { wire: WIRE.bytes, read: readIntOrString },
  rawExtension: { wire: WIRE.bytes, read: readJson },
  fieldsV1: { wire: WIRE.bytes, read: readJson },
  json: { wire: WIRE.bytes, read: readJson },
  stringList: { wire: WIRE.bytes, read: readStringList },
};

function readTime(outer: WireReader, options: { readonly micro: boolean }): string | null {
  const reader = new WireReader(outer.slice());
  if (reader.isAtEnd) return null;
  let seconds: number | bigint = 0;
  let nanos = 0;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === VARINT_TAG_1) seconds = reader.int64();
    else if (tag === VARINT_TAG_2) nanos = reader.int32();
    else reader.skip(tag);
  }
  const text = timeText({ seconds: Number(seconds), nanos: options.micro ? nanos : 0 }, options);
  if (text === undefined) throw new DecodeError('a time outside the years 1 to 9999');
  return text;
}

function readQuantity(outer: WireReader): string {
  const reader = new WireReader(outer.slice());
  let text = '';
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === BYTES_TAG_1) text = reader.string();
    else reader.skip(tag);
  }
  return text === '' ? '0' : text;
}

function readIntOrString(outer: WireReader): number | string {
  const reader = new WireReader(outer.slice());
  let type = 0;
  let number = 0;
  let text = '';
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === VARINT_TAG_1) type = reader.int32();
    else if (tag === VARINT_TAG_2) number = reader.int32();
    else if (tag === BYTES_TAG_3) text = reader.string();
    else reader.skip(tag);
  }
  if (type !== 0 && type !== 1)
    throw new DecodeError(`type ${String(type)} is neither an integer nor a string`);
  return type === 0 ? number : text;
}

/** Reads the JSON in the single field of a message; null when there is none. */
function readJson(outer: WireReader): unknown {
  const reader = new WireReader(outer.slice());
  let raw: Buffer | undefined;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === BYTES_TAG_1) raw = reader.slice();
    else reader.skip(tag);
  }
  return raw === undefined || raw.length === 0 ? null : decodeJson(raw, { depthMax: EMBEDDED_DEPTH_MAX });
}

function readStringList(outer: WireReader): readonly string[] {
  const reader = new WireReader(outer.slice());
  const list: string[] = [];
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === BYTES_TAG_1) list.push(reader.string());
    else reader.skip(tag);
  }
  return list;
}
