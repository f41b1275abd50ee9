import { once } from 'node:events';
import { sleep } from './abort';
import { withTimeLimit } from './time-limit';
import { TIMER_MAX_MS } from './timer-max';
import { createWorkQueue } from './work-queue';

const MONTHS_MS = 100 * 86_400_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a delay beyond the range of a timer is cut to its maximum instead of ending at once', async () => {
  const { signal } = new AbortController();
  const queue = createWorkQueue();
  const over: string[] = [];
  void sleep(MONTHS_MS, signal).then(() => over.push('sleep'));
  void withTimeLimit(signal, MONTHS_MS, async (inTime) => once(inTime, 'abort')).then(() =>
    over.push('limit'),
  );
  queue.addAfter('key', MONTHS_MS);
  await jest.advanceTimersByTimeAsync(TIMER_MAX_MS - 1);
  expect([...over, queue.length]).toEqual([0]);
  await jest.advanceTimersByTimeAsync(1);
  expect([...over, queue.length]).toEqual(['sleep', 'limit', 1]);
  queue.shutDown();
});
