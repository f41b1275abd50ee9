import { CircuitBreaker } from './circuit-breaker';

const options = { failuresMax: 2, pauseMs: 100 };

test('calls go through until enough of them in a row had no answer', () => {
  const breaker = new CircuitBreaker(options);
  expect(breaker.enter(0)).toBe('go');
  expect(breaker.unanswered('a', 10)).toBe(false);
  expect(breaker.answered()).toBe(false);
  expect(breaker.unanswered('b', 20)).toBe(false);
  expect(breaker.enter(25)).toBe('go');
  expect(breaker.unanswered('c', 30)).toBe(true);
  expect(breaker.enter(31)).toEqual({ sinceMs: 20, failures: 2, why: 'c' });
});

test('after a pause one call tries at a time, and an answer ends the outage', () => {
  const breaker = new CircuitBreaker(options);
  breaker.unanswered('a', 0);
  breaker.unanswered('b', 0);
  expect(breaker.enter(99)).toMatchObject({ failures: 2 });
  expect(breaker.enter(100)).toBe('try');
  expect(breaker.enter(100)).toMatchObject({ failures: 2 });
  expect(breaker.unanswered('c', 150)).toBe(false);
  breaker.endTry();
  expect(breaker.enter(200)).toMatchObject({ failures: 3, why: 'c', sinceMs: 0 });
  expect(breaker.enter(250)).toBe('try');
  expect(breaker.answered()).toBe(true);
  expect(breaker.enter(250)).toBe('go');
});

test('a try that was given up leaves the next one to others', () => {
  const breaker = new CircuitBreaker({ failuresMax: 1, pauseMs: 1 });
  breaker.unanswered('a', 0);
  expect(breaker.enter(1)).toBe('try');
  breaker.endTry();
  expect(breaker.enter(1)).toBe('try');
});

test('a clock that is set back makes no pause longer', () => {
  const breaker = new CircuitBreaker({ failuresMax: 1, pauseMs: 100 });
  breaker.unanswered('a', 5_000);
  expect(breaker.enter(5_099)).toMatchObject({ failures: 1 });
  expect(breaker.enter(4_000)).toBe('try');
});

test('no number of failures opens a circuit that is switched off', () => {
  const breaker = new CircuitBreaker({ failuresMax: 0, pauseMs: 1 });
  for (let times = 0; times < 10; times += 1) breaker.unanswered('a', 0);
  expect(breaker.enter(0)).toBe('go');
  expect(breaker.outage).toBeUndefined();
});
