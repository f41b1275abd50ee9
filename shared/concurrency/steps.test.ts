import type { Steps } from './steps';
import { runSteps, waitFor } from './steps';

/** Adds values, some of which it has to wait for. */
function* sumOf(values: readonly (number | Promise<number>)[]): Steps<number> {
  let sum = 0;
  for (const value of values) sum += value instanceof Promise ? yield* waitFor(value) : value;
  return sum;
}

test('steps without a wait return their value at once, others a promise', async () => {
  expect(runSteps(sumOf([1, 2]))).toBe(3);
  const waiting = runSteps(sumOf([1, Promise.resolve(2), Promise.resolve(3)]));
  expect([waiting instanceof Promise, await waiting]).toEqual([true, 6]);
});

test('steps can handle a rejection like an error that is thrown', async () => {
  const handled = function* (step: () => Steps<number>): Steps<string> {
    try {
      return String(yield* step());
    } catch (error) {
      return (error as Error).message;
    }
  };
  const thrown = function* (): Steps<number> {
    yield* sumOf([1]);
    throw new Error('thrown');
  };
  expect(runSteps(handled(thrown))).toBe('thrown');
  const rejected = Promise.reject<number>(new Error('rejected'));
  expect(await runSteps(handled(() => sumOf([1, rejected])))).toBe('rejected');
});

test('an error after a wait rejects', async () => {
  const failing = function* (): Steps<never> {
    yield* waitFor(Promise.resolve());
    throw new Error('late');
  };
  await expect(runSteps(failing())).rejects.toThrow('late');
  await expect(runSteps(sumOf([Promise.reject<number>(new Error('lost'))]))).rejects.toThrow('lost');
});
