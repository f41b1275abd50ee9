import { pickJson, wantedMembers } from './pick-json';

const pick = (value: unknown, ...paths: readonly string[]): unknown =>
  pickJson(Buffer.from(JSON.stringify(value)), wantedMembers(paths));

test('only wanted members are returned, with the values of JSON.parse', () => {
  const object = {
    kind: 'Pod',
    metadata: { name: 'a"\\', labels: { 'x\u0000': 'ü', '': '}' }, annotations: { '{"': '[' } },
    spec: { list: [{ a: '"]' }, [[]], {}], nodeName: 'n\\"', hostNetwork: true },
    status: {},
    'a.b': 1,
  };
  expect(
    pick(object, 'metadata.labels', 'spec.nodeName', 'spec.hostNetwork', 'status.phase', 'kind'),
  ).toEqual({
    kind: 'Pod',
    metadata: { labels: object.metadata.labels },
    spec: { nodeName: 'n\\"', hostNetwork: true },
    status: {},
  });
});

test('a path into a non-object finds nothing, and a path below a wanted member is redundant', () => {
  expect(pick({ a: [1], b: null, c: -1.5e3 }, 'a.x', 'b.x', 'c')).toEqual({ c: -1_500 });
  expect(pick({ a: { b: { c: 1 }, d: 2 } }, 'a.b', 'a.b.c')).toEqual({ a: { b: { c: 1 } } });
  expect(pick({ a: { b: 1 } }, 'a.b', 'a')).toEqual({ a: { b: 1 } });
  expect(pick({}, 'a')).toEqual({});
});

test('random objects are parsed as by JSON.parse', () => {
  for (let round = 0; round < 300; round += 1) {
    const value = randomObject(4);
    const names = Object.keys(value);
    const wanted = names
      .filter(() => Math.random() < 0.5)
      .filter((name) => !name.includes('.') && name !== '__proto__');
    const expected = Object.fromEntries(Object.entries(value).filter(([name]) => wanted.includes(name)));
    expect(pick(value, ...wanted)).toEqual(expected);
  }
});

test.each(['', '[]', '"a"', '{"a":', '{"a":"b', '{"a":{"b":[', '{ "a":1}'])('%s is rejected', (text) => {
  expect(() => pickJson(Buffer.from(text), wantedMembers(['a']))).toThrow(/stored value|JSON/u);
});

function randomObject(depth: number): Record<string, unknown> {
  const count = Math.floor(Math.random() * 6);
  return Object.fromEntries(Array.from({ length: count }, () => [randomText(), randomValue(depth - 1)]));
}

function randomValue(depth: number): unknown {
  const kind = Math.floor(Math.random() * (depth > 0 ? 7 : 5));
  if (kind === 5) return Array.from({ length: Math.floor(Math.random() * 4) }, () => randomValue(depth - 1));
  if (kind === 6) return randomObject(depth);
  return [null, true, Math.random() * 1e6 - 5e5, randomText(), Math.floor(Math.random() * 10)][kind];
}

function randomText(): string {
  const letters = ['a', '"', '\\', '{', '}', '[', ']', ',', ':', 'é', '\n', '😀', '.'];
  return Array.from(
    { length: Math.floor(Math.random() * 8) },
    () => letters[Math.floor(Math.random() * letters.length)],
  ).join('');
}
