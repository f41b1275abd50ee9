import type { MessageType } from '../schema/types';
import type { WriteElement } from './value-writers';
import { elementWriter } from './value-writers';
import { sortedKeys } from '../schema/string-map';
import type { FieldType } from '../schema/types';
import { WireWriter, WIRE } from './wire-writer';
import type { ReadonlyJson } from '../object/json';

/** Writes one field of the object with its tag, or nothing. */
type WriteField = (writer: WireWriter, object: ReadonlyJson) => void;

/**
 * Encodes an object in the canonical form of `decodeObject` as Protobuf, byte for byte as Go's generated code
 * does: fields by number, map entries by key, and zero values of fields without a pointer. `kind` and
 * `apiVersion` are not part of it; see `wrapEnvelope`.
 */
export function encodeProtobuf(type: MessageType, object: object): Buffer {
  const writer = spare ?? new WireWriter();
  spare = undefined;
  try {
    writeMessage(type, writer, object as ReadonlyJson);
    return writer.take();
  } finally {
    writer.reset();
    spare = writer;
  }
}

/** The writer of the last call, reused because its buffer has grown to the usual size. */
let spare: WireWriter | undefined;

function writeMessage(type: MessageType, writer: WireWriter, object: ReadonlyJson): void {
  for (const write of planOf(type)) write(writer, object);
}

const plans = new WeakMap<MessageType, readonly WriteField[]>();

/** Orders fields by falling number, because messages are written from their end. */
function planOf(type: MessageType): readonly WriteField[] {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = type.declared.toSorted((a, b) => b.number - a.number).map(fieldWriter);
    plans.set(type, plan);
  }
  return plan;
}

function fieldWriter(field: FieldType): WriteField {
  if (field.inline) return inlineWriter(field);
  const element = elementWriter(field, writeMessage);
  if (field.list) return listWriter(field, element);
  if (field.map) return mapWriter(field, element);
  return singleWriter(field, element);
}

/**
 * Writes an inlined message, whose fields are in the parent in JSON and in a message of their own in Protobuf.
 */
function inlineWriter({ message, number }: FieldType): WriteField {
  if (message === undefined) throw new Error('an inlined field has no message');
  return (writer, object) => {
    const mark = writer.length;
    writeMessage(message, writer, object);
    writer.delimit(number, mark);
  };
}

/**
 * Bytes and lists of strings are slices in Go, absent when nil. All other values without a pointer are always
 * written.
 */
function singleWriter({ name, number, kind, pointer }: FieldType, element: WriteElement): WriteField {
  const mayBeAbsent = pointer || kind === 'bytes' || kind === 'stringList';
  return (writer, object) => {
    const value = object[name];
    if (mayBeAbsent && (value === undefined || value === null)) return;
    element(writer, number, value);
  };
}

function listWriter({ name, number }: FieldType, element: WriteElement): WriteField {
  return (writer, object) => {
    const list = object[name];
    if (!Array.isArray(list)) return;
    for (let index = list.length - 1; index >= 0; index -= 1) element(writer, number, list[index]);
  };
}

const MAP_KEY = 1;
const MAP_VALUE = 2;

function mapWriter({ name, number, kind }: FieldType, element: WriteElement): WriteField {
  return (writer, object) => {
    const map = object[name];
    if (typeof map !== 'object' || map === null) return;
    const keys = sortedKeys(map);
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] ?? '';
      const value = (map as ReadonlyJson)[key];
      const mark = writer.length;
      if (kind !== 'bytes' || (value !== undefined && value !== null)) element(writer, MAP_VALUE, value);
      const keyMark = writer.length;
      writer.string(key);
      writer.uint32(writer.length - keyMark);
      writer.tag(MAP_KEY, WIRE.bytes);
      writer.delimit(number, mark);
    }
  };
}
