import { CircuitBreaker } from './circuit-breaker';

const options = { failuresMax: 2, pauseMs: 100 };

function open(at = 0): CircuitBreaker {
  const breaker = new CircuitBreaker(options, at);
  for (const why of ['a', 'b']) breaker.failed(breaker.attempt(at), why, at);
  return breaker;
}

test('calls are made until enough of them in a row fail', () => {
  const breaker = new CircuitBreaker(options, 0);
  expect(breaker.failed(breaker.attempt(0), 'a', 10)).toBe(false);
  expect(breaker.attempt(10)).toEqual({ number: 2, isProbe: false });
  expect(breaker.answered(15)).toBe(false);
  expect(breaker.failed(breaker.attempt(20), 'b', 20)).toBe(false);
  expect(breaker.failed(breaker.attempt(25), 'c', 30)).toBe(true);
  const outage = { sinceMs: 20, failures: 2, why: 'c' };
  expect(breaker.attempt(31)).toEqual({ number: 5, isProbe: false, outage });
});

test('failures do not count if other calls were answered after they began', () => {
  const breaker = new CircuitBreaker(options, 0);
  const slow = Array.from({ length: 10 }, () => breaker.attempt(0));
  breaker.attempt(5);
  breaker.answered(6);
  expect(slow.map((attempt) => breaker.failed(attempt, 'late', 10))).toEqual(slow.map(() => false));
  expect(breaker.outage).toBeUndefined();
});

test('each pause has one probe, and an answer ends the outage', () => {
  const breaker = open();
  expect(breaker.attempt(99)).toMatchObject({ outage: { failures: 2 }, isProbe: false });
  expect(breaker.untilProbeMs(99)).toBe(1);
  const probe = breaker.attempt(100);
  expect(probe).toMatchObject({ isProbe: true });
  expect(breaker.attempt(100)).toMatchObject({ isProbe: false });
  expect(breaker.failed(probe, 'c', 150)).toBe(false);
  expect(breaker.attempt(199)).toMatchObject({
    outage: { failures: 3, why: 'c', sinceMs: 0 },
    isProbe: false,
  });
  expect(breaker.attempt(200)).toMatchObject({ isProbe: true });
  expect(breaker.answered(250)).toBe(true);
  expect(breaker.closedAtMs).toBe(250);
  expect(breaker.attempt(250)).toMatchObject({ isProbe: false });
  expect(breaker.outage).toBeUndefined();
});

test('late and hanging calls delay no probe', () => {
  const breaker = new CircuitBreaker(options, 0);
  const calls = Array.from({ length: 5 }, () => breaker.attempt(0));
  calls.forEach((call, at) => breaker.failed(call, 'late', 10 * at));
  expect(breaker.attempt(110)).toMatchObject({ outage: { failures: 5 }, isProbe: true });
  expect(breaker.attempt(210)).toMatchObject({ isProbe: true });
});

test('an aborted probe leaves the next one to others', () => {
  const breaker = open();
  const probe = breaker.attempt(100);
  breaker.abandoned(breaker.attempt(100));
  expect(breaker.attempt(100)).toMatchObject({ isProbe: false });
  breaker.abandoned(probe);
  expect(breaker.attempt(100)).toMatchObject({ isProbe: true });
});

test('a clock that is set back makes no pause longer', () => {
  const breaker = open(5_000);
  expect(breaker.attempt(5_099)).toMatchObject({ isProbe: false });
  expect(breaker.attempt(4_000)).toMatchObject({ isProbe: true });
});

test('a disabled breaker never opens', () => {
  const breaker = new CircuitBreaker({ failuresMax: 0, pauseMs: 1 }, 0);
  for (let times = 0; times < 10; times += 1) breaker.failed(breaker.attempt(0), 'a', 0);
  expect(breaker.attempt(0)).toEqual({ number: 11, isProbe: false });
  expect(breaker.outage).toBeUndefined();
});
