import { DecodeError } from '../../../shared/schema/decode';
import { parseYaml, yamlOf } from './yaml';

function parse(text: string): unknown {
  return parseYaml(Buffer.from(text));
}

describe('reading YAML', () => {
  test('scalars have the types of the Go library', () => {
    expect(
      parse(
        '{a: y, b: Off, c: 0644, d: 0x1F, e: 1_000, f: 1e3, g: "5", h: ~, i: 2021-01-01, j: 0b11, k: 09}',
      ),
    ).toEqual({
      a: true,
      b: false,
      c: 420,
      d: 31,
      e: 1000,
      f: 1000,
      g: '5',
      h: null,
      i: '2021-01-01',
      j: 3,
      k: 9,
    });
  });

  test('keys are strings, also those that look like something else', () => {
    expect(parse('n: 1\n5: 2\nnull: 3\n')).toEqual({ false: 1, 5: 2, null: 3 });
  });

  test('integers of 64 bits are exact', () => {
    expect(parse('[9223372036854775807, -9223372036854775808, 9007199254740991]')).toEqual([
      9223372036854775807n,
      -9223372036854775808n,
      9007199254740991,
    ]);
  });

  test('numbers that JSON does not have are refused', () => {
    for (const text of ['a: .inf', 'a: [-.inf]', 'a: .nan', '{"a": 1e400}']) {
      expect(() => parse(text)).toThrow('unsupported value');
    }
  });

  test('JSON is YAML, the last of equal keys counts, an empty document is null', () => {
    expect(parse('{"a": {"b": [1, "x"]}, "c": 1, "c": 2}')).toEqual({ a: { b: [1, 'x'] }, c: 2 });
    expect(parse('')).toBeNull();
  });

  test.each(['a: 1\n---\n', 'a: 1\n...\n---\n# the end\n', '---\na: 1\n---\nnull\n---\n'])(
    'an empty document may follow: %j',
    (text) => {
      expect(parse(text)).toEqual({ a: 1 });
    },
  );

  test('an alias is replaced by its anchor', () => {
    expect(parse('a: &x {k: v}\nb: *x\nc: {<<: *x, l: w}')).toEqual({
      a: { k: 'v' },
      b: { k: 'v' },
      c: { k: 'v', l: 'w' },
    });
  });

  const bomb = `a: &a ["x","x","x","x","x","x","x","x","x"]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
    .join('\n')}`;

  test.each([
    ['aliases that multiply', bomb],
    [
      'a long string repeated by aliases',
      `a: &a "${'x'.repeat(10_000)}"\nb: [${Array(1000).fill('*a').join(',')}]`,
    ],
    ['an alias inside itself', 'a: &a [*a]'],
    ['an unknown alias', 'a: *b'],
    ['deep nesting', '['.repeat(100_000)],
    ['an open list', 'a: [b'],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['a document after an empty one', '---\n---\na: 1'],
    ['a syntax error after a document', 'a: 1\n---\n]'],
    ['a tag of another language', 'a: !!js/function "x"'],
    ['binary', 'a: !!binary AQID'],
  ])('%s is refused', (_what, text) => {
    expect(() => parse(text)).toThrow(DecodeError);
  });

  test('text that is not UTF-8 is refused', () => {
    expect(() => parseYaml(Buffer.from([0x61, 0x3a, 0x20, 0xff]))).toThrow(DecodeError);
  });
});

describe('writing YAML', () => {
  test('keys are sorted, lists are not indented, text that looks like something else is quoted', () => {
    expect(
      yamlOf({
        kind: 'K',
        b: ['yes', 'n', '5', '0644', 'x: y'],
        a: { multi: 'one\ntwo\n', t: null, f: true },
      }),
    ).toBe(
      "a:\n  f: true\n  multi: |\n    one\n    two\n  t: null\nb:\n- 'yes'\n- 'n'\n- '5'\n- '0644'\n- 'x: y'\nkind: K\n",
    );
  });

  test('text that other readers take for a time is quoted', () => {
    const list = [
      '2026-11-21T17:31:29Z',
      '2021-01-01',
      '2021-1-1 10:00:00.5 +01:00',
      '2021-01-011',
      'on 2021-01-01',
    ];
    expect(yamlOf(list)).toBe(
      "- '2026-11-21T17:31:29Z'\n- '2021-01-01'\n- '2021-1-1 10:00:00.5 +01:00'\n- 2021-01-011\n- on 2021-01-01\n",
    );
    expect(parse(yamlOf(list))).toEqual(list);
  });

  test('values round-trip', () => {
    const value = {
      big: 9223372036854775807n,
      zero: 0,
      half: 0.5,
      text: '~',
      empty: '',
      list: [],
      map: {},
      date: '2021-01-01',
    };
    expect(parse(yamlOf(value))).toEqual(value);
  });

  test('lists below keys of any length are read the same', () => {
    const value = (length: number) => [{ spec: { ['k'.repeat(length)]: [null, { a: [1] }], list: ['a'] } }];
    for (const length of [1, 1_023, 1_024, 1_025, 5_000]) {
      expect(parse(yamlOf(value(length)))).toEqual(value(length));
    }
  });

  test('a value that occurs twice is written twice', () => {
    const same = { a: 1 };
    expect(yamlOf({ b: same, c: same })).toBe('b:\n  a: 1\nc:\n  a: 1\n');
  });
});
