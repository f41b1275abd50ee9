import { isKnownPattern } from './patterns';
import { warmPatterns } from './warm-patterns';

const text = (pattern: string): object => ({ type: 'string', pattern });

test('patterns are compiled with turns of the event loop between them', async () => {
  const patterns = Array.from({ length: 100 }, (_, at) => `(${String(at)}|warm{300})b{300}`);
  const schema = { properties: { a: { anyOf: patterns.map(text) } } };
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const warming = warmPatterns([schema], Infinity);
  setImmediate(count);
  await warming;
  isOver = true;
  expect(patterns.filter(isKnownPattern)).toEqual(patterns);
  expect(turns).toBeGreaterThan(1);
  expect(warmPatterns([schema], Infinity)).toBeUndefined();
});

test('compilation stops at effortMax', async () => {
  const patterns = Array.from({ length: 5 }, (_, at) => `(${String(at)}|some{300})b{300}`);
  await warmPatterns(patterns.map(text), 700);
  expect(patterns.filter(isKnownPattern).length).toBeLessThan(patterns.length);
});

test('a pattern key that holds no string is skipped', () => {
  expect(
    warmPatterns([{ properties: { pattern: { type: 'object', pattern: '' } } }], Infinity),
  ).toBeUndefined();
});
