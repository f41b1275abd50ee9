import { parseDurationMs } from '../flags/duration';
import { durationProblem } from './duration-problem';

test.each([
  ['', 'invalid duration ""'],
  ['-', 'invalid duration "-"'],
  ['soon', 'invalid duration "soon"'],
  ['.s', 'invalid duration ".s"'],
  [' 1s', 'invalid duration " 1s"'],
  ['1', 'missing unit in duration "1"'],
  ['-1', 'missing unit in duration "-1"'],
  ['1.5.2s', 'missing unit in duration "1.5.2s"'],
  ['1h30', 'missing unit in duration "1h30"'],
  ['1 s', 'unknown unit " s" in duration "1 s"'],
  ['1h2d', 'unknown unit "d" in duration "1h2d"'],
  ['1s-2s', 'unknown unit "s-" in duration "1s-2s"'],
])('the problem of the duration "%s" matches Go', (text, words) => {
  expect(parseDurationMs(text)).toBeUndefined();
  expect(durationProblem(text)).toBe(`time: ${words}`);
});

test('characters beyond ASCII are escaped by byte', () => {
  expect(durationProblem('"\\\t\x7f日')).toBe('time: invalid duration "\\"\\\\\\x09\x7f\\xe6\\x97\\xa5"');
});

test('a long text is not expanded', () => {
  const long = '日'.repeat(2_000);
  expect(durationProblem(long)).toBe(`time: invalid duration "${long}"`);
});
