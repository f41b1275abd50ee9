import { generateName } from './generate-name';

test('five random characters follow the base', () => {
  const numbers = [0, 26, 1, 25, 13];
  const bounds: number[] = [];
  const name = generateName('web-', (bound) => {
    bounds.push(bound);
    return numbers.shift() ?? 0;
  });
  expect(name).toBe('web-b9c8r');
  expect(bounds).toEqual([27, 27, 27, 27, 27]);
});

test('a long base is truncated, so that the name is a DNS label', () => {
  const name = generateName('b'.repeat(200), () => 0);
  expect(name).toBe('b'.repeat(63));
});
