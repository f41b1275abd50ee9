import { createBudget, FULL_BUDGET, isSpent } from './budget';
import { compileSchema } from './structural-schema';
import { validateValues } from './validate-values';
import type { ReadonlyJson } from '../object/json';

/** Returns the errors of an object whose field `f` has this schema and value. */
function errorsOf(schema: ReadonlyJson, value: unknown): string[] {
  return errorsIn({ type: 'object', properties: { f: schema } }, { f: value });
}

function errorsIn(schema: ReadonlyJson, object: unknown): string[] {
  return validateValues(compileSchema(schema), object).map(({ field, message }) => `${field}: ${message}`);
}

const object = (properties: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'object',
  properties,
  ...more,
});
const invalid = (value: string, text: string): string => `f: Invalid value: ${value}: f in body ${text}`;

describe('types', () => {
  test.each<[string, ReadonlyJson, unknown, string[]]>([
    [
      'a text for an integer',
      { type: 'integer' },
      'x',
      [invalid('"string"', 'must be of type integer: "string"')],
    ],
    [
      'a fraction for an integer',
      { type: 'integer' },
      1.5,
      [invalid('"number"', 'must be of type integer: "number"')],
    ],
    [
      'a huge number for an integer',
      { type: 'integer' },
      1e300,
      [invalid('"number"', 'must be of type integer: "number"')],
    ],
    [
      'an integer for a text',
      { type: 'string' },
      5,
      [invalid('"integer"', 'must be of type string: "integer"')],
    ],
    [
      'a long integer for a text',
      { type: 'string' },
      2n ** 60n,
      [invalid('"integer"', 'must be of type string: "integer"')],
    ],
    ['a list for an object', { type: 'object' }, [], [invalid('"array"', 'must be of type object: "array"')]],
    [
      'an object for a list',
      { type: 'array', items: {} },
      {},
      [invalid('"object"', 'must be of type array: "object"')],
    ],
    [
      'a word for a boolean',
      { type: 'boolean' },
      'true',
      [invalid('"string"', 'must be of type boolean: "string"')],
    ],
    ['null', { type: 'string' }, null, [invalid('"null"', 'must be of type string: "null"')]],
    [
      'a boolean for an integer or a text',
      { 'x-kubernetes-int-or-string': true },
      true,
      [invalid('"boolean"', 'must be of type integer,string: "boolean"')],
    ],
    [
      'a fraction for an integer or a text',
      { 'x-kubernetes-int-or-string': true },
      0.5,
      [invalid('"number"', 'must be of type integer,string: "number"')],
    ],
    [
      'a boolean where a number has a format',
      { type: 'integer', format: 'int32' },
      true,
      [invalid('""', 'must be of type int32: ""')],
    ],
    [
      'a fraction where an integer has a format',
      { type: 'integer', format: 'int64' },
      1.5,
      [invalid('"float64"', 'must be of type int64: "float64"')],
    ],
    [
      'a number where a text has a format',
      { type: 'string', format: 'date' },
      5,
      [invalid('"int64"', 'must be of type date: "int64"')],
    ],
    [
      'a text where a number has a format',
      { type: 'integer', format: 'int32' },
      'x',
      [invalid('"string"', 'must be of type integer: "string"')],
    ],
  ])('%s does not fit', (_, schema, value, errors) => {
    expect(errorsOf(schema, value)).toEqual(errors);
  });

  test.each<[string, ReadonlyJson, unknown]>([
    ['a whole number is an integer', { type: 'integer' }, 3],
    ['an integer of 64 bits is an integer', { type: 'integer', format: 'int64' }, 2n ** 62n],
    ['an int32 has 32 bits', { type: 'integer', format: 'int32' }, -(2 ** 31)],
    ['a number in the format of integers has no range', { type: 'number', format: 'int32' }, 2 ** 31],
    [
      'an integer or text in a format has no range',
      { 'x-kubernetes-int-or-string': true, format: 'int32' },
      2 ** 31,
    ],
    ['a float is rounded to its greatest number', { type: 'number', format: 'float' }, 3.4028235677973366e38],
    ['an integer is a number', { type: 'number', format: 'double' }, 3],
    ['a fraction is a number', { type: 'number' }, 0.5],
    ['null is well where it may be', { type: 'string', nullable: true }, null],
    ['null is well where no type is said', {}, null],
    ['an integer or a text may be an integer', { 'x-kubernetes-int-or-string': true }, 5],
    ['an integer or a text may be a text', { 'x-kubernetes-int-or-string': true }, '5%'],
    ['a format without a type is for texts', { format: 'date' }, '2020-01-01'],
    ['a format without a type lets lists be', { format: 'date' }, ['x']],
    ['without a type anything fits', { 'x-kubernetes-preserve-unknown-fields': true }, [{}]],
  ])('%s', (_, schema, value) => {
    expect(errorsOf(schema, value)).toEqual([]);
  });
});

describe('values', () => {
  test.each<[string, ReadonlyJson, unknown, string[]]>([
    [
      'enum',
      { type: 'string', enum: ['a', 'c', 'b'] },
      'x',
      ['f: Unsupported value: "x": supported values: "a", "c", "b"'],
    ],
    [
      'enum of numbers',
      { type: 'integer', enum: [1, 2] },
      3,
      ['f: Unsupported value: 3: supported values: "1", "2"'],
    ],
    [
      'enum of objects',
      { type: 'object', enum: [{ a: 1 }] },
      { a: 2, b: 'x' },
      ['f: Unsupported value: map[string]interface {}{"a":2, "b":"x"}: supported values: "{\\"a\\":1}"'],
    ],
    [
      'enum and null',
      { type: 'string', nullable: true, enum: ['a'] },
      null,
      ['f: Unsupported value: "null": supported values: "a"'],
    ],
    ['minLength', { type: 'string', minLength: 1 }, '', [invalid('""', 'should be at least 1 chars long')]],
    [
      'maxLength',
      { type: 'string', maxLength: 2 },
      'äöü',
      [invalid('"äöü"', 'should be at most 2 chars long')],
    ],
    [
      'minLength in characters',
      { type: 'string', minLength: 2 },
      '😀',
      [invalid('"😀"', 'should be at least 2 chars long')],
    ],
    ['pattern', { type: 'string', pattern: '^a$' }, 'b', [invalid('"b"', "should match '^a$'")]],
    [
      'only the first of length and pattern',
      { type: 'string', minLength: 3, pattern: '^a$' },
      'b',
      [invalid('"b"', 'should be at least 3 chars long')],
    ],
    ['minimum', { type: 'integer', minimum: 2 }, 1, [invalid('1', 'should be greater than or equal to 2')]],
    [
      'exclusive minimum',
      { type: 'integer', minimum: 2, exclusiveMinimum: true },
      2,
      [invalid('2', 'should be greater than 2')],
    ],
    [
      'maximum',
      { type: 'number', maximum: 0.5 },
      0.75,
      [invalid('0.75', 'should be less than or equal to 0.5')],
    ],
    [
      'exclusive maximum',
      { type: 'integer', maximum: 2, exclusiveMaximum: true },
      2,
      [invalid('2', 'should be less than 2')],
    ],
    [
      'maximum and a long integer',
      { type: 'integer', maximum: 2 },
      2n ** 60n,
      [invalid('1152921504606846976', 'should be less than or equal to 2')],
    ],
    ['multipleOf', { type: 'integer', multipleOf: 5 }, 7, [invalid('7', 'should be a multiple of 5')]],
    [
      'multipleOf a fraction',
      { type: 'number', multipleOf: 0.5 },
      0.75,
      [invalid('0.75', 'should be a multiple of 0.5')],
    ],
    [
      'all rules of a number',
      { type: 'number', multipleOf: 2, minimum: 8, maximum: 4 },
      7,
      [
        invalid('7', 'should be a multiple of 2'),
        invalid('7', 'should be greater than or equal to 8'),
        invalid('7', 'should be less than or equal to 4'),
      ],
    ],
    [
      'minItems',
      { type: 'array', items: {}, minItems: 2 },
      [1],
      [invalid('1', 'should have at least 2 items')],
    ],
    [
      'maxItems',
      { type: 'array', items: {}, maxItems: 1 },
      [1, 2, 3],
      [invalid('3', 'should have at most 1 items')],
    ],
    [
      'minProperties',
      { type: 'object', minProperties: 2 },
      { a: 1 },
      [invalid('2', 'should have at least 2 properties')],
    ],
    [
      'maxProperties',
      { type: 'object', maxProperties: 1 },
      { a: 1, b: 2 },
      [invalid('1', 'should have at most 1 properties')],
    ],
    [
      'format',
      { type: 'string', format: 'date-time' },
      'x',
      [invalid('"x"', 'must be of type date-time: "x"')],
    ],
    [
      'several at once',
      { type: 'integer', enum: [1] },
      'x',
      [
        invalid('"string"', 'must be of type integer: "string"'),
        'f: Unsupported value: "x": supported values: "1"',
      ],
    ],
  ])('%s', (_, schema, value, errors) => {
    expect(errorsOf(schema, value)).toEqual(errors);
  });

  test.each<[string, ReadonlyJson, unknown]>([
    ['integer with format int32', { type: 'integer', format: 'int32' }, 2_147_483_648],
    ['integer with format int32', { type: 'integer', format: 'int32' }, -2_147_483_649],
    ['integer with format int32', { type: 'integer', format: 'int32' }, 2n ** 62n],
    ['number with format float', { type: 'number', format: 'float' }, 3.5e38],
    ['number with format float', { type: 'number', format: 'float' }, -3.402823567797337e38],
  ])('a number that does not fit an %s is refused: %#', (what, schema, value) => {
    const message = `Invalid value: "": Checked value must be of type ${what} in f`;
    expect(errorsOf(schema, value)).toEqual([`<nil>: ${message}`]);
    expect(validateValues(compileSchema(schema), value, { prefix: 'at.default' })).toMatchObject([
      { field: 'at.default', message: message.replace('in f', 'in ') },
    ]);
  });

  test.each<[string, number, unknown, boolean]>([
    ['minimum', 0.5, 0, false],
    ['minimum', 0.5, 1, true],
    ['minimum', 2.5, 2, false],
    ['maximum', 2.5, 3, false],
    ['maximum', -0.5, 0, false],
    ['minimum', 0, -0, true],
    ['maximum', 2 ** 53, 2n ** 53n + 1n, false],
    ['maximum', 2 ** 63, 2n ** 63n - 1n, true],
    ['minimum', 1e300, 2n ** 63n - 1n, false],
    ['multipleOf', 0.1, 0.3, true],
    ['multipleOf', 0.1, 1_000_000_000.05, false],
    ['multipleOf', 0.1, 0.1 + 0.2, false],
    ['multipleOf', 0.01, 4.35, true],
    ['multipleOf', 0.5, 3, true],
    ['multipleOf', 2.5, 4, false],
    ['multipleOf', 2.5, 5, true],
    ['multipleOf', 3, 2n ** 60n, false],
    ['multipleOf', 0.1, 2n ** 62n, true],
    ['multipleOf', 1e-7, 1e300, true],
    ['multipleOf', 1e300, 1e-7, false],
    ['multipleOf', 5e-324, 1.7976931348623157e308, true],
    ['multipleOf', 1e300, 0, true],
    ['multipleOf', 0.1, -0, true],
    ['multipleOf', -2, 4, false],
    ['multipleOf', 0, 4, false],
  ])('%s %d allows %p: %p', (keyword, bound, value, isAllowed) => {
    expect(errorsOf({ type: 'number', [keyword]: bound }, value)).toHaveLength(isAllowed ? 0 : 1);
  });

  test.each<[number | bigint, unknown, boolean]>([
    [2n ** 53n + 1n, 2n ** 53n, false],
    [2n ** 53n + 1n, 2n ** 53n + 1n, true],
    [10n ** 18n, 1e18, true],
    [0, -0, true],
    [1, 1.5, false],
  ])('an enum of %p contains %p: %p', (choice, value, isAllowed) => {
    expect(errorsOf({ type: 'number', enum: [choice] }, value)).toHaveLength(isAllowed ? 0 : 1);
  });

  test('a number that is nearly whole is no integer', () => {
    expect(errorsOf({ type: 'integer' }, 1.0000000001)).toHaveLength(1);
  });

  test('an unknown format is ignored', () => {
    expect(errorsOf({ type: 'string', format: 'semver' }, '!')).toEqual([]);
  });
});

describe('fields', () => {
  const schema = object(
    {
      spec: object(
        { size: { type: 'integer' }, tag: { type: 'string', default: 'x' } },
        { required: ['size', 'tag'] },
      ),
    },
    { required: ['spec'] },
  );

  test('a missing required field is reported at its own path', () => {
    expect(errorsIn(schema, {})).toEqual(['spec: Required value']);
    expect(errorsIn(schema, { spec: {} })).toEqual(['spec.size: Required value']);
  });

  test('a required field with a default may be absent', () => {
    expect(errorsIn(schema, { spec: { size: 1 } })).toEqual([]);
  });

  test('an inherited property is no field', () => {
    expect(errorsOf(object({}, { required: ['constructor'] }), {})).toEqual([
      'f.constructor: Required value',
    ]);
  });

  test('items of a list share a path, and each problem is reported once', () => {
    const list = { type: 'array', items: object({ name: { type: 'string' } }, { required: ['name'] }) };
    expect(errorsOf(list, [{}, {}, { name: 5 }, { name: 6 }])).toEqual([
      'f.name: Required value',
      'f.name: Invalid value: "integer": f.name in body must be of type string: "integer"',
    ]);
  });

  test('the path contains the keys of a map', () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(errorsOf(map, { a: 1, b: 'x' })).toEqual([
      'f.b: Invalid value: "string": f.b in body must be of type integer: "string"',
    ]);
  });

  test('a map at the root has a dot before its keys in the text', () => {
    expect(errorsIn({ additionalProperties: { type: 'integer' } }, { b: 'x' })).toEqual([
      'b: Invalid value: "string": .b in body must be of type integer: "string"',
    ]);
  });

  test('fields can be forbidden altogether', () => {
    expect(errorsOf({ type: 'object', additionalProperties: false }, { a: 1, id: 2 })).toEqual([
      'f: Invalid value: "a": f.a in body is a forbidden property',
    ]);
  });

  test('the key __proto__ is an ordinary field', () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(errorsOf(map, JSON.parse('{"__proto__":"x"}'))).toEqual([
      'f.__proto__: Invalid value: "string": f.__proto__ in body must be of type integer: "string"',
    ]);
  });
});

describe('junctors', () => {
  const at = (text: string): string => `<nil>: Invalid value: "": "f" ${text}`;
  const shape = object({ a: {}, b: {} });

  test('anyOf reports the nearest alternative', () => {
    const schema = {
      ...shape,
      anyOf: [{ required: ['a'] }, { required: ['b'], properties: { a: { enum: ['x'] } } }],
    };
    expect(errorsOf(schema, { b: 1, a: 'y' })).toEqual([]);
    expect(errorsOf(schema, {})).toEqual([
      at('must validate at least one schema (anyOf)'),
      'f.a: Required value',
    ]);
  });

  test('the alternative with more matching fields is reported', () => {
    const schema = {
      type: 'object',
      anyOf: [{ required: ['a'] }, { required: ['c'], properties: { b: { minimum: 1 } } }],
    };
    expect(errorsOf(schema, { b: 2 })).toEqual([
      at('must validate at least one schema (anyOf)'),
      'f.c: Required value',
    ]);
  });

  test('oneOf requires exactly one match', () => {
    const schema = { ...shape, oneOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(errorsOf(schema, { a: 1 })).toEqual([]);
    expect(errorsOf(schema, { a: 1, b: 1 })).toEqual([
      at('must validate one and only one schema (oneOf). Found 2 valid alternatives'),
    ]);
    expect(errorsOf(schema, {})).toEqual([
      at('must validate one and only one schema (oneOf). Found none valid'),
      'f.a: Required value',
    ]);
  });

  test('allOf reports all failures', () => {
    const schema = { type: 'integer', allOf: [{ minimum: 2 }, { multipleOf: 2 }] };
    expect(errorsOf(schema, 4)).toEqual([]);
    expect(errorsOf(schema, 3)).toEqual([
      invalid('3', 'should be a multiple of 2'),
      at('must validate all the schemas (allOf)'),
    ]);
    expect(errorsOf(schema, 1)).toEqual([
      invalid('1', 'should be greater than or equal to 2'),
      invalid('1', 'should be a multiple of 2'),
      at('must validate all the schemas (allOf). None validated'),
    ]);
  });

  test('not requires a failure', () => {
    const schema = { type: 'string', not: { pattern: '^kube-' } };
    expect(errorsOf(schema, 'a')).toEqual([]);
    expect(errorsOf(schema, 'kube-a')).toEqual([at('must not validate the schema (not)')]);
  });

  test('the usual alternatives for int-or-string are valid', () => {
    const schema = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
    expect(errorsOf(schema, '5%')).toEqual([]);
    expect(errorsOf(schema, true)).toEqual([
      invalid('"boolean"', 'must be of type integer,string: "boolean"'),
      at('must validate at least one schema (anyOf)'),
      invalid('"boolean"', 'must be of type integer: "boolean"'),
    ]);
  });
});

test('a prefix can be put before the fields of errors', () => {
  const schema = compileSchema(object({ a: { type: 'string' } }));
  const errors = validateValues(schema, { a: 1 }, { prefix: 'x.default' });
  expect(errors.map(({ field }) => field)).toEqual(['x.default.a']);
  const whole = validateValues(compileSchema({ type: 'string' }), 1, { prefix: 'x.default' });
  expect(whole).toEqual([
    {
      reason: 'FieldValueInvalid',
      field: 'x.default',
      message: 'Invalid value: "integer":  in body must be of type string: "integer"',
    },
  ]);
});

describe('bounds', () => {
  test('validation stops one problem after the number that a response shows', () => {
    const value = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`k${String(index)}`, index]),
    );
    expect(errorsOf({ type: 'object', additionalProperties: { type: 'string' } }, value)).toHaveLength(1_001);
  });

  test('many alternatives for many items exceed the budget', () => {
    const anyOf = Array.from({ length: 1_000 }, () => ({ minimum: 5 }));
    const list = { type: 'array', items: { type: 'integer', anyOf } };
    expect(
      errorsOf(
        list,
        Array.from({ length: 10_000 }, () => 1),
      ).at(-1),
    ).toBe('<nil>: Invalid value: "": comparing the object with its schema takes too long');
  });

  test('a long text is not matched by a large pattern', () => {
    const schema = { type: 'string', pattern: '(a|b)*a(a|b){14}c' };
    expect(errorsOf(schema, 'ab'.repeat(100_000)).at(-1)).toBe(
      '<nil>: Invalid value: "": comparing the object with its schema takes too long',
    );
    expect(errorsOf(schema, 'a'.repeat(100))).toHaveLength(1);
  });

  test('a deeply nested object is validated without a stack overflow', () => {
    let schema: ReadonlyJson = { type: 'object' };
    let value: unknown = {};
    for (let depth = 0; depth < 900; depth += 1) {
      schema = { type: 'object', properties: { f: schema } };
      value = { f: value };
    }
    expect(errorsOf(schema, value)).toEqual([]);
  });
});

describe('the budget', () => {
  const TOO_LONG = expect.stringContaining('comparing the object with its schema takes too long');
  const lastOf = (items: ReadonlyJson, list: readonly unknown[]): string | undefined =>
    validateValues(compileSchema({ type: 'object', properties: { a: { type: 'array', items } } }), {
      a: list,
    }).at(-1)?.message;

  // Like Istio's schemas, which require one of several fields, and int-or-string of Kubernetes, in objects of
  // 1 MB.
  test('allows many small values with alternatives', () => {
    const fields = ['exact', 'prefix', 'regex'].map((name) => ({ required: [name] }));
    const oneField = { type: 'object', oneOf: [{ not: { anyOf: fields } }, ...fields] };
    const matches = Array.from({ length: 30_000 }, (_, index) => ({
      regex: `/api/v1/items/${String(index)}/.*`,
    }));
    expect(lastOf(oneField, matches)).toBeUndefined();
    const quantity = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
    const percents = Array.from({ length: 80_000 }, () => '100%');
    expect(lastOf(quantity, percents)).toBeUndefined();
  });

  test('allows many values with many choices', () => {
    const choices = Array.from({ length: 10_000 }, (_, index) => `v${String(index)}`);
    expect(
      lastOf(
        { type: 'string', enum: choices },
        Array.from({ length: 100_000 }, () => 'v9999'),
      ),
    ).toBeUndefined();
    const objects = choices.map((each) => ({ a: each }));
    expect(
      lastOf(
        { type: 'object', enum: objects },
        Array.from({ length: 10_000 }, () => ({ a: 'v9999' })),
      ),
    ).toBeUndefined();
  });

  test('a large value is not compared with each of many choices', () => {
    const large = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${String(index)}`, 0]));
    const choices = Array.from({ length: 10_000 }, () => ({ k0: 0 }));
    expect(lastOf({ type: 'object', enum: choices }, [large])).toContain('Unsupported value');
    expect(lastOf({ type: 'object', enum: [...choices, { ...large }] }, [large])).toBeUndefined();
    expect(
      lastOf(
        { type: 'object', enum: [large] },
        Array.from({ length: 100 }, () => large),
      ),
    ).toEqual(TOO_LONG);
  });

  test('refuses many objects without many required fields', () => {
    const required = Array.from({ length: 1_000 }, (_, index) => `f${String(index)}`);
    expect(
      lastOf(
        { type: 'object', required },
        Array.from({ length: 100_000 }, () => ({})),
      ),
    ).toEqual(TOO_LONG);
  });

  test.each<[string, ReadonlyJson, unknown]>([
    ['a long text with many rules for its length', { minLength: 1 }, 'é'.repeat(1_000_000)],
    ['a long text with many rules for its form', { format: 'byte' }, 'a'.repeat(1_000_000)],
    [
      'an object of many fields with many alternatives',
      {},
      Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${String(index)}`, 1])),
    ],
  ])('%s', (_, alternative, given) => {
    const errorsFor = (alternatives: number): readonly unknown[] =>
      validateValues(
        compileSchema({ allOf: Array.from({ length: alternatives }, () => alternative) }),
        given,
      );
    expect(errorsFor(1)).toEqual([]);
    expect(errorsFor(1_000).at(-1)).toMatchObject({ message: TOO_LONG });
  });

  test('refuses long errors at every level', () => {
    const choices = { enum: [{ z: 1 }] };
    let schema: ReadonlyJson = { type: 'object', ...choices };
    let value: ReadonlyJson = { big: 'x'.repeat(1_000_000) };
    for (let level = 0; level < 100; level += 1) {
      schema = { type: 'object', ...choices, properties: { a: schema } };
      value = { a: value };
    }
    const errors = validateValues(compileSchema(schema), value);
    expect(errors.at(-1)?.message).toEqual(TOO_LONG);
    expect(errors.reduce((length, { message }) => length + message.length, 0)).toBeLessThan(50_000_000);
  });

  test('allows a long list of small values', () => {
    const items = { type: 'integer', minimum: 0, enum: [1, 2, 3], multipleOf: 1 };
    expect(
      lastOf(
        items,
        Array.from({ length: 1_000_000 }, () => 3),
      ),
    ).toBeUndefined();
  });

  test('ends the comparison with the stored object', () => {
    const fields = { list: { type: 'array', items: { type: 'integer' } }, text: { type: 'string' } };
    const schema = compileSchema(object(fields, { anyOf: [{ required: ['missing'] }] }));
    const list = Array.from({ length: 100_000 }, () => 1);
    const budget = createBudget({ ...FULL_BUDGET, stepsMax: 1_000 });
    validateValues(schema, { list: [...list], text: 'a' }, { budget, previous: { list, text: 'b' } });
    expect(isSpent(budget)).toBe(true);
    expect(budget.steps).toBeLessThan(2_000);
  });
});
