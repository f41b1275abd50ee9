import { stringifyExact } from '../object/exact-text';
import type { FieldKind, FieldType, MessageType } from '../schema/types';
import { secondsOf } from './timestamp';
import { unionNumbers } from './union-fields';
import type { WireWriter } from './wire-writer';
import { WIRE } from './wire-writer';

/** Writes one value with its tag. Undefined and null mean the zero value. */
export type WriteElement = (writer: WireWriter, number: number, value: unknown) => void;

export type WriteMessage = (
  type: MessageType,
  writer: WireWriter,
  object: Readonly<Record<string, unknown>>,
) => void;

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({});

/** Returns the writer of one value of the field, or of one element of its list or map. */
export function elementWriter(field: FieldType, writeMessage: WriteMessage): WriteElement {
  const scalar = WRITERS[field.kind];
  if (scalar !== undefined) return scalar;
  const { message } = field;
  if (message === undefined) throw new Error(`field ${field.name} of type ${field.kind} has no message`);
  if (field.kind === 'message') return messageWriter(message, writeMessage);
  return unionWriter(field.kind, message, writeMessage);
}

function messageWriter(type: MessageType, writeMessage: WriteMessage): WriteElement {
  return (writer, number, value) => {
    const mark = writer.length;
    writeMessage(
      type,
      writer,
      typeof value === 'object' && value !== null ? (value as typeof NOTHING) : NOTHING,
    );
    writer.delimit(number, mark);
  };
}

const WRITERS: Readonly<Partial<Record<FieldKind, WriteElement>>> = {
  string: (writer, number, value) => {
    writeString(writer, number, typeof value === 'string' ? value : '');
  },
  bool: (writer, number, value) => {
    writeInt(writer, number, value === true ? 1 : 0);
  },
  int32: writeInteger,
  int64: writeInteger,
  double: (writer, number, value) => {
    writer.double(typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0);
    writer.tag(number, WIRE.fixed64);
  },
  bytes: (writer, number, value) => {
    const mark = writer.length;
    if (typeof value === 'string') writer.bytes(Buffer.from(value, 'base64'));
    writer.delimit(number, mark);
  },
  time: writeTime,
  microTime: writeTime,
  quantity: (writer, number, value) => {
    const mark = writer.length;
    writeString(writer, 1, typeof value === 'string' ? value : '0');
    writer.delimit(number, mark);
  },
  intOrString: (writer, number, value) => {
    const mark = writer.length;
    writeString(writer, 3, typeof value === 'string' ? value : '');
    writeInt(writer, 2, typeof value === 'number' ? value : 0);
    writeInt(writer, 1, typeof value === 'string' ? 1 : 0);
    writer.delimit(number, mark);
  },
  rawExtension: writeJson,
  fieldsV1: writeJson,
  json: writeJson,
  stringList: (writer, number, value) => {
    const mark = writer.length;
    if (Array.isArray(value)) writeStrings(writer, 1, value);
    writer.delimit(number, mark);
  },
};

function writeString(writer: WireWriter, number: number, text: string): void {
  const mark = writer.length;
  writer.string(text);
  writer.delimit(number, mark);
}

function writeInt(writer: WireWriter, number: number, value: number | bigint): void {
  writer.int64(value);
  writer.tag(number, WIRE.varint);
}

function writeInteger(writer: WireWriter, number: number, value: unknown): void {
  writeInt(writer, number, typeof value === 'number' || typeof value === 'bigint' ? value : 0);
}

function writeStrings(writer: WireWriter, number: number, list: readonly unknown[]): void {
  for (let index = list.length - 1; index >= 0; index -= 1) writeString(writer, number, String(list[index]));
}

/** Writes seconds and nanoseconds; nothing for the zero time. */
function writeTime(writer: WireWriter, number: number, value: unknown): void {
  const mark = writer.length;
  if (typeof value === 'string') {
    const { seconds, nanos } = secondsOf(value);
    writeInt(writer, 2, nanos);
    writeInt(writer, 1, seconds);
  }
  writer.delimit(number, mark);
}

/** Writes a message whose single field is the value's JSON; empty for null. */
function writeJson(writer: WireWriter, number: number, value: unknown): void {
  const mark = writer.length;
  if (value !== undefined && value !== null) writeString(writer, 1, jsonOf(value));
  writer.delimit(number, mark);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError && /BigInt/.test(error.message)) return stringifyExact(value);
    throw error;
  }
}

/** Returns the writer of a schema union, which has a Protobuf field for each JSON form. */
function unionWriter(kind: FieldKind, union: MessageType, writeMessage: WriteMessage): WriteElement {
  const { schema, schemas, strings, allows, schemaType } = unionNumbers(union);
  const writeSchema = messageWriter(schemaType, writeMessage);
  return (writer, number, value) => {
    const mark = writer.length;
    const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (Array.isArray(value)) {
      if (kind === 'schemaOrStringArray') writeStrings(writer, strings, value);
      else
        for (let index = value.length - 1; index >= 0; index -= 1) writeSchema(writer, schemas, value[index]);
    }
    if (isSchema) writeSchema(writer, schema, value);
    if (kind === 'schemaOrBool') writeInt(writer, allows, isSchema || value === true ? 1 : 0);
    writer.delimit(number, mark);
  };
}
