import { silentLog } from '../../../shared/log/log';
import { StatusError } from '../../../shared/errors/status-error';
import { NO_USER } from '../request/initial-values';
import { parseRequestInfo } from '../request/request-info';
import { newExchange } from '../request/testing/new-exchange';
import { MANDATORY_FLOW_OBJECTS } from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { FlowControl } from './fairness';
import { createInFlightStage } from './in-flight-stage';
import { retryAfterSeconds } from '../request/retry-after';
import { createFlowStage } from './stage';
import type { EstimateWork } from './work';
import { LEAST_WORK } from './work';
import { limitedTo } from './level';

const PODS = '/api/v1/namespaces/a/pods';

function exchangeFor(url: string, { method = 'GET', groups = ['system:authenticated'] } = {}) {
  const { pathname: path, searchParams: query } = new URL(url, 'https://localhost');
  const info = parseRequestInfo(method, path, query);
  return newExchange({ method, path, query, info, user: { ...NO_USER, name: 'ann', groups } });
}

/** Requests that go on until they are ended. */
function held() {
  const ends: (() => void)[] = [];
  const next = async (): Promise<void> =>
    new Promise((resolve) => {
      ends.push(resolve);
    });
  return { next, ends };
}

function flowBench(seats: number, estimate: EstimateWork = () => LEAST_WORK, seatTimeFactor = 1) {
  const dropped = { mutating: 0, readOnly: 0 };
  const inQueue = { mutating: 0, readOnly: 0 };
  const control = new FlowControl({
    mandatory: MANDATORY_FLOW_OBJECTS,
    seats,
    log: silentLog,
    now: () => performance.now(),
  });
  const parts = {
    control,
    estimate,
    deliveries: { countOf: () => ({ add: () => undefined }) },
    strain: { seatTimeFactor },
    waitMsMax: 60_000,
    dropped,
    inQueue,
    now: () => performance.now(),
    random: () => 0,
  };
  return { control, dropped, inQueue, stage: createFlowStage(parts) };
}

test('a request beyond the seats is refused with 429, with Retry-After, and counted; responses name schema and level', async () => {
  const { control, dropped, stage } = flowBench(1);
  const { next, ends } = held();
  const first = exchangeFor(PODS);
  const running = stage(first, next);
  const refused = exchangeFor(PODS);
  const error = await Promise.resolve(stage(refused, next)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StatusError);
  expect(error).toMatchObject({
    status: {
      code: 429,
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    },
  });
  expect(dropped).toEqual({ mutating: 0, readOnly: 1 });
  expect([first.flow, refused.flow]).toEqual([
    { schemaUid: '', levelUid: '' },
    { schemaUid: '', levelUid: '' },
  ]);
  ends[0]?.();
  await running;
  const [counts] = [...control.counts].filter(({ dispatched }) => dispatched > 0);
  expect([counts?.schema, counts?.dispatched, counts?.executing]).toEqual(['catch-all', 1, 0]);
  expect([...(counts?.refused ?? [])]).toEqual([['concurrency-limit', 1]]);
});

test('superusers are never refused, and what goes to a node takes no seat', async () => {
  const { stage, control } = flowBench(1);
  const { next, ends } = held();
  const running = [
    stage(exchangeFor(PODS), next),
    stage(exchangeFor(`${PODS}/p/log`), next),
    stage(exchangeFor(PODS, { groups: ['system:masters'] }), next),
    stage(exchangeFor(PODS, { groups: ['system:masters'] }), next),
  ];
  expect(ends).toHaveLength(4);
  for (const end of ends) end();
  await Promise.all(running);
  expect([...control.levels].every(({ queues }) => queues?.isIdle !== false)).toBe(true);
});

test.each([
  { loop: 'in time', seatTimeFactor: 1, sentMs: 300 },
  { loop: 'late', seatTimeFactor: 2, sentMs: 600 },
])(
  'a wide request takes a quarter of its level at most, and keeps its seats while its answer is sent by a loop that is $loop',
  async ({ seatTimeFactor, sentMs }) => {
    jest.useFakeTimers();
    const { stage, control } = flowBench(8, () => ({ seats: 50, sendMs: 300 }), seatTimeFactor);
    const queues = [...control.levels].find(({ name }) => name === 'catch-all')?.queues;
    const exchange = exchangeFor(`${PODS}?watch=1`);
    await stage(exchange, async () => {
      expect(queues?.executingSeats).toBe(2);
      exchange.answer = { code: 200, headers: {}, body: Buffer.alloc(0) };
      return Promise.resolve();
    });
    jest.advanceTimersByTime(sentMs - 1);
    expect(queues?.executingSeats).toBe(2);
    jest.advanceTimersByTime(1);
    expect(queues?.executingSeats).toBe(0);
    jest.useRealTimers();
  },
);

test('a request that fails gives its seat back', async () => {
  const { stage } = flowBench(1);
  const fail = async (): Promise<void> => Promise.reject(new Error('broken'));
  for (let round = 0; round < 3; round += 1) {
    await expect(stage(exchangeFor(PODS), fail)).rejects.toThrow('broken');
  }
});

test('a request waits for a seat where its level queues, and its response does not show it', async () => {
  const { control, inQueue, stage } = flowBench(1);
  const queuing = { queues: 4, handSize: 2, queueLengthLimit: 1 };
  const limited = limitedTo(1, { type: 'Queue', queuing });
  const anyone = { subjects: [{ kind: 'Group', group: { name: '*' } }] };
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
  control.configure(
    [{ metadata: { name: 'l' }, spec: { type: 'Limited', limited } }],
    [
      {
        metadata: { name: 's' },
        spec: {
          matchingPrecedence: 5,
          priorityLevelConfiguration: { name: 'l' },
          rules: [{ ...anyone, resourceRules: [everything] }],
        },
      },
    ],
  );
  const { next, ends } = held();
  const running = [stage(exchangeFor(PODS), next), stage(exchangeFor(PODS, { method: 'POST' }), next)];
  expect([ends.length, inQueue]).toEqual([1, { mutating: 1, readOnly: 0 }]);
  ends[0]?.();
  await running[0];
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect([ends.length, inQueue]).toEqual([2, { mutating: 0, readOnly: 0 }]);
  ends[1]?.();
  await running[1];
});

test('the time to come again is the expected wait and up to once more, from one second to thirty', () => {
  expect(retryAfterSeconds(0, () => 0)).toBe(1);
  expect(retryAfterSeconds(0, () => 0.999)).toBe(2);
  expect(retryAfterSeconds(7, () => 0)).toBe(7);
  expect(retryAfterSeconds(7, () => 0.5)).toBe(11);
  expect(retryAfterSeconds(1_000, () => 0)).toBe(30);
});

test('without priority and fairness only the number of requests of each kind is limited, superusers left out', async () => {
  const dropped = { mutating: 0, readOnly: 0 };
  const stage = createInFlightStage({ max: { mutating: 1, readOnly: 0 }, dropped, random: () => 0 });
  const { next, ends } = held();
  const running = [
    stage(exchangeFor(PODS, { method: 'POST' }), next),
    stage(exchangeFor(PODS), next),
    stage(exchangeFor(PODS), next),
    stage(exchangeFor(PODS, { method: 'POST', groups: ['system:masters'] }), next),
  ];
  await expect(stage(exchangeFor(PODS, { method: 'POST' }), next)).rejects.toMatchObject({
    status: { code: 429 },
  });
  expect([ends.length, dropped]).toEqual([4, { mutating: 1, readOnly: 0 }]);
  for (const end of ends) end();
  await Promise.all(running);
  const again = stage(exchangeFor(PODS, { method: 'POST' }), next);
  ends[4]?.();
  await again;
});
