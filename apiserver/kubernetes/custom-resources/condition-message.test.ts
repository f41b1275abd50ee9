import { problemsMessage } from './condition-message';

test('one problem is printed alone, several are bracketed and deduplicated', () => {
  expect(problemsMessage(['a: wrong'])).toBe('a: wrong');
  expect(problemsMessage(['a: wrong', 'b: wrong', 'a: wrong'])).toBe('[a: wrong, b: wrong]');
});

test('problems that exceed the size limit are counted', () => {
  const problems = Array.from({ length: 10_000 }, (_, index) => `spec.f${String(index)}: Required value`);
  const message = problemsMessage(problems);
  expect(message.length).toBeLessThan(33_000);
  const [, shown = '', left = ''] = /^\[(.*), and (\d+) more\]$/.exec(message) ?? [];
  expect(shown.split(', ').length + Number(left)).toBe(10_000);
  expect(problemsMessage(['x'.repeat(100_000)])).toHaveLength(32 * 1024);
});
