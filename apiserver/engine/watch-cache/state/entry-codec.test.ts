import { decodeEntry, withRevision } from './entry-codec';
import { NODES, PODS } from '../testing/fixtures';

function decode(text: string, key = 'a/x', revision = 42): ReturnType<typeof decodeEntry> {
  return decodeEntry(PODS, { key, plain: Buffer.from(text), revision });
}

test('the resourceVersion is spliced in before the other metadata and nothing else changes', () => {
  const entry = decode(
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","uid":"u"},"n":9007199254740993}',
  );
  expect(entry.bytes.toString()).toBe(
    '"metadata":{"resourceVersion":"42","name":"x","uid":"u"},"n":9007199254740993}',
  );
  expect(entry).toMatchObject({ key: 'a/x', namespace: 'a', name: 'x', uid: 'u', revision: 42 });
  expect(decode('{"kind":"Pod","apiVersion":"v1","metadata":{}}').bytes.toString()).toBe(
    '"metadata":{"resourceVersion":"42"}}',
  );
});

test.each([
  [
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{}}',
    '"metadata":{"resourceVersion":"42","name":"x"},"spec":{}}',
  ],
  ['{ "kind":"Pod","spec":{"a":1},"metadata":{} }', '"metadata":{"resourceVersion":"42"},"spec":{"a":1}}'],
  [
    '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"x"}}',
    '"metadata":{"resourceVersion":"42","name":"x"}}',
  ],
  [
    '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}',
    '"metadata":{"resourceVersion":"42"}}',
  ],
])('another layout is serialized again: %s', (stored, bytes) => {
  expect(decode(stored).bytes.toString()).toBe(bytes);
});

/** Long enough that only the needed members are parsed. */
const LONG = 'x'.repeat(20_000);

test.each([
  '"metadata":{"name":"x","uid":"u","labels":{"a":"b"}},"spec":{"nodeName":"n1"}',
  '"metadata":{"resourceVersion":"7","name":"x","uid":"u","labels":{"a":"b"}},"spec":{"nodeName":"n1"}',
  '"metadata":{ "name":"x","uid":"u", "labels":{"a":"b"}},"spec":{"nodeName":"n1"}',
])('a long object is decoded completely in any layout: %s', (inside) => {
  const text = `{"kind":"Pod","apiVersion":"v1",${inside},"data":"${LONG}"}`.replace(
    '}},"spec"',
    `},"annotations":{"b":"c"}},"spec"`,
  );
  const entry = decode(text);
  expect(JSON.parse(`{${entry.bytes.toString()}`)).toEqual({
    metadata: { resourceVersion: '42', name: 'x', uid: 'u', labels: { a: 'b' }, annotations: { b: 'c' } },
    spec: { nodeName: 'n1' },
    data: LONG,
  });
  expect(entry).toMatchObject({ uid: 'u', labels: { a: 'b' }, fields: { 'spec.nodeName': 'n1' } });
});

test('labels and fields are own members only, and absent fields are empty', () => {
  const entry = decode(
    '{"kind":"Pod","apiVersion":"v1","metadata":{"labels":{"__proto__":"p","a":"b"}},"spec":{"nodeName":"n1"}}',
  );
  expect('constructor' in entry.labels).toBe(false);
  expect(Object.entries(entry.labels)).toEqual([
    ['__proto__', 'p'],
    ['a', 'b'],
  ]);
  expect(Object.entries(entry.fields)).toEqual([
    ['metadata.name', 'x'],
    ['metadata.namespace', 'a'],
    ['spec.nodeName', 'n1'],
    ['status.phase', ''],
  ]);
  const node = decodeEntry(NODES, {
    key: 'n/1',
    plain: Buffer.from('{"kind":"Node","apiVersion":"v1","metadata":{},"spec":{"unschedulable":true}}'),
    revision: 1,
  });
  expect(node).toMatchObject({ namespace: '', name: 'n/1', fields: { 'spec.unschedulable': 'true' } });
});

test.each(['', '[]', 'null', '{"metadata":3}', '{"kind":"Pod"'])('%s is rejected', (text) => {
  expect(() => decode(text)).toThrow(/JSON|metadata/);
});

test('a parsed object makes the same entry as its bytes', () => {
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      uid: '4f2e-as-long-as-uids-are',
      labels: { 'example.com/a-long-name': 'a-value-that-is-long' },
    },
    spec: { nodeName: 'node-with-a-long-name' },
    status: { phase: 'half a pair: \ud83d' },
  };
  const plain = Buffer.from(JSON.stringify(object));
  const stored = { key: 'a/x', plain, revision: 42 };
  expect(decodeEntry(PODS, { ...stored, parsed: object })).toEqual(decodeEntry(PODS, stored));
});

test('the last state of a deleted object has the resourceVersion of the deletion', () => {
  const entry = decode('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"data":"y"}', 'a/x', 9);
  const gone = withRevision(entry, 1_000);
  expect(gone.bytes.toString()).toBe('"metadata":{"resourceVersion":"1000","name":"x"},"data":"y"}');
  expect(gone).toMatchObject({ key: 'a/x', revision: 1_000 });
  expect(entry.revision).toBe(9);
});
