import { ChangeSignal } from './change-signal';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

/** Longer than the minimum pause. */
const MOMENT_MS = 50;

/** Whether the promise is settled after a short time. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await jest.advanceTimersByTimeAsync(MOMENT_MS);
  return over;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a change during the wait or before it ends the wait', async () => {
  const signal = new ChangeSignal([]);
  const wait = signal.wait(MINUTE_MS, never);
  expect(await isOver(wait)).toBe(false);
  signal.changed();
  expect(await isOver(wait)).toBe(true);

  signal.filled();
  signal.changed();
  expect(await isOver(signal.wait(MINUTE_MS, never))).toBe(true);
  expect(await isOver(signal.wait(MINUTE_MS, never))).toBe(false);
});

test('without a change the wait ends at its timeout, or when the signal aborts', async () => {
  const signal = new ChangeSignal([]);
  const wait = signal.wait(MINUTE_MS, never);
  expect(await isOver(wait)).toBe(false);
  await jest.advanceTimersByTimeAsync(MINUTE_MS);
  expect(await isOver(wait)).toBe(true);

  const stopped = new AbortController();
  const other = signal.wait(MINUTE_MS, stopped.signal);
  expect(await isOver(other)).toBe(false);
  stopped.abort();
  expect(await isOver(other)).toBe(true);
});

test('two waits are separated by the minimum pause, regardless of the number of changes', async () => {
  const signal = new ChangeSignal([]);
  let rounds = 0;
  const stopped = new AbortController();
  const loop = (async () => {
    for (; !stopped.signal.aborted; rounds += 1) {
      signal.changed();
      await signal.wait(MINUTE_MS, stopped.signal);
    }
  })();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(rounds).toBe(50);
  stopped.abort();
  await loop;
});
