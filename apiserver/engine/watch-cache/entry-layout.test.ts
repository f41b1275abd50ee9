import {
  atRevision,
  contentOfStored,
  entryHead,
  entryOfStored,
  isMadeOf,
  storedOfEntry,
  versionIn,
} from './entry-layout';

const KIND = { kind: 'Pod', apiVersion: 'v1' };
const FULL = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}';
const BARE = '{"kind":"Pod","apiVersion":"v1","metadata":{}}';

describe.each([FULL, BARE])('%s', (text) => {
  const plain = Buffer.from(text);
  const entry = { bytes: entryOfStored(plain, 17), revision: 17 };

  test('is converted to an entry with its resourceVersion and back', () => {
    expect(JSON.parse(`{${entry.bytes.toString()}`)).toMatchObject({ metadata: { resourceVersion: '17' } });
    expect(versionIn(entry.bytes)).toBe('17');
    expect(storedOfEntry(entry, KIND).toString()).toBe(text);
  });

  test('is recognized as the source of the entry regardless of its apiVersion, and no other bytes are', () => {
    expect(isMadeOf(entry, plain)).toBe(true);
    expect(isMadeOf(entry, Buffer.from(text.replace('"v1"', '"v2beta10"')))).toBe(true);
    expect(isMadeOf(entry, Buffer.from(text.replace('metadata":{', 'metadata":{"uid":"x",')))).toBe(false);
    expect(isMadeOf(entry, Buffer.from('{}'))).toBe(false);
  });

  test('is converted to an entry of another revision, and of none', () => {
    const later = { bytes: atRevision(entry, 123_456), revision: 123_456 };
    expect(versionIn(later.bytes)).toBe('123456');
    expect(storedOfEntry(later, KIND).toString()).toBe(text);
    expect(versionIn(entryOfStored(plain, 0))).toBeUndefined();
  });

  test('begins like an entry composed of head and content', () => {
    const content = contentOfStored(plain) ?? Buffer.alloc(0);
    expect(entryHead(17, content) + content.toString()).toBe(entry.bytes.toString());
  });
});

test('bytes in another layout are not taken for the layout of the codec', () => {
  for (const text of [
    '{"apiVersion":"v1","kind":"Pod","metadata":{}}',
    '{"metadata":{}}',
    '{"kind":"P\\"","apiVersion":"v1","metadata":{}}',
  ]) {
    expect(contentOfStored(Buffer.from(text))).toBeUndefined();
  }
});
