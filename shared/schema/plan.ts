import { DecodeError, joinPath, unexpectedType } from './decode-error';
import { decodeStringList, SCALARS, decodeUnion } from './scalars';
import { createStringMap, isStringMap, setKey, sortedKeys } from './string-map';
import type { FieldType, MessageType } from './types';
import type { JsonObject } from '../object/clone';
import { NumberText } from '../object/exact-text';

/** Deepest nesting of messages. Only the schemas of custom resources can nest without limit. */
const MESSAGE_DEPTH_MAX = 1_000;

/** Number of unknown fields that are named; further ones are dropped silently. */
export const UNKNOWN_FIELDS_MAX = 100;

/** State of one decoding. */
export interface Decoding {
  /** Whether paths of unknown fields are collected, which costs a little. */
  readonly report: boolean;
  /** Whether an empty list or map is kept where the store would return null. */
  readonly keepsEmpty: boolean;
  /**
   * Whether integers that have too many bits are truncated instead of refused, and empty bytes count as
   * absent.
   */
  readonly isConverter: boolean;
  /** Whether the value can contain a `NumberText`. */
  readonly hasNumberTexts: boolean;
  /** Paths of unknown fields, relative to the message that is being decoded. */
  readonly unknown: string[];
  depth: number;
  /**
   * Names of fields with an empty list or map, inside the top-level field that is being decoded. Collected
   * only with `keepsEmpty`.
   */
  emptied: Set<string> | undefined;
  /** The same names by top-level field. */
  emptiedBelow: Map<string, ReadonlySet<string>> | undefined;
}

/** Decodes a value that is neither null nor undefined. */
type Decode = (value: unknown, decoding: Decoding) => unknown;

/** How one field is decoded. The flags say what is written where the value is absent or empty. */
interface FieldPlan {
  readonly name: string;
  readonly decode: Decode;
  /** Makes the value of an absent field; undefined where the field stays absent. */
  readonly absent: ((decoding: Decoding) => unknown) | undefined;
  /** Omits a value that is empty: `''`, 0, false, `[]` or `{}`. */
  readonly dropsEmpty: boolean;
  readonly emptyIsNull: boolean;
  /** Go distinguishes an empty value from nil until the object is stored: a list, a map or bytes. */
  readonly isNothing: boolean;
  readonly isBytes: boolean;
  /** Omits a value that decodes to null: the zero time in an optional field. */
  readonly dropsNull: boolean;
}

/**
 * Decodes one message: checks types, drops unknown fields, and orders the fields as the schema does. A message
 * in canonical form is returned as it is, so decoding an object again allocates nothing.
 */
export function decodeMessage(type: MessageType, value: unknown, decoding: Decoding): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberText)
    throw unexpectedType('object', value);
  const source = value as JsonObject;
  if (decoding.depth >= MESSAGE_DEPTH_MAX) throw new DecodeError('nested too deep');
  decoding.depth += 1;
  let seen = type.typeMeta ? checkTypeMeta(source) : 0;
  let unchanged = 0;
  let target: JsonObject | undefined;
  for (const plan of getPlans(type)) {
    const given = source[plan.name];
    if (given !== undefined) seen += 1;
    const written = decodeOrDefault(plan, given, decoding);
    if (decoding.emptied !== undefined && decoding.depth === 1) noteEmptied(plan.name, decoding);
    if (target === undefined) {
      if (written === given) {
        unchanged += 1;
        continue;
      }
      target = copyFirstFields(type, source, unchanged);
    }
    if (written !== undefined) target[plan.name] = written;
  }
  if (!type.open && decoding.report) reportUnknown(type, source, { seen, decoding });
  decoding.depth -= 1;
  return target === undefined ? inOrder(type, source) : withOthers(type, source, target);
}

function noteEmptied(name: string, decoding: Decoding): void {
  const { emptied } = decoding;
  if (emptied !== undefined) (decoding.emptiedBelow ??= new Map()).set(name, emptied);
  decoding.emptied = undefined;
}

/** Returns the value of one field in the decoded message; undefined where it is absent. */
function decodeOrDefault(plan: FieldPlan, given: unknown, decoding: Decoding): unknown {
  if (given === undefined || given === null) return plan.absent?.(decoding);
  return toStoredForm(plan, decodeField(plan, given, decoding), decoding);
}

/**
 * Returns the source, whose declared fields are all canonical, without unknown fields and in the order of the
 * schema.
 */
function inOrder(type: MessageType, source: JsonObject): JsonObject {
  const plans = getPlans(type);
  if (isInOrder(type, source, plans)) return source;
  return withOthers(type, source, copyFirstFields(type, source, plans.length));
}

function withOthers(type: MessageType, source: JsonObject, target: JsonObject): JsonObject {
  if (type.open) keepOthers(type, source, target);
  return target;
}

/** Copies the type meta and the first `count` fields, which are in canonical form, into a new message. */
function copyFirstFields(type: MessageType, source: JsonObject, count: number): JsonObject {
  const target: JsonObject = {};
  if (type.typeMeta) copyTypeMeta(source, target);
  let left = count;
  for (const { name } of getPlans(type)) {
    if (left <= 0) break;
    left -= 1;
    if (source[name] !== undefined) target[name] = source[name];
  }
  return target;
}

/** True when the source has only declared fields, in the order of the schema. */
function isInOrder(type: MessageType, source: JsonObject, plans: readonly FieldPlan[]): boolean {
  let next = type.typeMeta ? -TYPE_META.length : 0;
  for (const key in source) {
    const given = source[key];
    if (given === undefined) return false;
    while (next < plans.length && nameAt(plans, next) !== key) next += 1;
    if (next < 0 && (given === '' || given === null)) return false;
    if (next === plans.length) {
      if (!type.open || type.byName.has(key) || (type.typeMeta && isTypeMeta(key))) return false;
    } else next += 1;
  }
  return true;
}

const TYPE_META = ['kind', 'apiVersion'] as const;

function nameAt(plans: readonly FieldPlan[], at: number): string | undefined {
  return at < 0 ? TYPE_META[at + TYPE_META.length] : plans[at]?.name;
}

function isTypeMeta(key: string): boolean {
  return key === 'kind' || key === 'apiVersion';
}

function decodeField(plan: FieldPlan, given: unknown, decoding: Decoding): unknown {
  const mark = decoding.unknown.length;
  try {
    const decoded = plan.decode(given, decoding);
    if (decoding.unknown.length > mark) relocate(decoding.unknown, mark, plan.name);
    return decoded;
  } catch (error) {
    throw error instanceof DecodeError ? error.locate(plan.name) : error;
  }
}

/** Returns how many of `kind` and `apiVersion` the source has. */
function checkTypeMeta(source: JsonObject): number {
  let seen = 0;
  for (const name of TYPE_META) {
    const given = source[name];
    if (given === undefined) continue;
    seen += 1;
    if (given !== null && typeof given !== 'string') throw unexpectedType('string', given).locate(name);
  }
  return seen;
}

/** Copies `kind` and `apiVersion`, which come first. */
function copyTypeMeta(source: JsonObject, target: JsonObject): void {
  for (const name of TYPE_META) {
    const given = source[name];
    if (given !== undefined && given !== null && given !== '') target[name] = given;
  }
}

/** Returns the stored form of a decoded value; undefined omits the field. */
function toStoredForm(plan: FieldPlan, decoded: unknown, decoding: Decoding): unknown {
  if (plan.dropsNull && decoded === null) return undefined;
  if ((!plan.dropsEmpty && !plan.emptyIsNull) || !isEmpty(decoded)) return decoded;
  if (plan.isNothing && decoding.keepsEmpty && !(plan.isBytes && decoding.isConverter))
    (decoding.emptied ??= new Set()).add(plan.name);
  if (plan.dropsEmpty) return undefined;
  return decoding.keepsEmpty ? decoded : null;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  // Only maps reach this line, since empty messages are not omitted.
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

function keepOthers(type: MessageType, source: JsonObject, target: JsonObject): void {
  for (const key of Object.keys(source)) {
    if (type.byName.has(key) || (type.typeMeta && isTypeMeta(key))) continue;
    setKey(target, key, source[key]);
  }
}

function reportUnknown(
  type: MessageType,
  source: JsonObject,
  { seen, decoding }: { readonly seen: number; readonly decoding: Decoding },
): void {
  const keys = Object.keys(source);
  if (keys.length === seen) return;
  for (const key of keys) {
    if (decoding.unknown.length >= UNKNOWN_FIELDS_MAX) return;
    if (type.byName.has(key) || (type.typeMeta && isTypeMeta(key))) continue;
    decoding.unknown.push(joinPath(key, ''));
  }
}

function relocate(paths: string[], from: number, segment: string): void {
  for (let index = from; index < paths.length; index += 1)
    paths[index] = joinPath(segment, paths[index] ?? '');
}

const plans = new WeakMap<MessageType, readonly FieldPlan[]>();

function getPlans(type: MessageType): readonly FieldPlan[] {
  let known = plans.get(type);
  if (known === undefined) {
    const metadata = type.fields.filter(({ name }) => name === 'metadata');
    const others = type.fields.filter(({ name }) => name !== 'metadata');
    known = [...metadata, ...others].map(createPlan);
    plans.set(type, known);
  }
  return known;
}

function createPlan(field: FieldType): FieldPlan {
  const element = createElement(field);
  const collection = field.list || field.map;
  const decode = field.list
    ? createListDecoder(element)
    : field.map
      ? createMapDecoder(element)
      : element.decode;
  const emptyIsAbsent = collection || field.kind === 'bytes' || field.kind === 'stringList';
  return {
    name: field.name,
    decode,
    absent: createAbsentValue(field, element, emptyIsAbsent),
    dropsEmpty:
      field.omitempty && !field.keepsEmpty && !field.pointer && (emptyIsAbsent || !element.isStruct),
    emptyIsNull: field.emptyIsNull,
    isNothing: emptyIsAbsent && !field.pointer,
    isBytes: field.kind === 'bytes' && !collection,
    dropsNull: field.omitempty && field.pointer,
  };
}

function createAbsentValue(field: FieldType, element: Element, emptyIsAbsent: boolean): FieldPlan['absent'] {
  if (field.pointer || emptyIsAbsent) return field.omitempty ? undefined : () => null;
  return field.omitempty && !element.isStruct ? undefined : element.zero;
}

/** Decoder of one value, or of each element of a list or map. */
interface Element {
  readonly decode: Decode;
  readonly zero: (decoding: Decoding) => unknown;
  readonly isStruct: boolean;
}

function createElement(field: FieldType): Element {
  const scalar = SCALARS[field.kind];
  if (scalar !== undefined) {
    return { decode: scalar.decode, zero: () => scalar.zero, isStruct: scalar.isStruct };
  }
  const { message, kind } = field;
  if (message === undefined) throw new Error(`field ${field.name} of type ${kind} has no message`);
  if (kind === 'message') {
    return {
      decode: (value, decoding) => decodeMessage(message, value, decoding),
      zero: (decoding) => decodeMessage(message, {}, decoding),
      isStruct: true,
    };
  }
  const schema: Element = {
    decode: (value, decoding) => decodeMessage(getSchemaMessage(message), value, decoding),
    zero: (decoding) => decodeMessage(getSchemaMessage(message), {}, decoding),
    isStruct: true,
  };
  const schemas = createListDecoder(schema);
  return {
    decode: (value, decoding) =>
      decodeUnion(kind, value, {
        schema: (each) => schema.decode(each, decoding),
        schemas: (each) => schemas(each, decoding),
        strings: decodeStringList,
      }),
    zero: () => null,
    isStruct: true,
  };
}

/** Returns the schema's message inside the message that carries a schema union in Protobuf. */
function getSchemaMessage(union: MessageType): MessageType {
  const message = union.byName.get('schema')?.message;
  if (message === undefined) throw new Error(`${union.name} has no schema`);
  return message;
}

function createListDecoder({ decode, zero }: Element): Decode {
  return (value, decoding) => {
    if (!Array.isArray(value)) throw unexpectedType('array', value);
    let result: unknown[] | undefined;
    let index = 0;
    try {
      for (; index < value.length; index += 1) {
        const before = decoding.unknown.length;
        const each: unknown = value[index];
        const decoded = each === null || each === undefined ? zero(decoding) : decode(each, decoding);
        if (result === undefined && decoded !== each) result = value.slice(0, index);
        result?.push(decoded);
        if (decoding.unknown.length > before) relocate(decoding.unknown, before, `[${String(index)}]`);
      }
    } catch (error) {
      throw error instanceof DecodeError ? error.locate(`[${String(index)}]`) : error;
    }
    return result ?? value;
  };
}

function createMapDecoder({ decode, zero }: Element): Decode {
  return (value, decoding) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberText)
      throw unexpectedType('map', value);
    const source = value as JsonObject;
    const mark = decoding.unknown.length;
    let current = '';
    const valueAt = (key: string): unknown => {
      current = key;
      const before = decoding.unknown.length;
      const each = source[key];
      const decoded = each === null || each === undefined ? zero(decoding) : decode(each, decoding);
      if (decoding.unknown.length > before) relocate(decoding.unknown, before, `[${key}]`);
      return decoded;
    };
    try {
      if (isStringMap(source) && isCanonicalMap(source, valueAt)) return source;
      decoding.unknown.length = mark;
      const result = createStringMap();
      for (const key of sortedKeys(source)) setKey(result, key, valueAt(key));
      return result;
    } catch (error) {
      throw error instanceof DecodeError ? error.locate(`[${current}]`) : error;
    }
  };
}

/** True when the keys are sorted and every value is in canonical form. */
function isCanonicalMap(source: JsonObject, valueAt: (key: string) => unknown): boolean {
  let previous: string | undefined;
  for (const key in source) {
    if (previous !== undefined && previous > key) return false;
    previous = key;
    if (valueAt(key) !== source[key]) return false;
  }
  return true;
}
