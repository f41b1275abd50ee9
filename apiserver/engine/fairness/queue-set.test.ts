import { NO_USER, NO_INFO } from '../request/initial-values';
import type { Queue, QueueSetLimits, Refusal } from './queue-set';
import { QueueSet, RefusedError } from './queue-set';

const ABOUT = { user: NO_USER, info: NO_INFO };
const QUEUING = { queues: 8, handSize: 1, queueLengthMax: 3 };
const NEVER_MS = 1_000_000;

/** A set on a clock of its own, whose requests end when the test says so. */
function bench(limits: QueueSetLimits) {
  let now = 0;
  const set = new QueueSet(limits, () => now);
  const served: string[] = [];
  const refused: [string, Refusal][] = [];
  const running = new Map<string, { queue: Queue; seats: number; startedAt: number }>();
  const ask = (name: string, queueIndex: number, seats = 1, signal = new AbortController().signal): void => {
    const note = (queue: Queue): void => {
      served.push(name);
      running.set(name, { queue, seats, startedAt: now });
    };
    const hand = [queueIndex];
    const queue = set.tryStart(hand, seats, now);
    if (queue !== undefined) {
      note(queue);
      return;
    }
    const waiter = { schema: 's', distinguisher: name, arrivedAt: 0, about: ABOUT };
    set
      .start({ hand, seats, waiter, waitMsMax: NEVER_MS }, signal, () => undefined)
      .then(note, (error: unknown) => {
        if (error instanceof RefusedError) refused.push([name, error.refusal]);
        else refused.push([name, 'time-out']);
      });
  };
  const end = async (name: string): Promise<void> => {
    const found = running.get(name);
    if (found === undefined) throw new Error(`${name} is not running`);
    running.delete(name);
    set.finish(found.queue, { seats: found.seats, tookMs: now - found.startedAt, now });
    await settled();
  };
  return {
    set,
    served,
    refused,
    ask,
    end,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('without queues, what finds no seat is refused at once', async () => {
  const { set, served, refused, ask, end } = bench({ seats: 2, queuing: undefined });
  for (const name of ['a', 'b', 'c']) ask(name, 0);
  await settled();
  expect(served).toEqual(['a', 'b']);
  expect(refused).toEqual([['c', 'concurrency-limit']]);
  await end('a');
  ask('d', 0);
  expect(served).toEqual(['a', 'b', 'd']);
  expect(set.executing).toBe(2);
});

test('a flow that sends many requests does not delay one that sends few: queues take turns', async () => {
  const { served, ask, end, pass } = bench({ seats: 1, queuing: { ...QUEUING, queueLengthMax: 100 } });
  ask('first', 7);
  for (let at = 0; at < 20; at += 1) ask(`many-${String(at)}`, 1);
  ask('few-0', 2);
  ask('few-1', 2);
  for (let turn = 0; turn < 6; turn += 1) {
    pass(1_000);
    await end(served.at(-1) ?? '');
  }
  expect(served.filter((name) => name.startsWith('few'))).toEqual(['few-0', 'few-1']);
  expect(served).toHaveLength(7);
});

test('a full queue refuses, and others do not', async () => {
  const { set, refused, ask } = bench({ seats: 1, queuing: QUEUING });
  ask('running', 0);
  for (let at = 0; at < 4; at += 1) ask(`one-${String(at)}`, 1);
  ask('two', 2);
  await settled();
  expect(refused).toEqual([['one-3', 'queue-full']]);
  expect(set.waiting).toBe(4);
});

test('a request that takes several seats waits until they are free, and is not passed by', async () => {
  const { set, served, ask, end, pass } = bench({ seats: 4, queuing: QUEUING });
  for (const name of ['a', 'b', 'c']) ask(name, 0);
  ask('wide', 1, 3);
  pass(10);
  ask('small', 0);
  await settled();
  expect(served).toEqual(['a', 'b', 'c']);
  await end('a');
  await end('b');
  expect(served).toEqual(['a', 'b', 'c', 'wide']);
  expect(set.executingSeats).toBe(4);
  await end('c');
  expect(served.at(-1)).toBe('small');
});

test('some seats are reserved for one-seat requests of flows without requests in flight', async () => {
  const { set, served, ask, end } = bench({ seats: 8, queuing: QUEUING });
  for (const name of ['wide-0', 'wide-1', 'wide-2']) ask(name, 1, 3);
  ask('wide-3', 2, 2);
  await settled();
  expect(served).toEqual(['wide-0', 'wide-1']);
  ask('one', 3);
  ask('two', 3);
  await settled();
  // The seventh seat anybody may have, the eighth only who has none.
  expect(served).toEqual(['wide-0', 'wide-1', 'one']);
  ask('three', 4);
  await settled();
  expect([served.at(-1), set.executingSeats]).toEqual(['three', 8]);
  ask('four', 5);
  await settled();
  expect(served.at(-1)).toBe('three');
  await end('one');
  expect(served.slice(4)).toContain('four');
  for (const name of ['wide-0', 'wide-1', 'three']) await end(name);
  expect(served).toEqual(expect.arrayContaining(['wide-2', 'wide-3']));
});

test('single requests of many do not keep a wide one from its seats, however many of them come', async () => {
  const { served, ask, end, pass } = bench({ seats: 8, queuing: { ...QUEUING, queues: 1_000 } });
  for (let at = 0; at < 8; at += 1) ask(`first-${String(at)}`, at);
  ask('wide', 100, 4);
  await settled();
  for (let at = 0; at < 40 && !served.includes('wide'); at += 1) {
    pass(10);
    ask(`later-${String(at)}`, 200 + at);
    await settled();
    await end(served[at] ?? '');
  }
  expect(served).toContain('wide');
});

test('one that is wider than the level is served alone', async () => {
  const { served, ask, end } = bench({ seats: 2, queuing: QUEUING });
  ask('a', 0);
  ask('wide', 1, 9);
  await settled();
  expect(served).toEqual(['a']);
  await end('a');
  expect(served).toEqual(['a', 'wide']);
});

test('who waits too long is refused, and who leaves makes room for the next', async () => {
  const { set, served, refused, ask, end } = bench({ seats: 1, queuing: QUEUING });
  const leaver = new AbortController();
  ask('running', 0);
  ask('leaving', 1, 5, leaver.signal);
  ask('waiting', 2);
  leaver.abort(new Error('gone'));
  await settled();
  expect(set.waiting).toBe(1);
  await end('running');
  expect(served).toEqual(['running', 'waiting']);
  ask('late', 3);
  jest.advanceTimersByTime(NEVER_MS);
  await settled();
  expect(refused).toContainEqual(['late', 'time-out']);
  expect(set.waiting).toBe(0);
});

test('more seats serve those who wait, and a level is idle when all have ended', async () => {
  const { set, served, ask, end } = bench({ seats: 1, queuing: QUEUING });
  ask('a', 0);
  ask('b', 1);
  set.configure({ seats: 2, queuing: QUEUING });
  await settled();
  expect(served).toEqual(['a', 'b']);
  await end('a');
  await end('b');
  expect(set.isIdle).toBe(true);
  expect([...set.queues]).toEqual([]);
});

test('the expected wait grows with what waits and with what requests take', async () => {
  const { set, ask, end, pass } = bench({ seats: 1, queuing: QUEUING });
  expect(set.expectedWaitSeconds).toBe(0);
  ask('a', 0);
  pass(20_000);
  await end('a');
  ask('b', 0);
  ask('c', 1, 3);
  expect(set.expectedWaitSeconds).toBeCloseTo(3);
});
