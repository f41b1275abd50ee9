import { jsonInOrder, typeMetaWords } from './document-words';
import { DOCUMENT_BYTES_MAX } from './reader-words';

const BODY = Buffer.from('a: b');

describe('a document without a kind and version that could be read', () => {
  test.each([
    [
      [1],
      'array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
    [
      true,
      'bool into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
    [{ a: 1, kind: {}, apiVersion: 1 }, 'object into Go struct field .kind of type string'],
    [{ apiVersion: ['a'], kind: 5n }, 'array into Go struct field .apiVersion of type string'],
  ])('%j is told by what it is', (value, words) => {
    expect(typeMetaWords(value)).toBe(`json: cannot unmarshal ${words}`);
  });

  test.each([[{}], [{ kind: null, apiVersion: 'v1' }]])('%j is none', (value) => {
    expect(typeMetaWords(value)).toBeUndefined();
  });
});

describe('the JSON of a value', () => {
  test('has its names in order and escapes what ends scripts', () => {
    const value = { b: [{ d: 1n, c: '<&>\u2028' }], a: null };
    expect(jsonInOrder(value, BODY)?.toString()).toBe(
      '{"a":null,"b":[{"c":"\\u003c\\u0026\\u003e\\u2028","d":1}]}',
    );
  });

  test('is not made of a long body', () => {
    expect(jsonInOrder({}, Buffer.alloc(DOCUMENT_BYTES_MAX + 1))).toBeUndefined();
  });
});
