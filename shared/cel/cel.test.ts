import { Environment } from './environment';
import { CostLimitExceeded } from './eval/frame';
import { parseDuration } from './eval/time';
import { EvalError, ListValue, OptionalValue, Uint } from './eval/values';
import type { Value } from './eval/values';
import { estimateCost } from './cost/estimate';
import { COUNT_MAX } from './cost/ranges';
import { AuthorizerValue, AUTHORIZER_TYPE } from './library/authorization';
import { DYN, INT, STRING, listOf } from './check/types';
import { dataValue } from './schema/data-values';
import { declareData } from './schema/data-types';
import { Issues } from './parser/source';

const authorizer = new AuthorizerValue(({ verb, resource = '', serviceAccount }) => ({
  isAllowed: verb === 'get' && resource === 'pods' && serviceAccount === undefined,
  reason: 'why',
  error: '',
}));
const LIST = declareData(
  { type: 'array', items: { type: 'integer' } },
  { structs: new Map(), name: 't', isResource: false },
);
const VALUES = new Map<string, Value>([
  ['x', 5n],
  ['s', 'héllo'],
  ['d', 2n],
  ['l', LIST === undefined ? null : dataValue([1, 2, 3], LIST)],
  ['authorizer', authorizer],
]);
const VARIABLES = [
  { name: 'x', type: INT },
  { name: 's', type: STRING },
  { name: 'd', type: DYN },
  { name: 'l', type: listOf(INT) },
  { name: 'authorizer', type: AUTHORIZER_TYPE },
];
const environment = new Environment({ release: Infinity, variables: VARIABLES });

function run(source: string, costMax = 1_000_000): { result: unknown; cost: number } {
  const checked = environment.compile(source);
  if (checked instanceof Issues) return { result: checked.toString(), cost: 0 };
  const { result, cost } = environment
    .plan(checked)
    .evaluate({ variables: (name) => VALUES.get(name), costMax });
  return { result: plain(result), cost };
}

function plain(value: unknown): unknown {
  if (value instanceof EvalError) return `error: ${value.message}`;
  if (value instanceof OptionalValue) return value.value === undefined ? 'none' : plain(value.value);
  if (value instanceof ListValue) return Array.from(value, plain);
  return value instanceof Uint ? value.value : value;
}

/** Expressions that are true, by what they are about. */
const TRUE: Readonly<Record<string, readonly string[]>> = {
  operators: [
    '1 + 2 * 3 == 7',
    '-7 / 2 == -3 && -7 % 2 == -1',
    '!(true && false) || false',
    'true ? 1 == 1 : 1 / 0 == 0',
    'false && 1 / 0 == 0 || true',
    "'a' < 'b' && b'a' < b'b' && 1.5 < 2.0",
    "'\\uffff' < '\\U0001f600'",
    '0xff == 255 && 5u + 3u == 8u && 1e3 == 1000.0',
    'r\'\\n\' == \'\\\\n\' && """a\nb""" == \'a\\nb\'',
    '[1, 2] + [3] == [1, 2, 3] && 2 in [1, 2]',
    "{'a': 1}.a == 1 && {'a': 1}['a'] == 1 && 'a' in {'a': 1} && {1: 2}[1] == 2",
    'dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1) != "1"',
    'dyn(9223372036854775807) >= 9223372036854775807.0',
    'type(1) == int && type([]) == list && type(type(1)) == type',
  ],
  macros: [
    '[1, 2, 3].all(i, i > 0) && [1, 2].exists(i, i == 2) && [1, 2, 2].exists_one(i, i == 1)',
    '[1, 2, 3].filter(i, i > 1).map(i, i * 2) == [4, 6]',
    '[1, 2, 3].map(i, i > 1, i) == [2, 3]',
    "has({'a': 1}.a) && !has({'a': 1}.b)",
    "['a', 'b'].all(i, v, i < 2 && v != '') && {'k': 1}.exists(k, v, k == 'k' && v == 1)",
    "['a', 'b'].transformMap(i, v, v + 'x') == {0: 'ax', 1: 'bx'}",
    "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}",
    '[[1, 2], [3]].map(a, a.map(b, b + 1)) == [[2, 3], [4]]',
    '[1, 2, 3].exists(i, 1 / (i - 2) > 0)',
  ],
  conversions: [
    "int('12') == 12 && int(1.9) == 1 && uint('3') == 3u && double('1.5') == 1.5",
    "string(1.5) == '1.5' && string(1e6) == '1e+06' && string(b'a') == 'a' && string(true) == 'true'",
    "bool('true') && bytes('é') == b'\\303\\251' && size('é') == 1",
    "timestamp('2023-01-01T00:00:00.5Z') + duration('1h30m') == timestamp('2023-01-01T01:30:00.5Z')",
    "timestamp('2023-07-14T10:30:45Z').getHours('America/Los_Angeles') == 3",
    "timestamp('2023-07-14T10:30:45Z').getDayOfWeek() == 5 && duration('90s').getMinutes() == 1",
    "string(timestamp('2011-08-18T19:03:37.01+01:00')) == '2011-08-18T19:03:37.01+01:00'",
    "string(duration('1h')) == '3600s' && int(timestamp('1970-01-01T00:00:01Z')) == 1",
  ],
  text: [
    "s.size() == 5 && s.substring(1, 2) == 'é' && s.charAt(1) == 'é' && s.indexOf('l') == 2",
    "'a-b-c'.split('-') == ['a', 'b', 'c'] && 'a-b'.split('', 2) == ['a', '-b'] && ['a', 'b'].join('+') == 'a+b'",
    "'aXb'.lowerAscii() == 'axb' && ' a '.trim() == 'a' && 'aaa'.replace('a', 'b', 2) == 'bba'",
    "'%s %d %.2f %x'.format(['a', 1, 1.005, 255]) == 'a 1 1.00 ff' && '%e'.format([3.14]) == '3.140000×10⁰⁰'",
    "'abc'.matches('^a.c$') && 'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'xab'.find('a.') == 'ab'",
    'strings.quote(\'a"b\') == \'"a\\\\"b"\'',
  ],
  lists: [
    '[1, 2].isSorted() && [1, 2].sum() == 3 && [1, 3, 2].max() == 3 && l.min() == 1 && l.indexOf(2) == 1',
    "sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && sets.intersects(['a'], ['a', 'b'])",
    '[3, 1].sort() == [1, 3] && [1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2]',
    "['bb', 'a'].sortBy(e, size(e)) == ['a', 'bb'] && lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1]",
  ],
  optionals: [
    "{'a': 1}.?a.orValue(0) == 1 && {'a': 1}.?b.orValue(0) == 0 && [1][?5].or(optional.of(3)).value() == 3",
    "{?'a': optional.none(), 'b': 1} == {'b': 1} && [?optional.of(1)] == [1]",
    "{'a': {'b': 2}}.?a.b.optMap(v, v + 1).value() == 3 && optional.ofNonZeroValue('') == optional.none()",
  ],
  kubernetes: [
    "quantity('1.5Gi').isGreaterThan(quantity('1G')) && quantity('2k').asInteger() == 2000 && !isQuantity('1x')",
    "quantity('100m').add(quantity('900m')) == quantity('1') && quantity('50k').sub(20) == quantity('49980')",
    "ip('2001:db8::1').family() == 6 && ip.isCanonical('::1') && !isIP('::ffff:1.2.3.4') && string(ip('1.2.3.4')) == '1.2.3.4'",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.1.0.0/16').masked().prefixLength() == 16 && isCIDR('::/0')",
    "url('https://u@h.example:80/p?a=1&a=2').getHost() == 'h.example:80' && isURL('/a') && !isURL('a')",
    "url('http://[::1]:8/x y').getHostname() == '::1' && url('http://h/?a=b%20c').getQuery() == {'a': ['b c']}",
    "format.dns1123Label().validate('a-b') == optional.none() && format.named('uuid').hasValue()",
    "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && isSemver('v1.0', true) && semver('1.2.3').minor() == 2",
    "authorizer.group('').resource('pods').namespace('a').check('get').allowed()",
    "!authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('get').allowed()",
  ],
};

test.each(
  Object.entries(TRUE).flatMap(([about, sources]) => sources.map((source) => [about, source] as const)),
)('of %s, %s holds', (_, source) => {
  expect(run(source).result).toBe(true);
});

test.each([
  ['1 / 0', 'error: division by zero'],
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ['0u - 1u', 'error: unsigned integer overflow'],
  ["{'a': 1}.b", 'error: no such key: b'],
  ['[1][x]', 'error: index out of bounds: 5'],
  ["d + 'a'", 'error: no such overload'],
  ["int('x')", 'error: '],
  ["'a'.charAt(x)", 'error: index out of range: 5'],
])('%s fails when it is evaluated', (source, message) => {
  const outcome = (): unknown => {
    try {
      return run(source).result;
    } catch (error) {
      return `error: ${String(error)}`;
    }
  };
  expect(outcome()).toContain(message);
});

test.each([
  [
    'x + 1.0',
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, double)'\n | x + 1.0\n | ..^",
  ],
  ['y', "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y\n | ^"],
  ['é + 1', "ERROR: <input>:1:1: Syntax error: token recognition error at: 'é'"],
  ['1 +', "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting"],
  ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'"],
  ['x.a', "ERROR: <input>:1:2: type 'int' does not support field selection"],
  ['[1].all(1, true)', 'ERROR: <input>:1:9: argument must be a simple name'],
  ['has(x)', 'ERROR: <input>:1:5: invalid argument to has() macro'],
  ["s.matches('(')", 'ERROR: <input>:1:11: invalid matches argument'],
  ["duration('x') == duration('1s')", 'ERROR: <input>:1:10: invalid duration argument'],
  ['if', 'ERROR: <input>:1:1: reserved identifier: if'],
  [
    'x.all(i, true)',
    "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
])('%s is refused with a position', (source, message) => {
  expect(run(source).result).toContain(message);
});

test('a long run of digits that has no unit is no duration', () => {
  // Quadratic parsing would take minutes.
  expect(parseDuration(`${'1'.repeat(1_000_000)}x`)).toBeUndefined();
});

test('libraries exist from their release on', () => {
  const has = (release: number, source: string): boolean =>
    !(new Environment({ release }).compile(source) instanceof Issues);
  const releases = [27, 28, 29, 30, 31, 32, 33, 34];
  const first = (source: string): number | undefined => releases.find((release) => has(release, source));
  expect(
    [
      "'a'.trim() == ''",
      "quantity('1') == quantity('1')",
      'sets.contains([1], [1])',
      "isIP('a')",
      "format.named('a').hasValue()",
      '[1].all(i, v, true)',
      "isSemver('1')",
      '[1].distinct() == [1]',
    ].map(first),
  ).toEqual(releases);
});

/** Costs at run time, as cel-go with Kubernetes' estimator counts them. */
test.each([
  ['1 == 1', 1],
  ['x == 5', 2],
  ["s == 'héllo'", 2],
  ["{'a': 1}.a == x", 4],
  ['[1, 2].all(i, i > 0)', 11],
  ['[1, 2].exists(i, i == 2)', 13],
  ['l.map(i, i + 1).size() == 3', 46],
  ['x in [1, 2, 3]', 1],
  ['[x, 2].size() == 2', 13],
  ['x > 1 ? x : 1', 2],
  ["s.startsWith('h') && s.matches('^h')", 4],
  ["'a b'.split(' ').size() == 2", 3],
  ["quantity('1Gi').isLessThan(quantity('2Gi'))", 3],
  ["has({'a': x}.a)", 32],
  ['optional.of(x).hasValue()', 3],
  ['l.sum() == 6 && l.isSorted()', 9],
  ["authorizer.group('').resource('pods').check('get').allowed()", 350_004],
])('%s costs %d', (source, cost) => {
  expect(run(source).cost).toBe(cost);
});

/** Units as cel-go counts them for each part of what a macro expands to. */
test.each([
  ['[1, 2].map(x, 1) == [1, 1]', true, 6],
  ['[1, 2, 3].filter(x, x > 1) == [2, 3]', true, 34],
  ['[2, 1].exists_one(x, x == 1)', true, 8],
  ["{'a': 1}.transformList(k, v, v > 0, k) == ['a']", true, 17],
  ['[1, 0].exists(x, 1 / x == 1)', true, 11],
  ['[0, 1].exists(x, 1 / x == 1)', true, 15],
  ['[0, 2].exists(x, 1 / x == 1)', 'error: division by zero', 15],
  ['[0, 1].all(x, 1 / x == 1)', 'error: division by zero', 13],
  ['[0, 2].all(x, 1 / x == 1)', false, 13],
  ['[0, 1].exists_one(x, 1 / x == 1)', 'error: division by zero', 10],
  ['[0, 1].map(x, 1 / x)', 'error: division by zero', 29],
  ['[dyn(1)].filter(x, x)', 'error: no such overload', 2],
])('%s is %s and costs %d', (source, result, cost) => {
  expect(run(source)).toEqual({ result, cost });
});

test('an evaluation ends at its limit, and reports its cost on the way', () => {
  expect(() => run('lists.range(1000).all(i, lists.range(1000).all(j, i + j >= 0))')).toThrow(
    CostLimitExceeded,
  );
  const checked = environment.compile('lists.range(5000).all(i, i >= 0)');
  if (checked instanceof Issues) throw new Error(checked.toString());
  const seen: number[] = [];
  const { cost } = environment
    .plan(checked)
    .evaluate({ variables: () => undefined, costMax: 1e6, onCost: (units) => seen.push(units) });
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.at(-1)).toBeLessThan(cost);
});

test('answers of the authorizer cost what upstream counts, but are no work', () => {
  const source = "authorizer.group('').resource('pods').check('get').allowed() && x == 5";
  const checked = environment.compile(source);
  if (checked instanceof Issues) throw new Error(checked.toString());
  const seen: number[] = [];
  const { cost, work } = environment.plan(checked).evaluate({
    variables: (name) => VALUES.get(name),
    costMax: 1e6,
    onCost: (units) => seen.push(units),
  });
  expect([cost > 350_000, work < 100, Math.max(...seen) < 100]).toEqual([true, true, true]);
});

test.each([
  ['x == 1', 1],
  ['l.all(i, i > 0)', 52],
  ["s.matches('^a+$')", 4],
  ['l.map(i, [i]).size() > 1', 244],
])('%s is estimated to cost at most %d', (source, max) => {
  const checked = environment.compile(source);
  if (checked instanceof Issues) throw new Error(checked.toString());
  const sizes = new Map([
    ['x', 0],
    ['s', 20],
    ['l', 10],
    ['l.@items', 0],
  ]);
  expect(estimateCost(checked, (path) => ({ min: 0, max: sizes.get(path.join('.')) ?? COUNT_MAX })).max).toBe(
    max,
  );
});

test('long chains and deep nesting end with an error instead of the stack', () => {
  expect(run(`${'('.repeat(300)}1${')'.repeat(300)}`).result).toContain('max recursion depth exceeded');
  expect(run(Array.from({ length: 300 }, () => 'x').join('+')).result).toContain(
    'max recursion depth exceeded',
  );
  expect(run(Array.from({ length: 5000 }, () => 'x == 5').join(' && ')).result).toBe(true);
});

test.each([
  ['types', `[1]${'.map(x, {x: x})'.repeat(60)}.size() == 1`, 'types of the expression are too large'],
  ['nodes', `optional.of(1)${'.optMap(v, v)'.repeat(60)}.hasValue()`, 'expression expands to too many nodes'],
])('an expression whose %s double with each call is refused', (_, source, message) => {
  expect(run(source).result).toContain(message);
});

test('concatenation in a loop takes time in proportion to the elements', () => {
  expect(run('lists.range(50000).map(i, i).size()', 1e9).result).toBe(50_000n);
});
