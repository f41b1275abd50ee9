import { EVALUATE_EVERY_MS, LoopPressure } from './loop-pressure';

let shutdown = new AbortController();

beforeEach(() => {
  jest.useFakeTimers();
  shutdown = new AbortController();
});

afterEach(() => {
  shutdown.abort();
  jest.useRealTimers();
});

/** What the strain is after each of these latenesses, in milliseconds. */
function stretchesAfter(latenesses: readonly number[]): readonly number[] {
  const left = [...latenesses];
  const strain = new LoopPressure(shutdown.signal, () => left.shift() ?? 0);
  return latenesses.map(() => {
    jest.advanceTimersByTime(EVALUATE_EVERY_MS);
    return strain.seatTimeFactor;
  });
}

test('a loop that comes in time is not strained, however often it is measured', () => {
  expect(stretchesAfter([0, 1.9, 0.5, 0])).toEqual([1, 1, 1, 1]);
});

test('as the loop comes late, long answers are stretched more and more, but not without end; and less again, slowly', () => {
  expect(stretchesAfter([5, 5, 0])).toEqual([1.5, 2.25, 2.025]);
  const late = Array.from({ length: 20 }, () => 1_000);
  expect(stretchesAfter(late).at(-1)).toBe(8);
  const inTime = Array.from({ length: 30 }, () => 0);
  expect(stretchesAfter([...late, ...inTime]).at(-1)).toBe(1);
});

test('missing samples are no pressure, and the evaluation ends with the server', () => {
  let looks = 0;
  const strain = new LoopPressure(shutdown.signal, () => {
    looks += 1;
    return Number.NaN;
  });
  jest.advanceTimersByTime(EVALUATE_EVERY_MS);
  expect([looks, strain.seatTimeFactor]).toEqual([1, 1]);
  shutdown.abort();
  jest.advanceTimersByTime(10 * EVALUATE_EVERY_MS);
  expect(looks).toBe(1);
});

test('a loop that is held is found late by its own looks', async () => {
  jest.useRealTimers();
  const strain = new LoopPressure(shutdown.signal);
  const hold = setInterval(() => {
    const until = performance.now() + 20;
    while (performance.now() < until);
  }, 1);
  while (strain.seatTimeFactor === 1) await new Promise((resolve) => setImmediate(resolve));
  clearInterval(hold);
  expect(strain.seatTimeFactor).toBeGreaterThan(1);
});
