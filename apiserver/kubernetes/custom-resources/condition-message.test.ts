import { problemsMessage } from './condition-message';

test('one problem stands alone, several in brackets and each once', () => {
  expect(problemsMessage(['a: wrong'])).toBe('a: wrong');
  expect(problemsMessage(['a: wrong', 'b: wrong', 'a: wrong'])).toBe('[a: wrong, b: wrong]');
});

test('what there is no room for is counted', () => {
  const problems = Array.from({ length: 10_000 }, (_, index) => `spec.f${String(index)}: Required value`);
  const message = problemsMessage(problems);
  expect(message.length).toBeLessThan(33_000);
  const [, told = '', left = ''] = /^\[(.*), and (\d+) more\]$/.exec(message) ?? [];
  expect(told.split(', ').length + Number(left)).toBe(10_000);
  expect(problemsMessage(['x'.repeat(100_000)])).toHaveLength(32 * 1024);
});
