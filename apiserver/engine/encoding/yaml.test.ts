import * as fc from 'fast-check';
import { deepEqual } from '../../../shared/object/clone';
import { stringifyExact } from '../../../shared/object/exact-text';
import { DecodeError, decodeJson } from '../../../shared/schema/decode';
import { LOOP_BOUNDS, TooLargeHereError } from '../request/loop-bounds';
import cases from './testing/yaml-cases.json';
import { duplicateYamlKeys, parseYaml, yamlOf } from './yaml';

function parse(text: string): unknown {
  return parseYaml(Buffer.from(text));
}

/** A document of the recorded cases: text, or bytes after `hex:`. */
function bytesOf(document: string): Buffer {
  return document.startsWith('hex:') ? Buffer.from(document.slice(4), 'hex') : Buffer.from(document);
}

/** The cases were recorded with sigs.k8s.io/yaml 1.6.0, whose JSON they have. */
describe('the recorded documents of the Go library', () => {
  test('are read as the same JSON', () => {
    const others = Object.entries<string>(cases.read).flatMap(([document, json]) => {
      const value = parseYaml(bytesOf(document));
      return deepEqual(value, decodeJson(Buffer.from(json))) ? [] : [[document, json, stringifyExact(value)]];
    });
    expect(others).toEqual([]);
  });

  test('are refused if the library refuses them', () => {
    const accepted = cases.refused.filter((document) => {
      try {
        parseYaml(bytesOf(document));
        return true;
      } catch (error) {
        if (error instanceof DecodeError) return false;
        throw error;
      }
    });
    expect(accepted).toEqual([]);
  });
});

describe('reading YAML', () => {
  test('integers of 64 bits are exact', () => {
    expect(parse('[9223372036854775807, -9223372036854775808, 9007199254740991]')).toEqual([
      9223372036854775807n,
      -9223372036854775808n,
      9007199254740991,
    ]);
  });

  test('an error names the line and the reason', () => {
    expect(() => parse('a: 1\nb: [\n')).toThrow('yaml: line 3: did not find expected node content');
    expect(() => parse('a: b: c')).toThrow('yaml: line 1: mapping values are not allowed in this context');
    expect(() => parse('a: .inf')).toThrow('yaml: unsupported value: +Inf');
    expect(() => parse('~: 1')).toThrow('yaml: unsupported map key of type null');
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

  test('aliases may stand for long text and many values', () => {
    const long = `a: &a "${'x'.repeat(2_000)}"\nb: [${Array(1_000).fill('*a').join(', ')}]`;
    expect(parse(long)).toMatchObject({ b: { length: 1_000 } });
    const many = `a: &a [${Array(100).fill('1').join(', ')}]\nb: [${Array(1_000).fill('*a').join(', ')}]`;
    expect(parse(many)).toMatchObject({ b: { length: 1_000 } });
    expect(() => parseYaml(Buffer.from(many), LOOP_BOUNDS)).toThrow(TooLargeHereError);
  });

  const bomb = `a: &a ["x","x","x","x","x","x","x","x","x"]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]`)
    .join('\n')}`;

  const nested = [
    'a: &a [1]',
    ...Array.from({ length: 20 }, (_, index) => {
      const inner = index === 0 ? '*a' : `*a${String(index - 1)}`;
      return `b${String(index)}: &a${String(index)} ${'['.repeat(100)}${inner} ${']'.repeat(100)}`;
    }),
  ].join('\n');

  const nestedMerges = [
    'a: &a {x: 1}',
    ...Array.from({ length: 20 }, () => `b: &a ${'{<<: '.repeat(900)}*a ${'}'.repeat(900)}`),
  ].join('\n');

  test.each([
    ['aliases that multiply', bomb],
    [
      'a long string repeated by aliases',
      `a: &a "${'x'.repeat(10_000)}"\nb: [${Array(1_000).fill('*a').join(', ')}]`,
    ],
    [
      'a number with a long text repeated by aliases',
      `a: &a 1${'_'.repeat(10_000)}\nb: [${Array(1_000).fill('*a').join(', ')}]`,
    ],
    [
      'empty merges repeated by aliases',
      `a: &a {${'<<: [],'.repeat(1_000)}}\nb: [${Array(1_000).fill('*a').join(', ')}]`,
    ],
    ['aliases that nest deeper than JSON may', nested],
    ['merges that nest deeper than JSON may', nestedMerges],
    ['deep nesting', '['.repeat(100_000)],
    ['deep nesting of maps in flow style', '{a: '.repeat(100_000)],
    ['deep nesting of lists in one line', '- '.repeat(100_000)],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['a document after an empty one', '---\n---\na: 1'],
    ['a syntax error after a document', 'a: 1\n---\n]'],
  ])('%s is refused', (_what, text) => {
    expect(() => parse(text)).toThrow(DecodeError);
  });
});

/** Returns how many characters are read one by one, or copied, while a document is parsed. */
function countCharactersRead(text: string): number {
  let count = 0;
  // oxlint-disable-next-line typescript/unbound-method -- they are called with their string below
  const { charCodeAt, slice } = String.prototype;
  const spies = [
    jest.spyOn(String.prototype, 'charCodeAt').mockImplementation(function (this: string, at) {
      count += 1;
      return charCodeAt.call(this, at);
    }),
    jest.spyOn(String.prototype, 'slice').mockImplementation(function (this: string, start, end) {
      const part = slice.call(this, start, end);
      count += part.length;
      return part;
    }),
  ];
  try {
    parse(text);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return count;
}

const WORK_PER_CHARACTER_MAX = 16;

describe('the work for each character is bounded', () => {
  const nested = (depth: number, text: string): string => '['.repeat(depth) + text + ']'.repeat(depth);
  test.each([
    ['lists around a long string', nested(80, `"${'x'.repeat(20_000)}"`)],
    ['lists around a long string with pairs of surrogates', nested(80, `"${'😀'.repeat(10_000)}"`)],
    ['lists around many short values', nested(540, 'a,'.repeat(4_000))],
    ['deeply nested lists', nested(1, `${nested(998, '')},`.repeat(10))],
    ['deeply nested maps', nested(1, `${'{a: '.repeat(900)}${'}'.repeat(900)},`.repeat(5))],
    [
      'tags with a long prefix',
      `%TAG ! tag:yaml.org,2002:${'x'.repeat(4_000)}\n---\n[${'!a b,'.repeat(2_000)}]`,
    ],
    ['an escape in each of many strings', nested(1, '"\\"",'.repeat(4_000))],
    ['many lines of a plain scalar', `a: b\n${' c\n'.repeat(5_000)}`],
    ['many nested lists in one line', `${'- '.repeat(500)}a\n`.repeat(10)],
  ])('in %s', (_what, text) => {
    expect(countCharactersRead(text) / text.length).toBeLessThan(WORK_PER_CHARACTER_MAX);
  });
});

describe('duplicate keys', () => {
  const pathsIn = (text: string): readonly string[] => duplicateYamlKeys(Buffer.from(text));

  test.each<[text: string, paths: readonly string[]]>([
    ['a: 1\nb: 2\n', []],
    ['a: 1\nb: 2\na: 3\n', ['a']],
    ['a:\nb:\na:\n', ['a']],
    ['a:\n  b: 1\n  c:\n    d: x\n    "d": y\n  b: 2\n', ['a.c.d', 'a.b']],
    ['a:\n- b: 1\n- b: 2\n  c: 3\n  b: 4\n- - x: 1\n    x: 2\n', ['a[1].b', 'a[2][0].x']],
    ['{"a": {"b":1,"c":2,"b":3}, "a" : 4}', ['a.b', 'a']],
    ['- {a: 1, b: 2, a: 3}\n-  {a: 1}\n- [[{b: 1, b: 1}]]\n', ['[0].a', '[2][0][0].b']],
    ['a: "b: b"\nc: |\n  a: 1\n  a: 2\nd: >-\n  c: 1\n', []],
    ['? a\n: 1\nb: 2\n', []],
    ['1: x\n1: y\n', ['1']],
    // As in the Go library, a merge counts as a setting of its keys.
    ['x: &n {a: 1}\ny: *n\nz:\n  <<: *n\n  a: 2\n', ['z.a']],
    ['', []],
  ])('%j repeats %j', (text, paths) => {
    expect(pathsIn(text)).toEqual(paths);
  });

  test('no more than a hundred are named', () => {
    expect(pathsIn('a: 1\n'.repeat(1_000))).toHaveLength(100);
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

  test('any text is read as it was written, as a key and as a value', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom(
          ...Array.from('\0\t\n\r\x1b"\'#*:-?| \x7f\x85\xa0\u2028\u2029\ufeff\ufffe019.eyn'),
        ),
      }),
      fc.constantFrom('1:30', '=', '<<', '0o17', '1_0', '.5_0', '2021-01-01', '~', ''),
    );
    fc.assert(
      fc.property(text, (each) => {
        expect(parse(yamlOf({ [each]: [each, { a: each }] }))).toEqual({ [each]: [each, { a: each }] });
      }),
      { numRuns: 100 },
    );
  });

  test('lists below keys of any length are read the same', () => {
    const value = (length: number) => [{ spec: { ['k'.repeat(length)]: [null, { a: [1] }], list: ['a'] } }];
    for (const length of [1, 1_021, 1_022, 1_023, 1_024, 1_025, 5_000]) {
      expect(parse(yamlOf(value(length)))).toEqual(value(length));
    }
  });

  test('a value that occurs twice is written twice', () => {
    const same = { a: 1 };
    expect(yamlOf({ b: same, c: same })).toBe('b:\n  a: 1\nc:\n  a: 1\n');
  });
});
