import { getEventListeners } from 'node:events';
import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1';
import { silentLog } from '../../../shared/log/log';
import type { DeliveryCount, Exchange } from '../request/exchange';
import { NO_USER } from '../request/initial-values';
import { parseRequestInfo } from '../request/request-info';
import { newExchange } from '../request/testing/new-exchange';
import { Deliveries, PAY_EVERY_MS } from './deliveries';
import { MANDATORY_FLOW_OBJECTS } from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { FlowControl } from './fairness';
import type { QueueSet } from './queue-set';
import { createFlowStage } from './stage';
import { LEAST_WORK } from './work';
import { limitedTo } from './level';

const MB = 1_024 * 1_024;
const QUEUING = { queues: 64, handSize: 4, queueLengthLimit: 50 };
const SEATS = 80;
/** An eighth. */
const KEPT_SEATS = 10;
let shutdown = new AbortController();

beforeEach(() => {
  jest.useFakeTimers();
  shutdown = new AbortController();
});

afterEach(() => {
  shutdown.abort();
  jest.useRealTimers();
});

type Queuing = typeof QUEUING | 'none';

function levelNamed(name: string, queuing: Queuing): PriorityLevelConfiguration {
  const limitResponse = queuing === 'none' ? { type: 'Reject' } : { type: 'Queue', queuing };
  return {
    metadata: { name },
    spec: { type: 'Limited', limited: limitedTo(1_000, limitResponse) },
  };
}

/** For everybody, each user a flow. */
function schemaTo(level: string): FlowSchema {
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }];
  return {
    metadata: { name: 's' },
    spec: {
      matchingPrecedence: 5,
      distinguisherMethod: { type: 'ByUser' },
      priorityLevelConfiguration: { name: level },
      rules: [{ subjects: [{ kind: 'Group', group: { name: 'tenants' } }], resourceRules }],
    },
  };
}

function bench(queuing: Queuing = QUEUING) {
  const now = (): number => performance.now();
  const control = new FlowControl({ mandatory: MANDATORY_FLOW_OBJECTS, seats: SEATS, log: silentLog, now });
  control.configure([levelNamed('l', queuing)], [schemaTo('l')]);
  const strain = { seatTimeFactor: 1 };
  const deliveries = new Deliveries({
    control,
    waitMsMax: 10_000,
    now,
    shutdownSignal: shutdown.signal,
    strain,
  });
  const stage = createFlowStage({
    control,
    deliveries,
    strain,
    estimate: () => LEAST_WORK,
    waitMsMax: 60_000,
    dropped: { mutating: 0, readOnly: 0 },
    inQueue: { mutating: 0, readOnly: 0 },
    now,
    random: () => 0,
  });
  const queuesOf = (name: string): QueueSet | undefined =>
    [...control.levels].find((level) => level.name === name)?.queues;
  return { control, stage, queuesOf, queues: queuesOf('l') };
}

function exchangeOf(user: string, query = '', group = 'tenants'): Exchange {
  const path = '/api/v1/namespaces/a/pods';
  const info = parseRequestInfo('GET', path, new URLSearchParams(query));
  return newExchange({ path, info, user: { ...NO_USER, name: user, groups: [group] } });
}

async function watchBy(
  { stage }: ReturnType<typeof bench>,
  user: string,
  group?: string,
): Promise<DeliveryCount | undefined> {
  const exchange = exchangeOf(user, 'watch=1', group);
  await stage(exchange, async () => Promise.resolve());
  return exchange.delivered;
}

test('what the watches of a flow delivered in a second takes the seats of a list of as many bytes, for as long', async () => {
  const { queues, ...rest } = bench();
  const watches = [await watchBy({ queues, ...rest }, 'ann'), await watchBy({ queues, ...rest }, 'ann')];
  expect(queues?.executingSeats).toBe(0);
  for (const watch of watches) for (let at = 0; at < 2; at += 1) watch?.add(MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(5);
  // 4 MiB and what four deliveries take, at 40 KiB a millisecond.
  await jest.advanceTimersByTimeAsync(102);
  expect(queues?.executingSeats).toBe(5);
  await jest.advanceTimersByTimeAsync(2);
  expect(queues?.executingSeats).toBe(0);
  await jest.advanceTimersByTimeAsync(3 * PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(0);
});

test('many deliveries of a few bytes are paid as well, and few of them not before they are worth a seat', async () => {
  const { queues, ...rest } = bench();
  const watch = await watchBy({ queues, ...rest }, 'ann');
  for (let at = 0; at < 100; at += 1) watch?.add(200);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(0);
  for (let at = 0; at < 100; at += 1) watch?.add(200);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(2);
});

test('a flow pays a quarter of its level and a second at a time at most, and owes no more than one such payment', async () => {
  const { queues, ...rest } = bench();
  const watch = await watchBy({ queues, ...rest }, 'ann');
  for (let at = 0; at < 1_000; at += 1) watch?.add(MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(20);
  for (let at = 0; at < 1_000; at += 1) watch?.add(MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS / 2);
  expect(queues?.executingSeats).toBe(20);
  await jest.advanceTimersByTimeAsync(3 * PAY_EVERY_MS);
  expect([queues?.executingSeats, queues?.isIdle]).toEqual([0, true]);
});

test('a flow pays in its own turn: its requests come after its payment, those of another flow do not', async () => {
  const made = bench({ ...QUEUING, handSize: 1 });
  const { queues, stage } = made;
  const begun: string[] = [];
  const begin = (user: string, count: number) => {
    const ends: (() => void)[] = [];
    const next = async (): Promise<void> => {
      begun.push(user);
      return new Promise((resolve) => ends.push(resolve));
    };
    return {
      ends,
      over: Promise.all(Array.from({ length: count }, async () => stage(exchangeOf(user), next))),
    };
  };
  const free = async (ends: (() => void)[], count: number): Promise<void> => {
    for (const end of ends.splice(0, count)) end();
    await jest.advanceTimersByTimeAsync(0);
  };
  const watch = await watchBy(made, 'ann');
  const others = begin('cat', SEATS - KEPT_SEATS);
  watch?.add(20 * MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.waitingSeats).toBe(20);
  // Each has one request on the seats that are kept, and one that waits.
  const own = begin('ann', 2);
  const another = begin('bob', 2);
  begun.length = 0;
  await free(others.ends, 2);
  expect(begun).toEqual(['bob']);
  await free(others.ends, 20);
  expect([begun, queues?.waiting]).toEqual([['bob', 'ann'], 0]);
  for (const each of [others, own, another]) await free(each.ends, SEATS);
  await Promise.all([others.over, own.over, another.over]);
});

test('a level that does not queue forgives what finds no seat, and one that is exempt counts nothing', async () => {
  const made = bench('none');
  const { queues, stage } = made;
  expect(await watchBy(made, 'root', 'system:masters')).toBeUndefined();
  const watch = await watchBy(made, 'ann');
  const ends: (() => void)[] = [];
  const held = Array.from({ length: queues?.limits.seats ?? 0 }, async () =>
    stage(exchangeOf('bob'), async () => new Promise<void>((resolve) => ends.push(resolve))),
  );
  watch?.add(10 * MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.waiting).toBe(0);
  for (const end of ends) end();
  await Promise.all(held);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.isIdle).toBe(true);
  watch?.add(10 * MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.executingSeats).toBe(11);
});

test('a watch that goes on when its schema leads elsewhere pays there', async () => {
  const made = bench();
  const { queues, control, queuesOf } = made;
  const watch = await watchBy(made, 'ann');
  control.configure([levelNamed('l', QUEUING), levelNamed('other', QUEUING)], [schemaTo('other')]);
  watch?.add(4 * MB);
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect([queues?.executingSeats, queuesOf('other')?.executingSeats]).toEqual([0, 5]);
});

test('payments that wait leave no listener each on the signal of the server, and all are given up when it is stopped', async () => {
  const made = bench();
  const { queues } = made;
  const before = getEventListeners(shutdown.signal, 'abort').length;
  for (let at = 0; at < 20; at += 1) {
    const watch = await watchBy(made, `user-${String(at)}`);
    watch?.add(20 * MB);
  }
  await jest.advanceTimersByTimeAsync(PAY_EVERY_MS);
  expect(queues?.waiting).toBeGreaterThan(10);
  expect(getEventListeners(shutdown.signal, 'abort')).toHaveLength(before);
  shutdown.abort();
  await jest.advanceTimersByTimeAsync(0);
  expect(queues?.waiting).toBe(0);
});
