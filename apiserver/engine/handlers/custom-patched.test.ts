import { DecodeError } from '../../../shared/schema/decode';
import { inOrder, jsonBytesOf } from '../../../shared/schema/reader-words/document-words';
import { metadataMisfit, typeMetaMisfit } from './custom-patched';

const textOf = (patched: unknown) => (): Buffer => jsonBytesOf(inOrder(patched));

const KIND = { kind: 'Aa', apiVersion: 'example.com/v1' };

test.each<[object, string]>([
  [
    { ...KIND, kind: 5 },
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
  ],
  [
    { ...KIND, apiVersion: ['a'] },
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .apiVersion of type string",
  ],
  [
    { spec: 1, apiVersion: 'example.com/v1' },
    'unmarshalerDecoder: Object \'Kind\' is missing in \'{"apiVersion":"example.com/v1","spec":1}\', error found in #10 byte of ...|,"spec":1}|..., bigger context ...|{"apiVersion":"example.com/v1","spec":1}|...',
  ],
  [{ ...KIND, apiVersion: null }, '.apiVersion accessor error: <nil> is of the type <nil>, expected string'],
])('what a patch has made of a kind or a version is told: %j', (patched, why) => {
  expect(typeMetaMisfit(patched, textOf(patched))?.why).toBe(why);
});

test.each<[unknown]>([[KIND], [{ kind: 'Other' }], [[]], ['x']])('nothing is told of %j', (patched) => {
  expect(typeMetaMisfit(patched, textOf(patched))).toBeUndefined();
});

test.each<[unknown, string]>([
  [
    { labels: 5 },
    'v1.ObjectMeta.Labels: ReadMapCB: expect { or n, but found 5, error found in #10 byte of ...|"labels":5}|..., bigger context ...|{"labels":5}|...',
  ],
  [
    true,
    'readObjectStart: expect { or n, but found t, error found in #1 byte of ...|true|..., bigger context ...|true|...',
  ],
])('metadata that do not fit are told as what reads them tells it: %j', (metadata, why) => {
  const patched = { ...KIND, spec: 1, metadata };
  const shown = `{"apiVersion":"example.com/v1","kind":"Aa","metadata":${JSON.stringify(metadata)},"spec":1}`;
  expect(metadataMisfit(patched, new DecodeError('expected another'), textOf(patched))).toEqual({
    why,
    shown,
  });
});

test('what is too long is not shown', () => {
  const patched = { ...KIND, metadata: { labels: 5 } };
  expect(metadataMisfit(patched, new DecodeError('expected another'), () => undefined)).toEqual({
    why: 'expected another',
    shown: '',
  });
});
