import { decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import { validateSchema } from './crd-schemas';
import { createBudget } from '../../../../shared/structural/budget';
import { newPatternBudget } from './crd-structure';
import type { ReadonlyJson } from '../../../../shared/object/json';

const ALL = { structure: true, types: true, defaults: true };
const KEEP = { 'x-kubernetes-preserve-unknown-fields': true };
const EMBEDDED = { 'x-kubernetes-embedded-resource': true };

function errorsOf(sent: ReadonlyJson, hasStatus = false, patterns = newPatternBudget()): string[] {
  const { object: schema } = decodeObject(messageType('apiextensions/v1.JSONSchemaProps'), sent);
  const errors = validateSchema(schema, 's', {
    hasStatus,
    demands: { ...ALL, patterns, values: createBudget(), rules: undefined },
  });
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const root = (a: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'object',
  properties: { a },
  ...more,
});
const list = (type: string, items: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  ...more,
});
const keyed = (items: ReadonlyJson, ...keys: string[]): ReadonlyJson =>
  list('map', items, { 'x-kubernetes-list-map-keys': keys });
const A = 's.properties[a]';

/** Errors of a field `a` with that schema, without the path to it. */
const ofField = (schema: ReadonlyJson): string[] =>
  errorsOf(root(schema)).map((text) => text.replace(`${A}.`, ''));

test('a meta schema is refused as a whole, when nothing else is wrong', () => {
  expect(errorsOf(root({ type: 'string', $schema: 'x' }))).toEqual([
    `s: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
  ]);
  expect(errorsOf(root({ type: 'odd', $schema: 'x' }))).toEqual([
    `${A}.type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ]);
  expect(errorsOf(root({ $schema: 'x' }))).toHaveLength(1);
});

test.each<[string, ReadonlyJson, string[]]>([
  ['no type', {}, ['type: Required value: must not be empty for specified object fields']],
  [
    'an unknown type',
    { type: 'odd' },
    [
      'type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [
    'an item without type',
    { type: 'array', items: {} },
    ['items.type: Required value: must not be empty for specified array items'],
  ],
  ['a list without items', { type: 'array' }, ['items: Required value: must be specified']],
  [
    'several schemas for items',
    { type: 'array', items: [{ type: 'string' }] },
    ['items: Forbidden: items must be a schema object and not an array'],
  ],
  [
    'a fault in one of several schemas for items',
    { type: 'array', items: [{ type: 'string', id: 'x' }] },
    [
      'items: Forbidden: items must be a schema object and not an array',
      'items[0].id: Forbidden: id is not supported',
    ],
  ],
  [
    'a fault in what is refused as a whole',
    { type: 'object', patternProperties: { a: { $ref: '#/x' } } },
    ['patternProperties: Forbidden: patternProperties is not supported'],
  ],
  [
    'an empty schema for further items',
    { type: 'array', items: { type: 'string' }, additionalItems: {} },
    ['additionalItems: Forbidden: additionalItems is not supported'],
  ],
  ['a reference', { $ref: '#/x' }, ['$ref: Forbidden: $ref is not supported']],
  ['an empty reference', { $ref: '' }, ['$ref: Forbidden: $ref is not supported']],
  [
    'a list of no schemas for items',
    { type: 'array', items: [] },
    ['items: Required value: must be specified'],
  ],
  [
    'an empty type of list in a junctor',
    { type: 'array', items: { type: 'string' }, not: { 'x-kubernetes-list-type': '' } },
    [
      'not.type: Required value: must be array if x-kubernetes-list-type is specified',
      'not.x-kubernetes-list-type: Unsupported value: "": supported values: "atomic", "set", "map"',
      'not.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
    ],
  ],
  [
    'a bad pattern',
    { type: 'string', pattern: '[' },
    [
      'pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
    ],
  ],
  [
    'a bad pattern in a junctor',
    { type: 'string', not: { pattern: '(' } },
    [
      'not.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  [
    'unique items',
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
    [
      'uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  ],
  [
    'a struct that is a map',
    { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
    ['additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
  ],
  [
    'unknown fields not kept',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    ['x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
  ],
  [
    'an embedded text',
    { type: 'string', ...EMBEDDED },
    [
      'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    ],
  ],
  [
    'an embedded resource without type',
    { ...EMBEDDED, ...KEEP },
    ['type: Required value: must be object if x-kubernetes-embedded-resource is true'],
  ],
  [
    'an embedded map',
    { type: 'object', ...EMBEDDED, ...KEEP, additionalProperties: { type: 'string' } },
    ['additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set'],
  ],
  [
    'an integer or a text with unknown fields',
    { 'x-kubernetes-int-or-string': true, ...KEEP },
    [
      'x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
  ],
  [
    'a type in a junctor',
    { type: 'string', anyOf: [{ type: 'string' }] },
    ['anyOf[0].type: Forbidden: must be empty to be structural'],
  ],
  [
    'structure in a junctor',
    {
      type: 'object',
      anyOf: [{ default: 1, nullable: true, title: 'x', description: 'y', additionalProperties: {} }],
    },
    [
      'anyOf[0].additionalProperties: Forbidden: must be undefined to be structural',
      'anyOf[0].default: Forbidden: must be undefined to be structural',
      'anyOf[0].description: Forbidden: must be empty to be structural',
      'anyOf[0].nullable: Forbidden: must be false to be structural',
      'anyOf[0].title: Forbidden: must be empty to be structural',
    ],
  ],
  [
    'a marker in a junctor',
    { type: 'array', items: { type: 'string' }, allOf: [{ 'x-kubernetes-list-type': 'set', ...KEEP }] },
    [
      'allOf[0].type: Required value: must be array if x-kubernetes-list-type is specified',
      'allOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural',
      'allOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural',
    ],
  ],
  [
    'metadata in a junctor',
    {
      type: 'object',
      ...KEEP,
      properties: { metadata: { type: 'object' } },
      not: { properties: { metadata: {} } },
    },
    ['not.properties[metadata]: Forbidden: must not be specified in a nested context'],
  ],
  [
    'an unknown list type',
    list('odd', { type: 'string' }),
    ['x-kubernetes-list-type: Unsupported value: "odd": supported values: "atomic", "set", "map"'],
  ],
  [
    'an unknown map type',
    { type: 'object', 'x-kubernetes-map-type': 'odd' },
    ['x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"'],
  ],
  [
    'a list type for a text',
    { type: 'string', 'x-kubernetes-list-type': 'set' },
    ['type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'a map type for a text',
    { type: 'string', 'x-kubernetes-map-type': 'atomic' },
    ['type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
  ],
  [
    'keys without a list type',
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['k'] },
    ['x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
  [
    'keys of a set',
    list('set', { type: 'string' }, { 'x-kubernetes-list-map-keys': ['k'] }),
    ['x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
  [
    'a keyed list without keys',
    list('map', { type: 'object' }),
    ['x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  ],
  [
    'a keyed list of texts',
    keyed({ type: 'string' }, 'k'),
    [`items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`],
  ],
  [
    'strange keys',
    keyed({ type: 'object', properties: { k: { type: 'string', default: 'x' } } }, 'k', 'k', 'z'),
    [
      'x-kubernetes-list-map-keys: Invalid value: []string{"k", "k", "z"}: entries must all be names of item properties',
      'x-kubernetes-list-map-keys: Invalid value: []string{"k", "k", "z"}: must not contain duplicate entries',
    ],
  ],
  [
    'a key that may be missing or null',
    keyed({ type: 'object', properties: { k: { type: 'string', nullable: true } } }, 'k'),
    [
      'items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      'items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  [
    'a key that is an object',
    keyed({ type: 'object', properties: { k: { type: 'object' } }, required: ['k'] }, 'k'),
    [
      `items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    'a set of structs',
    list('set', { type: 'object' }),
    [
      'items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    'a set of sets',
    list('set', list('set', { type: 'string' })),
    [
      'items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    'a set with null',
    list('set', { type: 'string', nullable: true }),
    ['items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set'],
  ],
  [
    'a default that is no object, of what is an integer or a text and an object',
    { type: 'object', 'x-kubernetes-int-or-string': true, default: 5 },
    ['default: Invalid value: "integer":  in body must be of type object: "integer"'],
  ],
  [
    'a default in a format that is another one than that of its type',
    { 'x-kubernetes-int-or-string': true, format: 'int32', default: 5 },
    ['default: Invalid value: "int64":  in body must be of type int32: "int64"'],
  ],
  [
    'a default in its own format, which is no type',
    { 'x-kubernetes-int-or-string': true, format: 'int64', default: 5 },
    ['default: Invalid value: "integer":  in body must be of type : "integer"'],
  ],
  [
    'a default beyond the range of its format',
    { type: 'integer', format: 'int32', default: 2_147_483_648 },
    ['default: Invalid value: "": Checked value must be of type integer with format int32 in '],
  ],
  [
    'a default in no format of one of several schemas',
    { type: 'integer', allOf: [{ format: 'odd' }], default: 5 },
    [
      'default: Invalid value: "int64":  in body must be of type odd: "int64"',
      'default: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    ],
  ],
  [
    'a default of another type',
    { type: 'string', default: 5 },
    ['default: Invalid value: "integer":  in body must be of type string: "integer"'],
  ],
  [
    'a default out of range',
    { type: 'integer', minimum: 5, default: 1 },
    ['default: Invalid value: 1:  in body should be greater than or equal to 5'],
  ],
  [
    'a default with unknown fields',
    { type: 'object', properties: { b: { type: 'string' } }, default: { b: 'x', c: 1 } },
    ['default: Invalid value: map[string]interface {}{"b":"x", "c":1}: must not have unknown fields'],
  ],
  [
    'a bad field of a default',
    { type: 'object', properties: { b: { type: 'string' } }, default: { b: 1 } },
    ['default.b: Invalid value: "integer": b in body must be of type string: "integer"'],
  ],
  [
    'a default without a required field',
    { type: 'object', properties: { b: { type: 'string' } }, required: ['b'], default: {} },
    ['default.b: Required value'],
  ],
  [
    'a default resource without kind',
    { type: 'object', ...EMBEDDED, ...KEEP, default: { apiVersion: 'v1' } },
    ['default.kind: Required value: must not be empty'],
  ],
  [
    'a bad default in embedded metadata',
    {
      type: 'object',
      ...EMBEDDED,
      ...KEEP,
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a/b' } } } },
    },
    [
      `properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
    ],
  ],
])('%s is refused', (_, schema, errors) => {
  expect(ofField(schema)).toEqual(errors);
});

test.each<[string, ReadonlyJson]>([
  ['an integer or a text', { 'x-kubernetes-int-or-string': true }],
  [
    'the same with its types',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  [
    'the same with types that are documented',
    {
      'x-kubernetes-int-or-string': true,
      anyOf: [
        { type: 'integer', example: 1 },
        { type: 'string', externalDocs: { url: 'u' }, title: '' },
      ],
    },
  ],
  [
    'the same with more',
    {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
    },
  ],
  ['anything', KEEP],
  ['any values', { type: 'object', additionalProperties: true }],
  [
    'values in a junctor',
    {
      type: 'object',
      properties: { b: { type: 'integer' } },
      oneOf: [{ required: ['b'], properties: { b: { minimum: 1 } } }],
    },
  ],
  ['a pattern of RE2', { type: 'string', pattern: '(?i)^(?P<n>a)\\z' }],
  ['a keyed list', keyed({ type: 'object', properties: { k: { type: 'string' } }, required: ['k'] }, 'k')],
  ['any default of what is an integer or a text', { 'x-kubernetes-int-or-string': true, default: true }],
  [
    'a default that is in one of two formats',
    { type: 'integer', oneOf: [{ format: 'int32' }, { minimum: 1 }], default: 5 },
  ],
  [
    'an embedded resource',
    { type: 'object', ...EMBEDDED, ...KEEP, default: { apiVersion: 'v1', kind: 'Pod' } },
  ],
  [
    'a default in embedded metadata',
    {
      type: 'object',
      ...EMBEDDED,
      ...KEEP,
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a' } } } },
    },
  ],
  [
    'a default of a default',
    { type: 'object', properties: { b: { type: 'string', default: 'x' } }, required: ['b'], default: {} },
  ],
  ['null as a default', { type: 'string', nullable: true, default: null }],
])('%s is well', (_, schema) => {
  expect(ofField(schema)).toEqual([]);
});

describe('the root', () => {
  test.each<[string, ReadonlyJson, string[]]>([
    ['no type', { properties: {} }, ['s.type: Required value: must not be empty at the root']],
    ['a text', { type: 'string' }, ['s.type: Invalid value: "string": must be object at the root']],
    [
      'null',
      { type: 'object', nullable: true },
      ['s.nullable: Forbidden: nullable cannot be true at the root'],
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'string' } },
      ['s.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'metadata',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
      },
      [
        's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'another type of version',
      { type: 'object', properties: { apiVersion: { type: 'integer' } } },
      ['s.properties[apiVersion].type: Invalid value: "integer": must be string'],
    ],
    [
      'a default in metadata',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a' } } } },
      },
      ['s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
    ],
  ])('cannot have %s', (_, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test('cannot speak of fields in a junctor alone, which upstream asks of the root only', () => {
    const values = { oneOf: [{ properties: { b: { minimum: 1 } } }], not: { items: { minimum: 1 } } };
    expect(errorsOf({ type: 'object', ...values })).toEqual([
      's.items: Required value: because it is defined in s.not.items',
      's.properties[b]: Required value: because it is defined in s.oneOf[0].properties[b]',
    ]);
    expect(ofField({ type: 'object', ...values })).toEqual([]);
  });

  test('may restrict names', () => {
    const metadata = { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } };
    expect(errorsOf({ type: 'object', properties: { metadata } })).toEqual([]);
  });

  test('has few keywords beside fields if its status is apart', () => {
    expect(errorsOf(root({ type: 'string' }, { required: ['a'], ...KEEP }), true)).toEqual([]);
    expect(errorsOf(root({ type: 'string' }, { anyOf: [{ required: ['a'] }] }))).toEqual([]);
    expect(errorsOf(root({ type: 'string' }, { default: [] }), true)[0]).toContain(
      'fields are allowed at the root',
    );
    expect(errorsOf(root({ type: 'string' }, { anyOf: [{ required: ['a'] }] }), true)).toEqual([
      expect.stringContaining(
        'fields are allowed at the root of the schema if the status subresource is enabled',
      ),
    ]);
  });
});

test('patterns that are large together are refused', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `f${String(index)}`,
      { type: 'string', pattern: `(${String(index)}|a{900})b{900}` },
    ]),
  );
  expect(errorsOf({ type: 'object', properties }).at(-1)).toContain(
    'the patterns of this definition are too large together',
  );
});

test('the patterns of all versions of a definition are counted together', () => {
  const patterns = newPatternBudget();
  const version = (name: number): ReadonlyJson =>
    root({ type: 'string', pattern: `(${String(name)}|a{900})b{900}` });
  const errors = Array.from({ length: 30 }, (_, name) => errorsOf(version(name), false, patterns));
  expect(errors[0]).toEqual([]);
  expect(errors.at(-1)?.[0]).toContain('the patterns of this definition are too large together');
  expect(errorsOf(version(0), false, patterns)).toEqual([]);
});

test('one pattern counts once, however many fields have it', () => {
  const pattern = '^(a|b)?([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
  const properties = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`f${String(index)}`, { type: 'string', pattern }]),
  );
  expect(errorsOf({ type: 'object', properties })).toEqual([]);
});
