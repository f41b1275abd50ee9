import { compileJsonPath, JsonPathError } from './json-path';

const object = {
  metadata: { name: 'a', labels: { 'app.example/name': 'web', x: 'y' } },
  spec: {
    replicas: 3,
    list: ['a', 'b', 'c'],
    empty: '',
    none: null,
    deep: { name: 'b', list: [{ name: 'c' }] },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', weight: 5 },
      { type: 'Live', status: 'False', weight: 7 },
      { status: 'Unknown' },
    ],
  },
};

test.each<[string, readonly unknown[]]>([
  ['.spec.replicas', [3]],
  ['.spec', [object.spec]],
  ['.', [object]],
  ['', [object]],
  ['.spec.empty', ['']],
  ['.spec.none', [null]],
  ['.spec.none.more', []],
  ['.spec.nothing', []],
  ['.spec.nothing.more[0]', []],
  ['.spec.replicas.more', []],
  ['.constructor', []],
  ['.spec.list[0]', ['a']],
  ['.spec.list[-1]', ['c']],
  ['.spec.list[3]', []],
  ['.spec.list[-4]', []],
  ['.spec.list[*]', ['a', 'b', 'c']],
  ['.spec.list[0:2]', ['a', 'b']],
  ['.spec.list[1:]', ['b', 'c']],
  ['.spec.list[:-1]', ['a', 'b']],
  ['.spec.list[0:3:2]', ['a', 'c']],
  ['.spec.list[0,2]', ['a', 'c']],
  ['.spec[0]', []],
  ["['spec'].replicas", [3]],
  [".metadata.labels['x']", ['y']],
  ['.metadata.labels.app\\.example/name', ['web']],
  [".metadata.labels['app\\.example/name']", ['web']],
  [".metadata.labels['app.example/name']", []],
  ['.metadata.labels.*', ['web', 'y']],
  ['..name', ['a', 'b', 'c']],
  ['.spec..name', ['b', 'c']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].status", ['True']],
  ['.status.conditions[?(@.type == "Ready")].status', ['True']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[?(@.weight>5)].type', ['Live']],
  ['.status.conditions[?(@.weight<=5)].type', ['Ready']],
  ['.status.conditions[?(@.type)].type', ['Ready', 'Live']],
  ['.status.conditions[?(@.type==5)].status', []],
  ['.status.conditions[?(@.type=="a]b)")].status', []],
  ['.status[?(@.type=="Ready")]', []],
  ['$.spec.replicas', [3]],
])('%s', (path, expected) => {
  expect(compileJsonPath(path)(object)).toEqual(expected);
});

test.each([
  '.a[',
  '.a[x]',
  '.a[?(@.b]',
  '.a["b]',
  '.a{b',
  '.a b',
  '.a[]',
  `.${'a'.repeat(5_000)}`,
  '.a'.repeat(200),
  ".a[?(@.b=='x)]",
])('%.30j is an invalid path', (path) => {
  expect(() => compileJsonPath(path)).toThrow(JsonPathError);
});

test('the key __proto__ is an ordinary field', () => {
  const own: unknown = JSON.parse('{"__proto__":{"a":1}}');
  expect(compileJsonPath('.__proto__.a')(own)).toEqual([1]);
  expect(compileJsonPath('.__proto__.a')({})).toEqual([]);
});

test('a path of many steps through a large object is abandoned', () => {
  const wide = { list: Array.from({ length: 600_000 }, (_, index) => ({ index })) };
  expect(compileJsonPath('.list[*].index')(wide)).toEqual([]);
  expect(compileJsonPath('..list....index')(wide)).toEqual([]);
});

describe('a path that visits values repeatedly yields nothing', () => {
  const list = Array.from({ length: 10_000 }, (_, index) => ({ a: index }));

  test('by a union', () => {
    expect(compileJsonPath('[*,*]')(list)).toHaveLength(20_000);
    expect(compileJsonPath(`[${Array.from({ length: 1_000 }, () => '*').join(',')}]`)(list)).toEqual([]);
  });

  test('by one step after a union', () => {
    const wide = Array.from({ length: 100 }, () => list);
    expect(compileJsonPath(`[${Array.from({ length: 1_000 }, () => '*').join(',')}][*]`)(wide)).toEqual([]);
    expect(compileJsonPath(`[${Array.from({ length: 1_000 }, () => '*').join(',')}][:]`)(wide)).toEqual([]);
  });

  test('by a filter at each of several nested lists', () => {
    let nested: unknown = list;
    for (let level = 0; level < 500; level += 1) nested = [nested];
    expect(compileJsonPath('[?(@.a==7)].a')(list)).toEqual([7]);
    expect(compileJsonPath('..[?(@..b==1)]')(nested)).toEqual([]);
  });
});

test('filters nest up to a limit, since parsing is quadratic in the nesting', () => {
  const nested = (levels: number): string => `.list${'[?(@.a'.repeat(levels)}${')]'.repeat(levels)}`;
  expect(compileJsonPath(nested(5))({ list: [{ a: [{ a: [] }] }] })).toEqual([]);
  expect(() => compileJsonPath(nested(6))).toThrow(new JsonPathError('the path nests its filters too deep'));
  // Consecutive filters are not nested.
  expect(compileJsonPath('.list[?(@.a)]'.repeat(20))({})).toEqual([]);
});
