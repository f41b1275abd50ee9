import { StepTimes } from './long-steps';

const MINUTE_MS = 60_000;

function timed(): {
  readonly steps: StepTimes;
  readonly pass: (ms: number) => void;
  readonly longest: () => Record<string, number>;
} {
  let now = 5_000;
  const steps = new StepTimes(() => now);
  return {
    steps,
    pass: (ms) => {
      now += ms;
    },
    longest: () =>
      Object.fromEntries([...steps.longSteps()].map(({ stage, longestMs }) => [stage, longestMs])),
  };
}

test('steps of a millisecond or more are counted by stage, one that throws too', () => {
  const { steps, pass, longest } = timed();
  steps.run('parse', () => {
    pass(0.9);
  });
  expect(longest()).toEqual({});
  const step = (ms: number): void => {
    pass(ms);
  };
  steps.run('parse', () => {
    step(30);
  });
  steps.run('parse', () => {
    step(7);
  });
  expect(() =>
    steps.run('decode', () => {
      step(3);
      throw new Error('malformed');
    }),
  ).toThrow('malformed');
  expect(longest()).toEqual({ parse: 30, decode: 3 });
  const [parse] = steps.longSteps();
  expect(parse?.durations.count).toBe(2);
});

test('waiting inside a step is not part of its time', async () => {
  const { steps, pass, longest } = timed();
  let goOn: () => void = () => undefined;
  const waited = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const first = steps.run('first', async () => {
    pass(2);
    await waited;
    pass(100);
  });
  steps.run('second', () => {
    pass(50);
  });
  goOn();
  await first;
  expect(longest()).toEqual({ first: 2, second: 50 });
});

test('the longest step is forgotten after ten minutes at most, and remembered for five at least', () => {
  const { steps, pass, longest } = timed();
  const step = (ms: number): void => {
    steps.run('parse', () => {
      pass(ms);
    });
  };
  step(1_000);
  pass(4 * MINUTE_MS);
  step(20);
  expect(longest()).toEqual({ parse: 1_000 });
  pass(2 * MINUTE_MS);
  expect(longest()).toEqual({ parse: 1_000 });
  step(30);
  pass(5 * MINUTE_MS);
  expect(longest()).toEqual({ parse: 30 });
  pass(60 * MINUTE_MS);
  expect(longest()).toEqual({ parse: 0 });
});
