import { coerceEmbedded, coerceEmbeddedIn, validateEmbedded } from './embedded';
import { compileSchema } from './structural-schema';
import type { JsonObject } from '../object/clone';

const EMBEDDED = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const schema = compileSchema({
  type: 'object',
  properties: {
    one: { ...EMBEDDED, properties: { inner: EMBEDDED } },
    list: { type: 'array', items: EMBEDDED },
    map: { type: 'object', additionalProperties: EMBEDDED },
  },
});
const good = { apiVersion: 'apps/v1', kind: 'Deployment' };

function errorsOf(object: JsonObject): string[] {
  return validateEmbedded(schema, object).map(({ field, message }) => `${field}: ${message}`);
}

describe('validation', () => {
  test.each<[string, JsonObject, string[]]>([
    ['a resource without metadata is well', good, []],
    [
      'namespace and labels are valid',
      { ...good, metadata: { name: 'a', namespace: 'b', labels: { c: 'd' } } },
      [],
    ],
    [
      'type is required',
      {},
      ['one.apiVersion: Required value: must not be empty', 'one.kind: Required value: must not be empty'],
    ],
    [
      'type may not be empty',
      { apiVersion: '', kind: '' },
      [
        'one.apiVersion: Invalid value: "": must not be empty',
        'one.kind: Invalid value: "": must not be empty',
      ],
    ],
    [
      'type is text',
      { apiVersion: 1, kind: true },
      [
        'one.apiVersion: Invalid value: 1: must be a string',
        'one.kind: Invalid value: true: must be a string',
      ],
    ],
    [
      'a version has at most one slash',
      { ...good, apiVersion: 'a/b/c' },
      ['one.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
  ])('%s', (_, one, errors) => {
    expect(errorsOf({ one })).toEqual(errors);
  });

  test('a kind is a DNS-1035 label in any case', () => {
    expect(errorsOf({ one: { ...good, kind: 'No_Kind' } })).toEqual([
      expect.stringContaining(
        'one.kind: Invalid value: "No_Kind": may have mixed case, but should otherwise match: a DNS-1035 label',
      ),
    ]);
  });

  test('names and labels are validated as those of any object', () => {
    const metadata = { name: 'a/b', labels: { '-': 'x' } };
    expect(errorsOf({ one: { ...good, metadata } }).map((text) => text.split(':')[0])).toEqual([
      'one.metadata.name',
      'one.metadata.labels',
    ]);
  });

  test('embedded resources are found in lists, maps and other embedded resources', () => {
    expect(
      errorsOf({
        one: { ...good, inner: { kind: 'A' } },
        list: [good, { kind: 'A' }],
        map: { k: { kind: 'A' } },
      }),
    ).toEqual([
      'one.inner.apiVersion: Required value: must not be empty',
      'list[1].apiVersion: Required value: must not be empty',
      'map[k].apiVersion: Required value: must not be empty',
    ]);
  });

  test('a resource that is no object is skipped', () => {
    expect(errorsOf({ one: 'x', list: 5 })).toEqual([]);
  });
});

describe('coercion', () => {
  const coerced = (object: JsonObject, drop: boolean): unknown => coerceEmbedded(schema, object, { drop });

  test('a canonical object is returned itself', () => {
    const object = { one: { ...good, metadata: { name: 'a', labels: { b: 'c' } } } };
    expect(coerceEmbedded(schema, object, { drop: false }).object).toBe(object);
  });

  test('unknown fields of metadata and a null creationTimestamp are dropped', () => {
    const metadata = { name: 'a', odd: 1, creationTimestamp: null };
    expect(coerced({ list: [{ ...good, metadata }] }, false)).toEqual({
      object: { list: [{ ...good, metadata: { name: 'a' } }] },
      errors: [],
    });
  });

  test('a wrong type is refused in a request and dropped from a stored object', () => {
    const object = { one: { apiVersion: 1, kind: 'A', metadata: { name: 5, labels: { a: 'b' } } } };
    expect(coerced(object, false)).toMatchObject({ errors: [{ field: 'one.apiVersion' }] });
    expect(coerced(object, true)).toEqual({
      object: { one: { kind: 'A', metadata: { labels: { a: 'b' } } } },
      errors: [],
    });
    expect(coerced({ one: { ...good, metadata: { name: 5 } } }, false)).toMatchObject({
      errors: [{ field: 'one.metadata', reason: 'FieldValueInvalid' }],
    });
  });

  test('metadata that is no object is left for validation to refuse', () => {
    const object = { one: { ...good, metadata: 'x' } };
    expect(coerced(object, true)).toEqual({ object, errors: [] });
    expect(errorsOf(object)).toEqual([expect.stringContaining('one.metadata: Invalid value: "x": ')]);
  });

  test.each<[unknown, string]>([
    [
      { name: 5 },
      'map[string]interface {}{"name":5}: cannot unmarshal number 5 into field name of type string',
    ],
    ['x', '"x": cannot unmarshal string into value of type object'],
    [
      { name: 'a', finalizers: 'f' },
      'map[string]interface {}{"finalizers":"f", "name":"a"}: cannot unmarshal string into field finalizers of type array',
    ],
  ])('metadata of the wrong type is refused with the field and its type: %j', (metadata, problem) => {
    expect(coerced({ one: { ...good, metadata } }, false)).toMatchObject({
      errors: [{ field: 'one.metadata', message: `Invalid value: ${problem}` }],
    });
  });

  test.each<[unknown, unknown]>([
    [[{ ...good, metadata: { odd: 1 } }], [{ ...good, metadata: {} }]],
    [[{ ...good, metadata: null }], [{ ...good, metadata: {} }]],
    ['x', 'x'],
  ])('any value is coerced: %j', (given, expected) => {
    const list = schema.properties.get('list');
    if (list === undefined) throw new Error('the schema has no list');
    expect(coerceEmbeddedIn(list, given, { drop: false })).toEqual({ value: expected, errors: [] });
  });

  test('the metadata of the root object is not coerced', () => {
    const object = { metadata: { odd: 1 }, kind: 5 };
    expect(coerceEmbedded(schema, object, { drop: true }).object).toBe(object);
  });
});
