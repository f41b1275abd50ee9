import { isJsonObject } from '../../shared/object/clone';
import type { FieldKind, FieldType, MessageType } from '../../shared/schema/types';
import { messageType } from '../../shared/schema/types';

/** One change of an object: the field to follow at each message, and the value to write at the end. */
export interface Edit {
  readonly steps: readonly number[];
  readonly value: number;
}

type Fields = Record<string, unknown>;

const TEXTS = ['', 'a', 'B@d', 'x.example.com/y', '10.0.0.1', 'Always', 'None', 'a'.repeat(300), '-', 'True'];
const WHOLE = [0, 1, -1, 80, 70_000, 2_147_483_647];

/** Values for a field of a type: valid, unusual and invalid. */
const VALUES: Readonly<Partial<Record<FieldKind, readonly unknown[]>>> = {
  string: TEXTS,
  bool: [true, false],
  int32: WHOLE,
  // The last two exceed the exact range of a number.
  int64: [...WHOLE, 9_007_199_254_740_991, 9_223_372_036_854_775_000, -9_223_372_036_854_775_000],
  double: [0, 1.5, -1],
  bytes: ['', 'YQ==', [104, 105]],
  time: ['2021-01-02T03:04:05Z', null],
  microTime: ['2021-01-02T03:04:05.000006Z', null],
  quantity: ['0', '1', '-1', '500m', '1Gi', '1e3'],
  intOrString: [0, 1, -1, '', '50%', 'a'],
};

/** Returns a copy of the object with these changes. All fields keep the types of the schema. */
export function editedObject(object: object, schema: string, edits: readonly Edit[]): Fields {
  const copy = structuredClone(object) as Fields;
  for (const edit of edits) change(messageType(schema), copy, edit);
  return copy;
}

/** Fields that identify the object, or that its kind requires. */
const KEPT: ReadonlySet<string> = new Set(['name', 'namespace', 'managedFields']);

function change(type: MessageType, target: Fields, { steps, value }: Edit): void {
  const [step = 0, ...rest] = steps;
  const fields = type.fields.filter(({ name }) => !KEPT.has(name) || !('creationTimestamp' in target));
  const field = fields[step % Math.max(1, fields.length)];
  if (field === undefined || field.name === 'managedFields') return;
  const inner = field.kind === 'message' ? field.message : undefined;
  if (inner === undefined) {
    const values = VALUES[field.kind];
    if (values !== undefined) target[field.name] = contained(field, values[value % values.length]);
    return;
  }
  const held = heldIn(field, target[field.name]);
  if (rest.length > 0) change(inner, held, { steps: rest, value });
  if (!isPresent(field, target[field.name])) target[field.name] = contained(field, held);
}

function contained({ list, map }: FieldType, value: unknown): unknown {
  if (list) return [value];
  return map ? { a: value } : value;
}

/** The message of a field: the existing one, the first element, or a new one. */
function heldIn({ list, map }: FieldType, value: unknown): Fields {
  const held = list && Array.isArray(value) ? (value as readonly unknown[])[0] : map ? undefined : value;
  return isJsonObject(held) ? held : {};
}

function isPresent({ list, map }: FieldType, value: unknown): boolean {
  return !map && (list ? Array.isArray(value) && value.length > 0 : isJsonObject(value));
}
