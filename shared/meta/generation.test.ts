import { nextGeneration, withNextGeneration } from './generation';

test.each([
  [undefined, 1],
  [0, 1],
  [41, 42],
  [9_007_199_254_740_990, 9_007_199_254_740_991],
  [9_007_199_254_740_991, 9_007_199_254_740_992n],
  [9_007_199_254_740_992n, 9_007_199_254_740_993n],
  [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n],
  [-9_223_372_036_854_775_808n, -9_223_372_036_854_775_807n],
  [-9_007_199_254_740_992n, -9_007_199_254_740_991],
])('the generation after %s is %s', (generation, next) => {
  expect(nextGeneration(generation)).toBe(next);
});

test('withNextGeneration changes only the generation', () => {
  expect(
    withNextGeneration(
      { metadata: { name: 'b', generation: 9 }, spec: {} },
      { metadata: { name: 'a', generation: 3 } },
    ),
  ).toEqual({ metadata: { name: 'b', generation: 4 }, spec: {} });
});
