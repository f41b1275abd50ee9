import { compilePattern, keptPatternBytes } from './patterns';

function isMatch(pattern: string, text: string): boolean {
  const program = compilePattern(pattern);
  if ('problem' in program) throw new Error(program.problem);
  return program.test(text);
}

test.each<[string, string, boolean]>([
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'abc\n', false],
  ['b', 'abc', true],
  ['(?i)^ABC$', 'abc', true],
  ['^(?P<name>a+)$', 'aa', true],
  ['\\Aab\\z', 'ab', true],
  ['^[[:alpha:]]+$', 'ab', true],
  ['^[[:alpha:]]+$', 'a1', false],
  ['^\\pL+$', 'é', true],
  ['(?i)^[\\w\\-\\.]{1,200}[à-ÿ]$', 'A-B.C\u00c9', true],
  ['(?i)^[Ā-\u{1ffff}]$', 'ā', true],
  // Scanned characters count, not the number of ranges.
  [`(?i)^${'[À-ÿ\\x{100}-\\x{17f}]'.repeat(8)}$`, 'ÀÁÂÃàáāĀ', true],
  [`(?i)^${'[\\x{0}-\u{10ffff}]'.repeat(8)}$`, 'abcdefgh', true],
  ['^.$', '😀', true],
  ['^.$', '\r', true],
  ['^.$', '\n', false],
  ['(?s)^.$', '\n', true],
  ['^\\d$', '٣', false],
  ['^\\w$', 'é', false],
  ['\\bfoo\\b', 'a foo b', true],
  ['^[^a]$', 'b', true],
  ['^a{2,3}$', 'aaaa', false],
  ['^[\\w.-]{1,253}$', 'a.b-c', true],
  ['^(a|b)*$', 'abba', true],
])('%s against %j is %s, as in Go', (pattern, text, expected) => {
  expect(isMatch(pattern, text)).toBe(expected);
});

test.each([
  ['a(', 'error parsing regexp: missing closing ): `a(`'],
  ['a(?=b)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
  ['(a)\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
  ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
  ['^a{2,1}$', 'error parsing regexp: invalid repeat count: `{2,1}`'],
  ['(a{1000})'.repeat(500), 'error parsing regexp: expression too large'],
  ['(((a{9}){9}){9}|b){9}', 'error parsing regexp: expression too large'],
  ['a'.repeat(20_000), 'error parsing regexp: expression too large'],
  // Each takes milliseconds, since case folding looks up all characters in between.
  ['(?i)[Ā-\u{1ffff}]'.repeat(2), 'error parsing regexp: expression too large'],
  ['(?i)[\\x{100}-\\x{1ffff}]'.repeat(2), 'error parsing regexp: expression too large'],
  ['(?i)[\\-\\x{100}-\\x{1ffff}a-\u{1ffff}-]', 'error parsing regexp: expression too large'],
  // An escape that is not parsed counts as the largest.
  ['(?i)[\\x41-\\377]'.repeat(40), 'error parsing regexp: expression too large'],
  [`(?i)[${'Ā-\u{1ffff}'.repeat(4)}]`, 'error parsing regexp: expression too large'],
  ['(?i)\\pL'.repeat(200), 'error parsing regexp: expression too large'],
])('%.40s is refused', (pattern, problem) => {
  expect(compilePattern(pattern)).toMatchObject({ problem });
});

test('the work of a match counts the text times the rest of the pattern', () => {
  const pattern = compilePattern(`^[ab]*${'a'.repeat(900)}$`);
  expect('problem' in pattern ? 0 : pattern.instructions).toBeGreaterThan(900);
});

test('matching is linear in the text (no ReDoS)', () => {
  const text = 'a'.repeat(20_000);
  expect(isMatch('^(a+)+$', `${text}b`)).toBe(false);
  expect(isMatch('(a*)*(a*)*(a*)*b', text)).toBe(false);
  expect(isMatch('^(([a-z])+.)+[A-Z]([a-z])+$', text)).toBe(false);
});

test('patterns that could backtrack do not run in the JavaScript engine', () => {
  const plain = compilePattern('^[a-z]{1,63}$');
  const twice = compilePattern('^\\.*\\.*$');
  expect('problem' in plain ? 0 : plain.instructions).toBe(3);
  expect('problem' in twice ? 0 : twice.instructions).toBeGreaterThan(3);
});

test('a compiled pattern is cached', () => {
  expect(compilePattern('^(x|y)$')).toBe(compilePattern('^(x|y)$'));
});

test('patterns with many states are evicted before they exhaust memory', () => {
  const text = Array.from({ length: 2_000 }, (_, index) =>
    Math.imul(index, index + 7) % 13 < 6 ? 'a' : 'b',
  ).join('');
  const first = compilePattern('[ab]*a[ab]{14}[cd]{0}$');
  let most = 0;
  for (let index = 1; index < 80; index += 1) {
    isMatch(`[ab]*a[ab]{14}[cd]{${String(index)}}$`, text);
    most = Math.max(most, keptPatternBytes());
  }
  expect(most).toBeGreaterThan(32 * 1024 * 1024);
  expect(most).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(compilePattern('[ab]*a[ab]{14}[cd]{0}$')).not.toBe(first);
});

test.each([
  ['groups without anything in them', '()'.repeat(4_900)],
  ['parentheses inside of each other', `${'('.repeat(4_900)}a${')'.repeat(4_900)}`],
  ['classes of Unicode in one class', `(?i)[${String.raw`\p{Lu}`.repeat(1_600)}]`],
  ['classes of Unicode one after the other', String.raw`\PL`.repeat(1_600)],
])('%s are as large as they are costly to compile', (_what, pattern) => {
  expect(compilePattern(pattern)).toMatchObject({ problem: 'error parsing regexp: expression too large' });
});

test('the effort of compiling is returned, for invalid patterns too', () => {
  const effortOf = (pattern: string): number => compilePattern(pattern).effort;
  expect(effortOf(String.raw`(\p{L}|_)+`)).toBeGreaterThan(10);
  expect(effortOf(`${'(a)'.repeat(1_000)}(`)).toBeGreaterThan(3_000);
  expect(effortOf('^[a-z]{1,253}$')).toBeLessThan(10);
});
