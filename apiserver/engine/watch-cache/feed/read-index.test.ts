import { ReadIndex } from './read-index';

function createStore(): {
  index: ReadIndex;
  answers: ((revision: number | Error) => void)[];
  counters: { readIndexCalls: number; readIndexRequests: number };
} {
  const answers: ((revision: number | Error) => void)[] = [];
  const counters = { readIndexCalls: 0, readIndexRequests: 0 };
  const read = async (): Promise<number> =>
    new Promise((resolve, reject) => {
      answers.push((answer) => {
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
    });
  return { index: new ReadIndex({ read, timeoutMs: 5_000, counters }), answers, counters };
}

const forever = new AbortController().signal;

test('calls during a read in flight share the next read', async () => {
  const { index, answers, counters } = createStore();
  const first = index.read(forever);
  const second = index.read(forever);
  const third = index.read(forever);
  answers[0]?.(5);
  expect(await first).toBe(5);
  expect(answers).toHaveLength(2);
  const fourth = index.read(forever);
  answers[1]?.(7);
  expect(await Promise.all([second, third])).toEqual([7, 7]);
  answers[2]?.(8);
  expect(await fourth).toBe(8);
  expect(counters).toEqual({ readIndexCalls: 3, readIndexRequests: 4 });
});

test('a failed read rejects the callers that shared it and no others', async () => {
  const { index, answers } = createStore();
  const first = index.read(forever);
  const second = index.read(forever);
  answers[0]?.(new Error('no leader'));
  await expect(first).rejects.toThrow('no leader');
  answers[1]?.(3);
  expect(await second).toBe(3);
});

test('an aborted caller gets the reason of its signal, and a read without an answer times out', async () => {
  const { index, answers } = createStore();
  const leaver = new AbortController();
  const left = index.read(leaver.signal);
  const stayed = index.read(forever);
  leaver.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  answers[0]?.(1);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  answers[1]?.(2);
  expect(await stayed).toBe(2);

  const silent = new ReadIndex({
    read: async () => new Promise<number>(() => undefined),
    timeoutMs: 1,
    counters: { readIndexCalls: 0, readIndexRequests: 0 },
  });
  await expect(silent.read(forever)).rejects.toMatchObject({ name: 'StorageError', code: 'unavailable' });
});

test('a caller after a read that hangs waits no longer than the timeout', async () => {
  jest.useFakeTimers();
  try {
    const { index, answers } = createStore();
    const first = index.read(forever).catch(String);
    await jest.advanceTimersByTimeAsync(2_000);
    const second = index.read(forever).catch(String);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await first).toContain('in time');
    expect(answers).toHaveLength(2);
    const third = index.read(forever);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await second).toContain('in time');
    answers[1]?.(4);
    await jest.advanceTimersByTimeAsync(1);
    answers[2]?.(5);
    expect(await third).toBe(5);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
