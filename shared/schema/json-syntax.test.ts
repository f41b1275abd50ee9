import { jsonSyntaxProblem } from './json-syntax';

const problemOf = (text: string): string | undefined => jsonSyntaxProblem(Buffer.from(text));

test.each([
  ['', 'unexpected end of JSON input'],
  [' {"a": [1, ', 'unexpected end of JSON input'],
  ['"a', 'unexpected end of JSON input'],
  ['tru', 'unexpected end of JSON input'],
  ['1.', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} {}', "invalid character '{' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\u0001"', "invalid character '\\x01' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['1e+]', "invalid character ']' in exponent of numeric literal"],
  ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
  ['\u{feff}{}', "invalid character 'ï' looking for beginning of value"],
])('the syntax error of %j matches Go: %s', (text, problem) => {
  expect(problemOf(text)).toBe(problem);
});

test('nesting deeper than the call stack is valid', () => {
  expect(problemOf('['.repeat(100_000) + ']'.repeat(100_000))).toBeUndefined();
});

/** Fragments that break parsers. */
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"a"',
  '"\\u00e9\\n"',
  '0',
  '-1.5e+3',
  'true',
  'null',
  ' ',
  '\t',
  '-',
  '.',
  'e',
];

test('it agrees with JSON.parse on validity', () => {
  const valid = '{"a":[0,-1.5e+3,{"b":"\\u00e9\\n"},[],{}],"c":true,"d":null}';
  const damaged = valid
    .split('')
    .flatMap((_, at) =>
      PIECES.flatMap((piece) => [
        valid.slice(0, at) + piece + valid.slice(at),
        valid.slice(0, at) + piece + valid.slice(at + 1),
        valid.slice(0, at),
      ]),
    );
  const disputed = [valid, ...damaged].filter((text) => isJson(text) !== (problemOf(text) === undefined));
  expect(disputed).toEqual([]);
  expect(damaged.filter(isJson).length).toBeGreaterThan(20);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
