import { LOOP_LATE_MS, LOOP_LOOK_EVERY_MS, LoopLag } from './loop-lag';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A loop whose samples are triggered by the test. */
function watched(): {
  readonly lag: LoopLag;
  readonly stop: () => void;
  readonly pass: (ms: number, workedMs?: number) => void;
  readonly look: (afterMs: number, workedMs?: number) => void;
} {
  let elapsed = 1_000;
  let worked = 50;
  const shutdown = new AbortController();
  const lag = new LoopLag({ elapsedMs: () => elapsed, workedMs: () => worked });
  lag.watch(shutdown.signal);
  const pass = (ms: number, workedMs = ms): void => {
    elapsed += ms;
    worked += workedMs;
  };
  return {
    lag,
    pass,
    look: (afterMs, workedMs) => {
      pass(afterMs, workedMs);
      jest.advanceTimersByTime(LOOP_LOOK_EVERY_MS);
    },
    stop: () => {
      shutdown.abort();
    },
  };
}

const TOO_LONG_MS = LOOP_LOOK_EVERY_MS + LOOP_LATE_MS + 1;

test('a loop that was held too long is late until it has been in time for half a second', () => {
  const { lag, look } = watched();
  look(LOOP_LOOK_EVERY_MS);
  look(LOOP_LOOK_EVERY_MS + LOOP_LATE_MS);
  expect(lag.isLate).toBe(false);
  look(TOO_LONG_MS);
  expect(lag.isLate).toBe(true);
  for (let looks = 1; looks < 5; looks += 1) look(LOOP_LOOK_EVERY_MS);
  expect(lag.isLate).toBe(true);
  look(LOOP_LOOK_EVERY_MS);
  expect(lag.isLate).toBe(false);
});

test('a loop that is a little late restarts its count', () => {
  const { lag, look } = watched();
  look(TOO_LONG_MS);
  for (let looks = 1; looks < 5; looks += 1) look(LOOP_LOOK_EVERY_MS);
  look(LOOP_LOOK_EVERY_MS + 200);
  for (let looks = 1; looks < 5; looks += 1) look(LOOP_LOOK_EVERY_MS);
  expect(lag.isLate).toBe(true);
  look(LOOP_LOOK_EVERY_MS);
  expect(lag.isLate).toBe(false);
});

test('it is late already in the turn that holds it', () => {
  const { lag, pass } = watched();
  pass(TOO_LONG_MS);
  expect(lag.isLate).toBe(true);
});

test('what is to be waited for is what it was late at most, and the time in which it must have been in time', () => {
  const { lag, look, pass } = watched();
  expect(lag.expectedWaitMs).toBe(0);
  pass(LOOP_LOOK_EVERY_MS + 3_000);
  expect(lag.expectedWaitMs).toBe(3_500);
  look(0);
  look(LOOP_LOOK_EVERY_MS + 900);
  expect(lag.expectedWaitMs).toBe(3_500);
  for (let looks = 1; looks < 5; looks += 1) look(LOOP_LOOK_EVERY_MS);
  expect(lag.expectedWaitMs).toBe(3_100);
  look(LOOP_LOOK_EVERY_MS);
  expect(lag.expectedWaitMs).toBe(0);
  look(TOO_LONG_MS);
  expect(lag.expectedWaitMs).toBe(LOOP_LATE_MS + 1 + 500);
});

test('time in which the process did not work does not make it late', () => {
  const { lag, look, pass } = watched();
  look(60_000, 100);
  expect(lag.isLate).toBe(false);
  pass(60_000, 100);
  expect(lag.isLate).toBe(false);
});

test('the loop is not late once sampling has stopped', () => {
  const { lag, look, pass, stop } = watched();
  look(TOO_LONG_MS);
  stop();
  expect(lag.isLate).toBe(false);
  pass(TOO_LONG_MS);
  expect(lag.isLate).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});
