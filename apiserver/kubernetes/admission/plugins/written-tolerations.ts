import type { Toleration } from '../../../../shared/api/types/core-v1';
import { isJsonObject } from '../../../../shared/object/clone';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';

/** Fields of a Toleration with Go's names of their types. */
const FIELDS: readonly (readonly [field: keyof Toleration, type: 'string' | 'int64'])[] = [
  ['key', 'string'],
  ['operator', 'string'],
  ['value', 'string'],
  ['effect', 'string'],
  ['tolerationSeconds', 'int64'],
];

/** Parses tolerations from a text; returns upstream's error text if invalid. Unknown fields are dropped. */
export function writtenTolerations(text: string): readonly Toleration[] | string {
  if (text === '') return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    return jsonSyntaxProblem(Buffer.from(text)) ?? String(error);
  }
  if (list === null) return [];
  if (!Array.isArray(list)) return notInto(list, 'value of type []v1.Toleration');
  const read = list.map(tolerationOf);
  return read.find((each) => typeof each === 'string') ?? read.filter((each) => typeof each !== 'string');
}

function tolerationOf(item: unknown): Toleration | string {
  if (item === null) return {};
  if (!isJsonObject(item)) return notInto(item, 'value of type v1.Toleration');
  const given = FIELDS.filter(([field]) => item[field] !== undefined && item[field] !== null);
  const wrong = given.find(([field, type]) => !isOf(item[field], type));
  if (wrong !== undefined) {
    const [field, type] = wrong;
    return notInto(item[field], `struct field Toleration.${field} of type ${type}`);
  }
  return Object.fromEntries(given.map(([field]) => [field, item[field]]));
}

function isOf(value: unknown, type: 'string' | 'int64'): boolean {
  return type === 'string' ? typeof value === 'string' : Number.isSafeInteger(value);
}

function notInto(value: unknown, what: string): string {
  return `json: cannot unmarshal ${goKindOf(value)} into Go ${what}`;
}

function goKindOf(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' && !Number.isInteger(value)) return `number ${String(value)}`;
  return Array.isArray(value) ? 'array' : typeof value;
}
