import { goQuote } from '../../../../shared/errors/go-quote';
import { canonicalMicroTime, canonicalTime, parseTime } from '../../../../shared/meta/time';
import { canonicalQuantity, compareQuantity, parseQuantity } from '../../../../shared/meta/quantity';
import type { Quantity } from '../../../../shared/meta/quantity';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { difference, equalSets, intersection, listPaths, union } from '../../../../shared/fieldset/field-set';
import { displayPath } from '../../../../shared/fieldset/path-element';
import { parseFieldSet } from '../../../../shared/fieldset/parse';
import { DecodeError, decodeJson, decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import { deepEqual, isJsonObject } from '../../../../shared/object/clone';
import { coerceEmbedded, validateEmbedded } from '../../../../shared/structural/embedded';
import { TooManyDefaultsError, withDefaults } from '../../../../shared/structural/defaults';
import { hasFormat } from '../../../../shared/structural/formats';
import { compileJsonPath, JsonPathError } from '../../../../shared/structural/json-path';
import { validateListTypes } from '../../../../shared/structural/list-types';
import { getObjectShape } from '../../../../shared/structural/object-shape';
import { compilePattern } from '../../../../shared/structural/patterns';
import { prune } from '../../../../shared/structural/prune';
import { compileSchema } from '../../../../shared/structural/structural-schema';
import { validateValues } from '../../../../shared/structural/validate-values';
import { customSchema } from '../../../kubernetes/openapi/custom-schema';
import { OPENAPI_3, SWAGGER } from '../../../kubernetes/openapi/definitions';
import { warningHeaders } from '../../../engine/server/warning-header';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateJson } from '../mutators/mutate-json';
import { frozen, holds, refusable } from '../refusable';
import type { Target } from '../target';

const SCHEMA_WORDS = [
  'type',
  'object',
  'string',
  'integer',
  'array',
  'items',
  'properties',
  'additionalProperties',
  'default',
  'nullable',
  'allOf',
  'not',
  'enum',
  'pattern',
  '(a+)+$',
  'format',
  'date-time',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'map',
  'set',
  'x-kubernetes-list-map-keys',
  'required',
  'minimum',
  'multipleOf',
  'a',
  'b',
];
const FORMATS = [
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'isbn',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'date',
  'duration',
  'date-time',
  'password',
  'none',
];

/** Small languages inside objects. */
export const VALUE_TARGETS: readonly Target[] = [
  {
    name: 'quantity',
    corpus: 'quantity',
    words: [
      '.',
      '-',
      '+',
      '0',
      'e',
      'E',
      'e3',
      'E-9',
      'Ki',
      'Mi',
      'Gi',
      'Ei',
      'm',
      'n',
      'k',
      '1024',
      '999999999999999999',
      '000',
    ],
    mutators: [mutateBytes],
    runs: 4_000,
    open: () => ({ check: checkQuantity }),
  },
  {
    name: 'text-forms',
    corpus: 'text-forms',
    words: [
      '2021-02-29',
      'T23:59:60Z',
      '+23:59',
      '.000001',
      '::',
      '1.2.3.4/',
      'a@b',
      '@',
      '[',
      'http://',
      '%zz',
      'rgb(',
      '1h',
      '-',
    ],
    mutators: [mutateBytes],
    runs: 400,
    open: () => ({ check: checkTextForms }),
  },
  {
    name: 'json-path',
    corpus: 'json-path',
    words: [
      '.',
      '..',
      '[',
      ']',
      '[*]',
      '[?(',
      ')]',
      '@',
      '$',
      '==',
      '"',
      "'",
      ',',
      ':',
      '-1',
      '\\',
      'a',
      'list',
      '.*',
    ],
    mutators: [mutateBytes],
    runs: 2_500,
    open: () => ({ check: checkJsonPath }),
  },
  {
    name: 'custom-schema',
    corpus: 'custom-schema',
    words: SCHEMA_WORDS,
    mutators: [mutateJson],
    runs: 500,
    open: () => ({ check: checkCustomSchema }),
  },
  {
    name: 'field-set',
    corpus: 'field-set',
    words: ['f:', 'f:a', 'k:{"name":"a"}', 'v:1', 'i:0', '.', 'k:{}', 'v:', 'i:-1'],
    mutators: [mutateJson],
    runs: 1_500,
    open: () => ({ check: checkFieldSet }),
  },
];

function checkQuantity(input: Buffer): void {
  const text = input.toString('utf8');
  const canonical = canonicalQuantity(text);
  const quantity = parseQuantity(text);
  holds(
    (canonical === undefined) === (quantity === undefined),
    'what has a value has a text',
    text,
    canonical,
  );
  if (canonical === undefined || quantity === undefined) return;
  // Beyond 64 bits upstream prints some values so that it reads them back as the largest.
  const again =
    amountOf(quantity) > INT64_MAX_NANO || amountOf(quantity) < -INT64_MAX_NANO
      ? quantity
      : parseQuantity(canonical);
  if (again !== quantity) {
    holds(
      canonicalQuantity(canonical) === canonical,
      'a canonical text is its own',
      text,
      canonical,
      canonicalQuantity(canonical),
    );
  }
  holds(
    again !== undefined && compareQuantity(again, quantity) === 0,
    'the canonical text has the same value',
    text,
    canonical,
  );
  holds(
    valueOf(text) === amountOf(quantity),
    'the value is the one that arithmetic gives',
    text,
    String(valueOf(text)),
    String(amountOf(quantity)),
  );
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const NANO_PER_ONE = 10n ** 9n;
const INT64_MAX_NANO = (2n ** 63n - 1n) * NANO_PER_ONE;

/** In units of a billionth, rounded away from zero; a binary one beyond 64 bits is the largest that is kept. Undefined where it is not checked. */
function valueOf(text: string): bigint | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  const binary = BINARY.indexOf(suffix);
  const decimal = DECIMAL.indexOf(suffix);
  const exponent = binary > 0 ? 0 : decimal >= 0 ? decimal * 3 - 9 : Number(suffix.slice(1));
  let numerator = BigInt(`0${whole}${fraction}`) * NANO_PER_ONE * (binary > 0 ? 1024n ** BigInt(binary) : 1n);
  let denominator = 10n ** BigInt(fraction.length);
  if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
  else denominator *= 10n ** BigInt(-exponent);
  const value = (numerator + denominator - 1n) / denominator;
  const capped = value > INT64_MAX_NANO && binary > 0 ? INT64_MAX_NANO : value;
  return sign === '-' ? -capped : capped;
}

function amountOf({ unscaled, scale }: Quantity): bigint {
  return scale >= -9 ? unscaled * 10n ** BigInt(scale + 9) : unscaled / 10n ** BigInt(-9 - scale);
}

function checkTextForms(input: Buffer): void {
  const text = input.toString('utf8');
  for (const format of FORMATS) hasFormat(text, format);
  for (const canonicalOf of [canonicalTime, canonicalMicroTime]) {
    const time = canonicalOf(text);
    if (time === undefined || time === null) continue;
    holds(canonicalOf(time) === time, 'a canonical time is its own', text, time);
    holds(
      Math.floor((parseTime(text) ?? NaN) / 1000) === Math.floor((parseTime(time) ?? NaN) / 1000),
      'it is the same second',
      text,
      time,
    );
  }
  const quoted = goQuote(text);
  holds(/^"(?:[^"\\\n\r\0]|\\.)*"$/s.test(quoted), 'what is quoted holds no line end', quoted);
  for (const value of warningHeaders([text, 'a'])) {
    // eslint-disable-next-line no-control-regex -- these are the characters a header must not hold
    holds(!/[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/.test(value), 'a warning can stand in a header', value);
  }
  const pattern = compilePattern(text.slice(0, 200));
  if ('test' in pattern) pattern.test(text.slice(0, 500));
}

const OBJECT = frozen({
  a: 1,
  list: [{ name: 'a', a: 1 }, { name: 'b' }, null, 3, 'x'],
  nested: { list: [[1, 2], [3]], a: { b: { c: 'd' } } },
  '': 0,
  'a.b': true,
  __proto__: null,
});

function checkJsonPath(input: Buffer): void {
  const text = input.toString('utf8');
  const getter = refusable(() => compileJsonPath(text), JsonPathError)?.value;
  if (getter === undefined) return;
  holds(Array.isArray(getter(OBJECT)), 'a path gives a list', text);
  holds(deepEqual(getter(OBJECT), getter(OBJECT)), 'a path gives the same again', text);
  for (const value of [null, 1, [], 'a']) getter(value);
}

const crdSchema = messageType('apiextensions/v1.JSONSchemaProps');

/** The input is a JSON object with a `schema` and an `object`. */
function checkCustomSchema(input: Buffer): void {
  const whole = refusable(() => decodeJson(input), DecodeError)?.value;
  if (!isJsonObject(whole)) return;
  const schema = refusable(() => decodeObject(crdSchema, whole['schema']).object, DecodeError)?.value;
  const { object } = whole;
  if (schema === undefined || !isJsonObject(object)) return;
  for (const form of [SWAGGER, OPENAPI_3]) customSchema(schema, form, { preservesUnknown: false });
  const structural = compileSchema(schema);
  const pruned = prune(structural, frozen(object)).object;
  holds(prune(structural, frozen(pruned)).pruned.length === 0, 'what was pruned stays', schema, object);
  const filled = refusable(() => withDefaults(structural, pruned), TooManyDefaultsError)?.value;
  if (filled === undefined) return;
  const twice = refusable(() => withDefaults(structural, frozen(filled)), TooManyDefaultsError)?.value;
  holds(twice === undefined || deepEqual(twice, filled), 'what was filled in stays', schema, object);
  const coerced = coerceEmbedded(structural, filled, { drop: true });
  holds(coerced.errors.length === 0, 'what is dropped is no error', schema, object);
  for (const errors of [
    validateValues(structural, coerced.object),
    validateListTypes(structural, coerced.object),
    validateEmbedded(structural, coerced.object),
  ]) {
    holds(
      errors.every(({ field, message }) => typeof field === 'string' && typeof message === 'string'),
      'an error has a field and a message',
      errors,
    );
  }
  getObjectShape(structural);
}

/** The input is a JSON list of two sets in the form of managedFields. */
function checkFieldSet(input: Buffer): void {
  const value = refusable(() => decodeJson(input), DecodeError)?.value;
  const [a, b] = (Array.isArray(value) ? value : [value, value]).map((each: unknown) =>
    parseFieldSet(frozen(each)),
  );
  if (a === undefined || b === undefined) return;
  for (const set of [a, b]) {
    holds(
      equalSets(parseFieldSet(JSON.parse(JSON.stringify(set))) ?? {}, set),
      'a set is the same after it was written and read',
      set,
    );
    for (const path of listPaths(set)) displayPath(path);
  }
  const both = union(a, b);
  holds(equalSets(both, union(b, a)), 'a union has no order', a, b);
  holds(equalSets(union(both, a), both), 'a union holds its parts', a, b);
  holds(sameMembers(both, [...membersOf(a), ...membersOf(b)]), 'a union has the members of both', a, b);
  holds(
    sameMembers(
      difference(a, b),
      membersOf(a).filter((each) => !membersOf(b).includes(each)),
    ),
    'a difference has the members of one only',
    a,
    b,
  );
  holds(
    sameMembers(
      intersection(a, b),
      membersOf(a).filter((each) => membersOf(b).includes(each)),
    ),
    'an intersection has the members of both',
    a,
    b,
  );
}

function membersOf(set: FieldSet): readonly string[] {
  return listPaths(set).map((path) => JSON.stringify(path));
}

function sameMembers(set: FieldSet, members: readonly string[]): boolean {
  return deepEqual([...membersOf(set)].sort(), [...new Set(members)].sort());
}
