import { ChangeSignal } from './change-signal';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

/** Whether it is over after the turns that microtasks take. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await jest.advanceTimersByTimeAsync(0);
  return over;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a change ends the wait, and so does one that came before it', async () => {
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

test('without a change the wait ends with its time, or with the signal', async () => {
  const signal = new ChangeSignal([]);
  const wait = signal.wait(MINUTE_MS, never);
  await jest.advanceTimersByTimeAsync(MINUTE_MS);
  expect(await isOver(wait)).toBe(true);

  const stopped = new AbortController();
  const other = signal.wait(MINUTE_MS, stopped.signal);
  expect(await isOver(other)).toBe(false);
  stopped.abort();
  expect(await isOver(other)).toBe(true);
});
