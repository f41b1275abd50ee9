import * as fc from 'fast-check';
import type { LabelOperator } from './label-requirement';
import { labelRequirement } from './label-requirement';
import type { LabelSelector } from './labels';
import {
  exactLabels,
  formatLabelSelector,
  toLabelSelector,
  labelSelectorFromMap,
  matchesLabels,
  NO_LABEL,
  parseLabelSelector,
  parseLongLabelSelector,
} from './labels';

const OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  one: { app: 'one', tier: 'x' },
  two: { app: 'two' },
  five: { n: '5', tier: 'y' },
  ten: { n: '10', app: 'one', empty: '' },
  none: {},
};

function selected(selector: LabelSelector): string {
  return Object.keys(OBJECTS)
    .filter((name) => matchesLabels(selector, OBJECTS[name]))
    .join(' ');
}

test.each([
  ['', 'one two five ten none'],
  [' ', 'one two five ten none'],
  ['app', 'one two ten'],
  ['!app', 'five none'],
  ['app=one', 'one ten'],
  ['app==one', 'one ten'],
  [' app = one ', 'one ten'],
  ['app!=one', 'two five none'],
  ['app!=', 'one two five ten none'],
  ['app=', ''],
  ['empty=', 'ten'],
  ['app in (one,two)', 'one two ten'],
  ['app in ( two , three )', 'two'],
  ['app in()', ''],
  ['empty in ()', 'ten'],
  ['empty in (,x)', 'ten'],
  ['empty in (x,)', 'ten'],
  ['empty in (x,,y)', 'ten'],
  ['app notin (one)', 'two five none'],
  ['tier notin (x,y)', 'two ten none'],
  ['n>5', 'ten'],
  ['n<10', 'five'],
  ['n>4,n<6', 'five'],
  ['app>1', ''],
  ['app=one,!n', 'one'],
  ['app in (one),app in (two)', ''],
  ['in', ''],
  ['in in (notin)', ''],
  ['notin=in', ''],
])('%j selects: %s', (text, names) => {
  expect(selected(parseLabelSelector(text))).toBe(names);
});

const BOUND_RULE = "for 'Gt', 'Lt' operators, the value must be an integer";
const KEY_RULE = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start";

test.each([
  ['app=one,', "found '', expected: identifier after ','"],
  ['app,,tier', "found ',', expected: identifier after ','"],
  ['=', "found '=', expected: !, identifier, or 'end of string'"],
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['(a)', "found '(', expected: !, identifier, or 'end of string'"],
  ['app=one tier=y', "found 'tier', expected: ',' or 'end of string'"],
  ['!app=one', "found '=', expected: ',' or 'end of string'"],
  ['a in (b) c', "found 'c', expected: ',' or 'end of string'"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['!!app', "unable to parse requirement: found '!', expected: identifier"],
  ['app in one', "unable to parse requirement: found 'one' expected: '('"],
  ['app in', "unable to parse requirement: found '' expected: '('"],
  ['app in (one', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['app in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['app in (a,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
  ['app><5', "unable to parse requirement: found '<', expected: identifier"],
  ['app===one', "unable to parse requirement: found '=', expected: identifier"],
  ['n>=5', "unable to parse requirement: found '=', expected: identifier"],
  ['a=(b)', "unable to parse requirement: found '(', expected: identifier"],
  ['app is one', "unable to parse requirement: found 'is', expected: '=', '!=', '==', 'in', notin'"],
  ['n>abc', `unable to parse requirement: values[0]: Invalid value: "abc": ${BOUND_RULE}`],
  ['n>', `unable to parse requirement: values[0]: Invalid value: "": ${BOUND_RULE}`],
  [
    'n>9223372036854775808',
    `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": ${BOUND_RULE}`,
  ],
  ['-a=b', `unable to parse requirement: <nil>: Invalid value: "-a": ${KEY_RULE}`],
  ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be an empty'],
  ['a in (-b,-c)', 'unable to parse requirement: [values[0][a]: Invalid value: "-b": a valid label'],
  ['a in (-b,-c)', ', values[1][a]: Invalid value: "-c": a valid label'],
  ['n>@b', `[values[0]: Invalid value: "@b": ${BOUND_RULE}, values[0][n]: Invalid value: "@b": a valid`],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLabelSelector(text)).toThrow(message);
});

test('an invalid selector is a BadRequest', () => {
  expect(() => parseLabelSelector('=')).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 400, reason: 'BadRequest' }) }),
  );
});

test('integers are compared exactly up to int64, and other values never match', () => {
  const selector = parseLabelSelector('n>9223372036854775806');
  expect(matchesLabels(selector, { n: '9223372036854775807' })).toBe(true);
  expect(matchesLabels(selector, { n: '9223372036854775808' })).toBe(false);
  expect(matchesLabels(selector, { n: '0x99' })).toBe(false);
});

test('a label named like an inherited property is absent unless it is set', () => {
  const own: Record<string, string> = Object.assign(Object.create(null) as object, { a: 'b' });
  expect(matchesLabels(parseLabelSelector('constructor'), { a: 'b' })).toBe(false);
  expect(matchesLabels(parseLabelSelector('!toString,a'), own)).toBe(true);
  expect(matchesLabels(parseLabelSelector('!a'), undefined)).toBe(true);
});

test('exactLabels returns labels with one required value', () => {
  const selector = parseLabelSelector('a=1,b in (2),c in (3,4),d!=5,e,f==6,a=7');
  expect([...exactLabels(selector)]).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['f', '6'],
  ]);
});

describe('the selector of an object', () => {
  test('an absent one selects nothing, an empty one everything', () => {
    expect(selected(toLabelSelector(undefined))).toBe('');
    expect(selected(toLabelSelector(null))).toBe('');
    expect(selected(NO_LABEL)).toBe('');
    expect(selected(toLabelSelector({}))).toBe('one two five ten none');
  });

  test('labels and expressions must all match', () => {
    const selector = toLabelSelector({
      matchLabels: { app: 'one' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['x', 'y'] },
        { key: 'n', operator: 'DoesNotExist' },
        { key: 'app', operator: 'Exists' },
        { key: 'app', operator: 'NotIn', values: ['two'] },
      ],
    });
    expect(selected(selector)).toBe('one');
    expect(formatLabelSelector(selector)).toBe('app=one,app,app notin (two),!n,tier in (x,y)');
  });

  test.each([
    [{ key: 'a', operator: 'Gt', values: ['1'] }, '"Gt" is not a valid pod selector operator'],
    [{ key: 'a', operator: 'In' }, "for 'in', 'notin' operators, values set can't be empty"],
    [
      { key: 'a', operator: 'Exists', values: ['1'] },
      'values set must be empty for exists and does not exist',
    ],
    [{ operator: 'Exists' }, '<nil>: Invalid value: ""'],
  ])('%j is refused', (expression, message) => {
    expect(() => toLabelSelector({ matchExpressions: [expression] })).toThrow(message);
  });

  test('a map of labels selects objects with all of them', () => {
    expect(selected(labelSelectorFromMap({ app: 'one', empty: '' }))).toBe('ten');
  });
});

const word = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_.-]{0,5}[A-Za-z0-9])?$/);
const value = fc.oneof(word, fc.constant(''));
const requirement = fc.oneof(
  fc
    .tuple(word, fc.constantFrom<LabelOperator>('=', '==', '!='), value)
    .map(([key, operator, one]) => labelRequirement(key, operator, [one])),
  fc
    .tuple(
      word,
      fc.constantFrom<LabelOperator>('in', 'notin'),
      fc.uniqueArray(value, { minLength: 1, maxLength: 4 }),
    )
    .map(([key, operator, many]) => labelRequirement(key, operator, many)),
  fc
    .tuple(word, fc.constantFrom<LabelOperator>('exists', '!'))
    .map(([key, operator]) => labelRequirement(key, operator, [])),
  fc
    .tuple(word, fc.constantFrom<LabelOperator>('gt', 'lt'), fc.nat())
    .map(([key, operator, number]) => labelRequirement(key, operator, [String(number)])),
);

test('formatting and parsing round-trip', () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 6 }), (requirements) => {
      const selector = parseLabelSelector(formatLabelSelector(requirements));
      expect(parseLabelSelector(formatLabelSelector(selector))).toEqual(selector);
      expect(selector).toHaveLength(requirements.length);
      expect(new Set(selector.map((each) => formatLabelSelector([each])))).toEqual(
        new Set(requirements.map((each) => formatLabelSelector([each]))),
      );
    }),
  );
});

test('the parser only throws SelectorError', () => {
  const text = fc
    .array(fc.constantFrom('a', 'in', 'notin', ' ', '=', '!', '(', ')', ',', '<', '>', '/', 'é', '\0'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (each) => {
      expect(['read', 'SelectorError']).toContain(outcomeOf(each));
    }),
  );
});

function outcomeOf(text: string): string {
  try {
    parseLabelSelector(text);
    return 'read';
  } catch (error) {
    return error instanceof Error ? error.name : 'thrown';
  }
}

test('a long selector is parsed in slices with the same result', async () => {
  const text = Array.from({ length: 50_000 }, (_, index) => `!a${String(index)}`).join(',');
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const selector = await parseLongLabelSelector(text);
  isOver = true;
  expect(turns).toBeGreaterThan(1);
  expect(selector).toEqual(parseLabelSelector(text));
  await expect(parseLongLabelSelector(`${text},(`)).rejects.toThrow(
    "found '(', expected: identifier after ','",
  );
});

test('nothing after an error is parsed', () => {
  let read = 0;
  const text = {
    length: 1_000_000,
    charAt(position: number): string {
      read = Math.max(read, position);
      return '(';
    },
    startsWith: (symbol: string): boolean => symbol === '(',
  } as unknown as string;
  expect(() => parseLabelSelector(text)).toThrow("found '('");
  expect(read).toBe(0);
});
