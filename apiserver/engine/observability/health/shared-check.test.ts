import type { HealthCheck } from './health-check';
import { sharedCheck } from './shared-check';

interface Run {
  readonly resolve: (problem?: string) => void;
  readonly reject: (error: Error) => void;
}

function counted(): { readonly check: HealthCheck; readonly runs: Run[] } {
  const runs: Run[] = [];
  const check: HealthCheck = {
    name: 'store',
    paths: ['readyz'],
    check: async () =>
      new Promise((resolve, reject) => {
        runs.push({ resolve, reject });
      }),
  };
  return { check, runs };
}

const signal = new AbortController().signal;

test('thousands of callers during a run, and shortly after, share it (single-flight)', async () => {
  let now = 1_000;
  const { check, runs } = counted();
  const shared = sharedCheck(check, { now: () => now });
  const first = Array.from({ length: 5_000 }, async () => shared.check(signal));
  expect(runs).toHaveLength(1);
  now += 60_000;
  runs[0]?.resolve('down');
  expect(new Set(await Promise.all(first))).toEqual(new Set(['down']));
  now += 99;
  expect(await shared.check(signal)).toBe('down');
  expect(runs).toHaveLength(1);

  now += 1;
  const second = shared.check(signal);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  expect(await second).toBeUndefined();
});

test('a failure is returned to all sharing callers, and ends with the next run', async () => {
  let now = 1_000;
  const { check, runs } = counted();
  const shared = sharedCheck(check, { now: () => now });
  const both = Promise.allSettled([shared.check(signal), shared.check(signal)]);
  runs[0]?.reject(new Error('refused'));
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  now += 100;
  const next = shared.check(signal);
  runs[1]?.resolve();
  expect(await next).toBeUndefined();
});

test('a clock that is set back does not keep an outcome', async () => {
  let now = 1_000_000;
  const { check, runs } = counted();
  const shared = sharedCheck(check, { now: () => now });
  const first = shared.check(signal);
  runs[0]?.resolve();
  await first;
  now = 0;
  void shared.check(signal);
  expect(runs).toHaveLength(2);
});

test('a caller that aborts does not end the run of the others, and a run that never ends is abandoned', async () => {
  jest.useFakeTimers();
  try {
    let given: AbortSignal | undefined;
    const shared = sharedCheck(
      {
        name: 'store',
        paths: ['readyz'],
        check: async (inTime) => {
          given = inTime;
          return new Promise((_resolve, reject) => {
            inTime.addEventListener('abort', () => reject(inTime.reason as Error));
          });
        },
      },
      { now: () => 0 },
    );
    const leaving = new AbortController();
    const outcome = Promise.allSettled([shared.check(leaving.signal), shared.check(signal)]);
    leaving.abort();
    expect(given?.aborted).toBe(false);
    jest.advanceTimersByTime(5_000);
    expect((await outcome).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  } finally {
    jest.useRealTimers();
  }
});
