import { DecodeError } from '../schema/decode-error';
import { createStringMap, setKey } from '../schema/string-map';
import type { FieldKind, FieldType, MessageType } from '../schema/types';
import { unionNumbers } from './union-fields';
import type { ScalarReader } from './value-readers';
import { SCALAR_READERS } from './value-readers';
import { WireReader } from './wire-reader';
import { WIRE } from './wire-writer';
import type { JsonObject } from '../object/clone';

/** Deepest nesting of messages. Only the schemas of custom resources can nest without limit. */
export const PROTOBUF_DEPTH_MAX = 500;
/**
 * Largest number of values (messages, list elements, map entries) in one document. An empty message takes two
 * bytes on the wire and some hundred in memory, so the body size is no bound.
 */
export const PROTOBUF_VALUES_MAX = 250_000;

interface Decoding {
  readonly reader: WireReader;
  depth: number;
  values: number;
}

/** Reads the value of one field after its tag, and puts it into the object. */
type ReadField = (decoding: Decoding, target: JsonObject, wire: number) => void;
/** Reads one value; `before` is the former value of the field. */
type ReadElement = (decoding: Decoding, before: unknown) => unknown;

/**
 * Decodes a Protobuf message into the shape of its JSON form. Unknown fields are dropped, and fields that are
 * not on the wire are absent. Only the wire format is checked; `decodeObject` checks the rest, as for JSON.
 * Throws DecodeError. The caller bounds the size.
 */
export function decodeProtobuf(type: MessageType, bytes: Buffer): Record<string, unknown> {
  const target: JsonObject = {};
  readMessage(type, { reader: new WireReader(bytes), depth: 0, values: 0 }, target);
  return target;
}

/** Reads up to the end of the reader. As Protobuf requires, a message that comes in several parts is merged. */
function readMessage(type: MessageType, decoding: Decoding, target: JsonObject): void {
  if (decoding.depth >= PROTOBUF_DEPTH_MAX) throw new DecodeError('nested too deep');
  decoding.depth += 1;
  const plan = planOf(type);
  const { reader } = decoding;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    const field = plan.get(tag >>> 3);
    if (field === undefined) reader.skip(tag);
    else {
      count(decoding);
      field(decoding, target, tag & 7);
    }
  }
  decoding.depth -= 1;
}

function count(decoding: Decoding): void {
  decoding.values += 1;
  if (decoding.values > PROTOBUF_VALUES_MAX) {
    throw new DecodeError(`more than ${String(PROTOBUF_VALUES_MAX)} values`);
  }
}

const plans = new WeakMap<MessageType, ReadonlyMap<number, ReadField>>();

function planOf(type: MessageType): ReadonlyMap<number, ReadField> {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = new Map(type.declared.map((field) => [field.number, located(field, fieldReader(field))]));
    plans.set(type, plan);
  }
  return plan;
}

/** Adds the field's path to errors, as the JSON decoder does. */
function located({ name, inline }: FieldType, read: ReadField): ReadField {
  if (inline) return read;
  return (decoding, target, wire) => {
    try {
      read(decoding, target, wire);
    } catch (error) {
      throw error instanceof DecodeError ? error.locate(name) : error;
    }
  };
}

function fieldReader(field: FieldType): ReadField {
  const { name } = field;
  if (field.inline) return inlineReader(field);
  const scalar = SCALAR_READERS[field.kind];
  const wire = scalar?.wire ?? WIRE.bytes;
  const element = elementReader(field, scalar);
  if (field.map) return mapReader(name, element, { wire, zero: zeroOf(field.kind) });
  if (!field.list) {
    return (decoding, target, given) => {
      checkWire(given, wire);
      target[name] = element(decoding, target[name]);
    };
  }
  return (decoding, target, given) => {
    const list = listAt(target, name);
    if (given === WIRE.bytes && wire !== WIRE.bytes) readPacked(decoding, element, list);
    else {
      checkWire(given, wire);
      list.push(element(decoding, undefined));
    }
  };
}

function elementReader(field: FieldType, scalar: ScalarReader | undefined): ReadElement {
  if (scalar !== undefined) return ({ reader }) => scalar.read(reader);
  const { message, kind } = field;
  if (message === undefined) throw new Error(`field ${field.name} of type ${kind} has no message`);
  return kind === 'message' ? messageReader(message) : unionReader(kind, message);
}

function messageReader(type: MessageType): ReadElement {
  return (decoding, before) => {
    const target: JsonObject = typeof before === 'object' && before !== null ? (before as JsonObject) : {};
    within(decoding, () => {
      readMessage(type, decoding, target);
    });
    return target;
  };
}

/** Runs `read` with the reader limited to the next length-delimited value. */
function within({ reader }: Decoding, read: () => void): void {
  const size = reader.size();
  const { end } = reader;
  reader.end = reader.at + size;
  read();
  reader.end = end;
}

function inlineReader({ message, name }: FieldType): ReadField {
  if (message === undefined) throw new Error(`the inlined field ${name} has no message`);
  return (decoding, target, wire) => {
    checkWire(wire, WIRE.bytes);
    within(decoding, () => {
      readMessage(message, decoding, target);
    });
  };
}

function readPacked(decoding: Decoding, element: ReadElement, list: unknown[]): void {
  within(decoding, () => {
    while (!decoding.reader.isAtEnd) {
      count(decoding);
      list.push(element(decoding, undefined));
    }
  });
}

const MAP_KEY_TAG = 1 * 8 + WIRE.bytes;
const MAP_VALUE = 2;

function mapReader(
  name: string,
  element: ReadElement,
  value: { readonly wire: number; readonly zero: unknown },
): ReadField {
  return (decoding, target, given) => {
    checkWire(given, WIRE.bytes);
    const map = (target[name] ??= createStringMap()) as JsonObject;
    let key = '';
    let entry: unknown = undefined;
    within(decoding, () => {
      const { reader } = decoding;
      while (!reader.isAtEnd) {
        const tag = reader.tag();
        if (tag === MAP_KEY_TAG) key = reader.string();
        else if (tag === MAP_VALUE * 8 + value.wire) entry = element(decoding, entry);
        else reader.skip(tag);
      }
    });
    setKey(map, key, entry === undefined ? zeroCopy(value.zero) : entry);
  };
}

/** Returns the value of a map entry without one. */
function zeroOf(kind: FieldKind): unknown {
  if (kind === 'message') return {};
  if (kind === 'string' || kind === 'bytes') return '';
  return kind === 'stringList' ? [] : null;
}

function zeroCopy(zero: unknown): unknown {
  if (Array.isArray(zero)) return [];
  return typeof zero === 'object' && zero !== null ? {} : zero;
}

function listAt(target: JsonObject, name: string): unknown[] {
  const known = target[name];
  if (Array.isArray(known)) return known;
  const list: unknown[] = [];
  target[name] = list;
  return list;
}

function checkWire(given: number, wanted: number): void {
  if (given !== wanted) throw new DecodeError(`wire type ${String(given)} where ${String(wanted)} belongs`);
}

/** Reads a schema union: in Protobuf a message with a field for each form. */
function unionReader(kind: FieldKind, union: MessageType): ReadElement {
  const numbers = unionNumbers(union);
  const readSchema = messageReader(numbers.schemaType);
  return (decoding) => {
    const list: unknown[] = [];
    let schema: unknown = undefined;
    let allows = false;
    within(decoding, () => {
      const { reader } = decoding;
      while (!reader.isAtEnd) {
        const tag = reader.tag();
        count(decoding);
        if (tag === numbers.schema * 8 + WIRE.bytes) schema = readSchema(decoding, schema);
        else if (tag === numbers.allows * 8 + WIRE.varint) allows = reader.bool();
        else if (tag === numbers.schemas * 8 + WIRE.bytes) list.push(readSchema(decoding, undefined));
        else if (tag === numbers.strings * 8 + WIRE.bytes) list.push(reader.string());
        else reader.skip(tag);
      }
    });
    if (list.length > 0) return list;
    return schema ?? (kind === 'schemaOrBool' ? allows : null);
  };
}
