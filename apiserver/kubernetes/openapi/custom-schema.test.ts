import { customSchema } from './custom-schema';
import type { SchemaForm } from './definitions';
import { OPENAPI_3, SWAGGER } from './definitions';

// eslint-disable-next-line typescript/no-explicit-any -- schemas are walked freely
type AnyJson = any;

function spec(form: SchemaForm, schema: object): AnyJson {
  const given = { type: 'object', properties: { spec: schema } };
  return (customSchema(given, form, { preservesUnknown: false }) as AnyJson).properties.spec;
}

describe('the schema of a custom resource', () => {
  test.each([
    ['v2', SWAGGER],
    ['v3', OPENAPI_3],
  ])('has in %s the fields of every object, whatever the definition declares for them', (version, form) => {
    const schema: AnyJson = customSchema(
      {
        type: 'object',
        description: 'A thing.',
        required: ['spec'],
        properties: { metadata: { type: 'object' }, kind: { type: 'string' }, spec: { type: 'object' } },
      },
      form,
      { preservesUnknown: false },
    );
    expect(schema).toMatchObject({ type: 'object', description: 'A thing.', required: ['spec'] });
    expect(Object.keys(schema.properties).toSorted()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    // The words that scripts and upstream's e2e tests expect of `kubectl explain`.
    expect(schema.properties).toMatchObject({
      apiVersion: {
        type: 'string',
        description: expect.stringMatching(
          /^APIVersion defines the versioned schema of this representation of an object/,
        ),
      },
      kind: {
        type: 'string',
        description: expect.stringMatching(
          /^Kind is a string value representing the REST resource this object represents/,
        ),
      },
      metadata: { description: expect.stringMatching(/^Standard object's metadata\. /) },
    });
    const { $ref = schema.properties.metadata.allOf?.[0]?.$ref } = schema.properties.metadata;
    expect($ref).toMatch(
      version === 'v2' ? /^#\/definitions\/.*ObjectMeta$/ : /^#\/components\/schemas\/.*ObjectMeta$/,
    );
  });

  test.each([
    ['none', undefined],
    ['one without types', { properties: { spec: {} } }],
    ['one that refers to others', { type: 'object', properties: { spec: { type: 'object', $ref: '#/x' } } }],
    [
      'one with types in a list of alternatives',
      { type: 'object', anyOf: [{ properties: { spec: { type: 'string' } } }] },
    ],
  ])('is any object if the definition has %s', (_what, given) => {
    expect(customSchema(given, SWAGGER, { preservesUnknown: false })).toEqual({ type: 'object' });
    expect(customSchema(given, OPENAPI_3, { preservesUnknown: false })).toEqual({ type: 'object' });
  });

  test('is any object in v2, but not in v3, if the root preserves unknown fields', () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    expect(customSchema(open, SWAGGER, { preservesUnknown: false })).toEqual({ type: 'object' });
    expect(customSchema(open, OPENAPI_3, { preservesUnknown: false })).toMatchObject({
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { kind: { type: 'string' } },
    });
    const closed = { type: 'object', properties: { spec: { type: 'object' } } };
    expect(customSchema(closed, SWAGGER, { preservesUnknown: true })).toEqual({ type: 'object' });
    expect(customSchema(closed, OPENAPI_3, { preservesUnknown: true })).toHaveProperty('properties.spec');
  });

  test('keeps every restriction of values in both versions', () => {
    const schema = {
      type: 'object',
      title: 'a title',
      description: 'what it is',
      minProperties: 0,
      maxProperties: 9,
      properties: {
        text: {
          type: 'string',
          format: 'date',
          pattern: '^a',
          minLength: 1,
          maxLength: 5,
          enum: ['a', 'ab'],
        },
        number: {
          type: 'number',
          minimum: 0,
          exclusiveMinimum: true,
          maximum: 9,
          exclusiveMaximum: true,
          multipleOf: 1.5,
        },
        list: {
          type: 'array',
          minItems: 1,
          maxItems: 3,
          items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
        labels: {
          type: 'object',
          additionalProperties: { type: 'string' },
          'x-kubernetes-map-type': 'atomic',
        },
        anything: { type: 'object', additionalProperties: true },
      },
    };
    expect(spec(SWAGGER, schema)).toEqual(schema);
    expect(spec(OPENAPI_3, schema)).toEqual(schema);
  });

  test('omits in v2 what it cannot express: alternatives, defaults, examples', () => {
    const schema = {
      type: 'object',
      default: { a: 1 },
      example: { a: 1 },
      externalDocs: { url: 'https://example.com' },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      oneOf: [{ required: ['a'] }],
      allOf: [{ required: ['a'] }],
      not: { required: ['c'] },
      properties: { a: { type: 'integer', format: 'int64', default: 1 }, b: { type: 'string' } },
    };
    expect(spec(SWAGGER, schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'integer', format: 'int64' }, b: { type: 'string' } },
    });
    const { example: _example, externalDocs: _externalDocs, ...said } = schema;
    expect(spec(OPENAPI_3, schema)).toEqual(said);
  });

  test('has no type and no fields in v2 if it is nullable, and does not require nullable fields', () => {
    const schema = {
      type: 'object',
      required: ['maybe', 'sure'],
      properties: {
        maybe: { type: 'object', nullable: true, properties: { x: { type: 'string' } } },
        list: { type: 'array', nullable: true, items: { type: 'string' } },
        sure: { type: 'string' },
      },
    };
    expect(spec(SWAGGER, schema)).toEqual({
      type: 'object',
      required: ['sure'],
      properties: { maybe: {}, list: {}, sure: { type: 'string' } },
    });
    expect(spec(OPENAPI_3, schema)).toEqual(schema);
    const values = {
      type: 'object',
      required: ['a'],
      additionalProperties: { type: 'string', nullable: true },
    };
    expect(spec(SWAGGER, values)).toEqual({ type: 'object', additionalProperties: {} });
  });

  test('has no type and no fields in v2 if unknown fields are preserved', () => {
    const free = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      required: ['a'],
      properties: { a: { type: 'string' } },
    };
    expect(spec(SWAGGER, free)).toEqual({ 'x-kubernetes-preserve-unknown-fields': true, required: ['a'] });
    expect(spec(OPENAPI_3, free)).toEqual(free);
    const list = { type: 'array', 'x-kubernetes-preserve-unknown-fields': true, items: { type: 'string' } };
    expect(spec(SWAGGER, list)).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
  });

  test('has in v3 the alternatives of int-or-string once', () => {
    const mark = { 'x-kubernetes-int-or-string': true };
    const either = [{ type: 'integer' }, { type: 'string' }];
    expect(spec(SWAGGER, { ...mark, anyOf: either })).toEqual(mark);
    expect(spec(OPENAPI_3, mark)).toEqual({ ...mark, anyOf: either });
    expect(spec(OPENAPI_3, { ...mark, anyOf: either })).toEqual({ ...mark, anyOf: either });
    const inAll = { ...mark, allOf: [{ anyOf: either }, { anyOf: [{ minimum: 42 }] }] };
    expect(spec(OPENAPI_3, inAll)).toEqual(inAll);
    expect(spec(OPENAPI_3, { ...mark, anyOf: [{ minimum: 42 }] })).toEqual({
      ...mark,
      anyOf: [{ minimum: 42 }],
      allOf: [{ anyOf: either }],
    });
    expect(spec(OPENAPI_3, { ...mark, anyOf: [{ minimum: 42 }], allOf: [{ maximum: 50 }] })).toEqual({
      ...mark,
      anyOf: [{ minimum: 42 }],
      allOf: [{ anyOf: either }, { maximum: 50 }],
    });
  });

  test('adds kind and metadata to an embedded object, in v2 only if unknown fields are pruned', () => {
    const closed = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      required: ['kind', 'spec'],
      properties: { spec: { type: 'object' } },
    };
    for (const form of [SWAGGER, OPENAPI_3]) {
      const embedded = spec(form, closed);
      expect(embedded.required).toEqual(['kind', 'spec', 'apiVersion']);
      expect(Object.keys(embedded.properties).toSorted()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    }
    const open = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    expect(spec(SWAGGER, { type: 'array', items: open }).items).toEqual({
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    });
    expect(spec(OPENAPI_3, { type: 'array', items: open }).items.required).toEqual(['kind', 'apiVersion']);
  });
});
