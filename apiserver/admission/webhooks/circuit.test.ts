import { Circuit } from './circuit';

const options = { failuresMax: 2, pauseMs: 100 };

test('calls go through until enough of them in a row had no answer', () => {
  const circuit = new Circuit(options);
  expect(circuit.enter(0)).toBe('go');
  expect(circuit.unanswered('a', 10)).toBe(false);
  expect(circuit.answered()).toBe(false);
  expect(circuit.unanswered('b', 20)).toBe(false);
  expect(circuit.enter(25)).toBe('go');
  expect(circuit.unanswered('c', 30)).toBe(true);
  expect(circuit.enter(31)).toEqual({ sinceMs: 20, failures: 2, why: 'c' });
});

test('after a pause one call tries at a time, and an answer ends the outage', () => {
  const circuit = new Circuit(options);
  circuit.unanswered('a', 0);
  circuit.unanswered('b', 0);
  expect(circuit.enter(99)).toMatchObject({ failures: 2 });
  expect(circuit.enter(100)).toBe('try');
  expect(circuit.enter(100)).toMatchObject({ failures: 2 });
  expect(circuit.unanswered('c', 150)).toBe(false);
  circuit.endTry();
  expect(circuit.enter(200)).toMatchObject({ failures: 3, why: 'c', sinceMs: 0 });
  expect(circuit.enter(250)).toBe('try');
  expect(circuit.answered()).toBe(true);
  expect(circuit.enter(250)).toBe('go');
});

test('a try that was given up leaves the next one to others', () => {
  const circuit = new Circuit({ failuresMax: 1, pauseMs: 1 });
  circuit.unanswered('a', 0);
  expect(circuit.enter(1)).toBe('try');
  circuit.endTry();
  expect(circuit.enter(1)).toBe('try');
});

test('a clock that is set back makes no pause longer', () => {
  const circuit = new Circuit({ failuresMax: 1, pauseMs: 100 });
  circuit.unanswered('a', 5_000);
  expect(circuit.enter(5_099)).toMatchObject({ failures: 1 });
  expect(circuit.enter(4_000)).toBe('try');
});

test('no number of failures opens a circuit that is switched off', () => {
  const circuit = new Circuit({ failuresMax: 0, pauseMs: 1 });
  for (let times = 0; times < 10; times += 1) circuit.unanswered('a', 0);
  expect(circuit.enter(0)).toBe('go');
  expect(circuit.outage).toBeUndefined();
});
