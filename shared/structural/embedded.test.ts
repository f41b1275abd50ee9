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
      'so is one with a namespace and labels',
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
      'a version has one slash at most',
      { ...good, apiVersion: 'a/b/c' },
      ['one.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
  ])('%s', (_, one, errors) => {
    expect(errorsOf({ one })).toEqual(errors);
  });

  test('a kind is a label, in any case', () => {
    expect(errorsOf({ one: { ...good, kind: 'No_Kind' } })).toEqual([
      expect.stringContaining(
        'one.kind: Invalid value: "No_Kind": may have mixed case, but should otherwise match: a DNS-1035 label',
      ),
    ]);
  });

  test('names and labels are judged as those of any object', () => {
    const metadata = { name: 'a/b', labels: { '-': 'x' } };
    expect(errorsOf({ one: { ...good, metadata } }).map((text) => text.split(':')[0])).toEqual([
      'one.metadata.name',
      'one.metadata.labels',
    ]);
  });

  test('embedded resources are found in lists, maps and in each other', () => {
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

  test('a resource that is no object is not looked at', () => {
    expect(errorsOf({ one: 'x', list: 5 })).toEqual([]);
  });
});

describe('coercion', () => {
  const coerced = (object: JsonObject, drop: boolean): unknown => coerceEmbedded(schema, object, { drop });

  test('what is in form is returned itself', () => {
    const object = { one: { ...good, metadata: { name: 'a', labels: { b: 'c' } } } };
    expect(coerceEmbedded(schema, object, { drop: false }).object).toBe(object);
  });

  test('unknown fields of metadata go, and so does a time that is none', () => {
    const metadata = { name: 'a', odd: 1, creationTimestamp: null };
    expect(coerced({ list: [{ ...good, metadata }] }, false)).toEqual({
      object: { list: [{ ...good, metadata: { name: 'a' } }] },
      errors: [],
    });
  });

  test('a wrong type is refused in a request and dropped from what is stored', () => {
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

  test('metadata that is no object stays for validation to refuse', () => {
    const object = { one: { ...good, metadata: 'x' } };
    expect(coerced(object, true)).toEqual({ object, errors: [] });
    expect(errorsOf(object)).toEqual([expect.stringContaining('one.metadata: Invalid value: "x": ')]);
  });

  test.each<[unknown, string]>([
    [
      { name: 5 },
      'map[string]interface {}{"name":5}: v1.ObjectMeta.Name: ReadString: expects " or n, but found 5, error found in #9 byte of ...|{"name":5}|..., bigger context ...|{"name":5}|...',
    ],
    [
      'x',
      '"x": readObjectStart: expect { or n, but found ", error found in #1 byte of ...|"x"|..., bigger context ...|"x"|...',
    ],
    [
      { name: 'a', finalizers: 'f' },
      'map[string]interface {}{"finalizers":"f", "name":"a"}: v1.ObjectMeta.Finalizers: []string: decode slice: expect [ or n, but found ", error found in #10 byte of ...|alizers":"f","name":|..., bigger context ...|{"finalizers":"f","name":"a"}|...',
    ],
  ])('metadata that do not fit are told as what reads them tells it: %j', (metadata, words) => {
    expect(coerced({ one: { ...good, metadata } }, false)).toMatchObject({
      errors: [{ field: 'one.metadata', message: `Invalid value: ${words}` }],
    });
  });

  test.each<[unknown, unknown]>([
    [[{ ...good, metadata: { odd: 1 } }], [{ ...good, metadata: {} }]],
    [[{ ...good, metadata: null }], [{ ...good, metadata: {} }]],
    ['x', 'x'],
  ])('any value is brought into form: %j', (given, expected) => {
    const list = schema.properties.get('list');
    if (list === undefined) throw new Error('the schema has no list');
    expect(coerceEmbeddedIn(list, given, { drop: false })).toEqual({ value: expected, errors: [] });
  });

  test('the metadata of the object itself is left alone', () => {
    const object = { metadata: { odd: 1 }, kind: 5 };
    expect(coerceEmbedded(schema, object, { drop: true }).object).toBe(object);
  });
});
