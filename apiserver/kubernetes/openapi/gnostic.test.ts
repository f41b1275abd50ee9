import { WireReader } from '../../../shared/protobuf/wire-reader';
import { moreSwaggerProtobuf } from './gnostic';

/** Field numbers and wire types of package `openapi.v2` of gnostic, with the encoded value. */
type Field = readonly [number: number, value: number | Buffer];

const VARINT = 0;
const FIXED64 = 1;

function fields(bytes: Buffer): readonly Field[] {
  const reader = new WireReader(bytes);
  const found: Field[] = [];
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    const [number, wire] = [tag >>> 3, tag % 8];
    if (wire === VARINT) found.push([number, reader.uint32()]);
    else if (wire === FIXED64) {
      found.push([number, bytes.readDoubleLE(reader.at)]);
      reader.at += 8;
    } else {
      const length = reader.uint32();
      found.push([number, bytes.subarray(reader.at, reader.at + length)]);
      reader.at += length;
    }
  }
  return found;
}

function all(bytes: Buffer, number: number): readonly (number | Buffer)[] {
  return fields(bytes).flatMap(([each, value]) => (each === number ? [value] : []));
}

function inner(bytes: Buffer, ...numbers: readonly number[]): Buffer {
  return numbers.reduce((outer, number) => {
    const [first] = all(outer, number);
    if (!Buffer.isBuffer(first)) throw new Error(`no message in field ${String(number)}`);
    return first;
  }, bytes);
}

function schemaOf(schema: object): Buffer {
  const { definitions } = moreSwaggerProtobuf([], [['X', { ...schema }]]);
  return inner(definitions, 1, 2);
}

test.each([
  ['multipleOf', 1.5, 6, 1.5],
  ['maximum', 9n, 7, 9],
  ['exclusiveMaximum', true, 8, 1],
  ['minimum', -0.5, 9, -0.5],
  ['exclusiveMinimum', true, 10, 1],
  ['maxLength', 300, 11, 300],
  ['minLength', 0, 12, 0],
  ['maxItems', 4, 14, 4],
  ['minItems', 5, 15, 5],
  ['uniqueItems', true, 16, 1],
  ['maxProperties', 6, 17, 6],
  ['minProperties', 7, 18, 7],
])('%s: %p is field %i', (name, value, number, read) => {
  expect(fields(schemaOf({ [name]: value }))).toEqual([[number, read]]);
});

test.each([
  ['title', 3],
  ['pattern', 13],
])('%s is the text of field %i', (name, number) => {
  expect(inner(schemaOf({ [name]: 'text' }), number).toString()).toBe('text');
});

test('every value of an enumeration is a separate field, as YAML text with all of its digits', () => {
  const values = all(schemaOf({ enum: ['a', 1, 9_007_199_254_740_993n, null] }), 20);
  expect(values.map((each) => inner(each as Buffer, 2).toString())).toEqual([
    '"a"',
    '1',
    '9007199254740993',
    'null',
  ]);
});

test('additional properties are a schema or a flag', () => {
  expect(inner(schemaOf({ additionalProperties: { type: 'string' } }), 21, 1, 22, 1).toString()).toBe(
    'string',
  );
  expect(fields(inner(schemaOf({ additionalProperties: true }), 21))).toEqual([[2, 1]]);
  expect(fields(inner(schemaOf({ additionalProperties: false }), 21))).toEqual([[2, 0]]);
});
