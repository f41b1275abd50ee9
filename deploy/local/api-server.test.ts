import { nodeFlagsFor } from './api-server';

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [5, 4],
  [64, 4],
])('on %i cores %i threads help to collect garbage', (cores, helpers) => {
  expect(nodeFlagsFor(cores)).toContain(`--v8-pool-size=${String(helpers)}`);
});
