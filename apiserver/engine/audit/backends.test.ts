import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { AUDIT_ANNOTATION } from '../../../shared/names';
import type { BatchParts } from './batch';
import { BatchBackend, BUFFER_BYTES_MAX } from './batch';
import { BlockingBackend } from './blocking';
import { AuditCounts } from './counts';
import type { AuditEvent } from './event';
import { LostEventCounter } from './lost-event-counter';
import type { Backend, Sink } from './sink';
import { union } from './sink';
import { newEvent } from './testing/events';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import { truncating } from './truncation';

const NEVER = new AbortController().signal;

/** A sink whose writes end when the test says so. */
class HeldSink implements Sink {
  readonly batches: string[][] = [];
  readonly #held: { readonly end: (error?: Error) => void }[] = [];
  #arrived: () => void = () => undefined;
  isClosed = false;

  async write(events: readonly AuditEvent[], signal: AbortSignal): Promise<void> {
    this.batches.push(events.map(({ fields }) => fields.auditId));
    this.#arrived();
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#held.push({ end });
      signal.addEventListener('abort', () => {
        end(new Error('given up'));
      });
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  /** Ends all writes under way. */
  end(error?: Error): void {
    for (const held of this.#held.splice(0)) held.end(error);
  }

  /** Resolves when the next write begins. */
  async arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
  }
}

let counts: AuditCounts;
let sink: HeldSink;
beforeEach(() => {
  counts = new AuditCounts();
  sink = new HeldSink();
});

function batch(parts: Partial<BatchParts> = {}, log: Log = silentLog): BatchBackend {
  return new BatchBackend({
    bufferEventsMax: 10,
    batchEventsMax: 3,
    batchWaitMs: 60_000,
    throttle: undefined,
    sink,
    plugin: 'webhook',
    loss: new LostEventCounter(counts, log),
    version: 'v1',
    batchBytesMax: 1_000_000,
    sendsAtOnceMax: 1,
    takeEventsMin: 1,
    ...parts,
  });
}

function feed(backend: Backend, ...ids: string[]): void {
  for (const auditId of ids) void backend.process(newEvent({ auditId }), NEVER);
}

describe('batches', () => {
  test('a full batch leaves at once, a part waits for its time', async () => {
    const backend = batch();
    feed(backend, '1', '2', '3', '4');
    expect(sink.batches).toEqual([['1', '2', '3']]);
    sink.end();
    const closing = backend.close(NEVER);
    await sink.arrival();
    expect(sink.batches.at(-1)).toEqual(['4']);
    sink.end();
    await closing;
    expect(sink.isClosed).toBe(true);
    expect(counts.errors.size).toBe(0);
  });

  test('a part leaves when its time has come', async () => {
    const backend = batch({ batchWaitMs: 20 });
    feed(backend, '1', '2');
    expect(sink.batches).toEqual([]);
    await sink.arrival();
    expect(sink.batches).toEqual([['1', '2']]);
    sink.end();
    await backend.close(NEVER);
  });

  test('without a time to wait every event leaves at once', async () => {
    const backend = batch({ batchWaitMs: 0, sendsAtOnceMax: 2 });
    feed(backend, '1', '2');
    expect(sink.batches).toEqual([['1'], ['2']]);
    sink.end();
    await backend.close(NEVER);
  });

  test('events beyond the buffer are dropped, counted and logged once', async () => {
    const logged: string[] = [];
    const log = { ...silentLog, error: (_fields: object, message: string) => void logged.push(message) };
    const backend = batch({ bufferEventsMax: 4 }, log);
    feed(backend, ...Array.from({ length: 20 }, (_each, index) => String(index)));
    // Three are under way, four wait.
    expect(counts.errors.get('buffered')).toBe(13);
    expect(logged).toEqual(['audit events lost']);
    const closing = backend.close(NEVER);
    sink.end();
    await sink.arrival();
    sink.end();
    await sink.arrival();
    sink.end();
    await closing;
    expect(sink.batches.flat()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  });

  test('what waits is bounded in bytes too', () => {
    const backend = batch({ bufferEventsMax: 1_000 });
    const requestObject = Buffer.alloc(BUFFER_BYTES_MAX / 4, 'x');
    for (let index = 0; index < 10; index += 1) backend.process(newEvent({ requestObject }));
    // One is under way, three wait.
    expect(counts.errors.get('buffered')).toBe(6);
  });

  test('a batch holds no more bytes than it may', async () => {
    const size = newEvent().bytes('v1');
    const backend = batch({ batchBytesMax: 2 * size + 1, sendsAtOnceMax: 2 });
    feed(backend, 'id-1', 'id-2', 'id-3');
    expect(sink.batches).toEqual([['id-1', 'id-2']]);
    const closing = backend.close(NEVER);
    expect(sink.batches[1]).toEqual(['id-3']);
    sink.end();
    await closing;
  });

  test('a batch that the sink refuses is counted, and the next one is sent', async () => {
    const backend = batch();
    feed(backend, '1', '2', '3', '4', '5', '6');
    sink.end(new Error('no'));
    await sink.arrival();
    expect(counts.errors.get('webhook')).toBe(3);
    sink.end();
    await backend.close(NEVER);
  });

  test('at the end what is not sent in time is given up and counted', async () => {
    const backend = batch();
    feed(backend, '1', '2', '3', '4', '5');
    const deadline = new AbortController();
    const closing = backend.close(deadline.signal);
    deadline.abort(new Error('time is up'));
    await closing;
    expect(counts.errors.get('webhook')).toBe(5);
    expect(sink.isClosed).toBe(true);
    feed(backend, '6');
    expect(counts.errors.get('buffered')).toBe(1);
  });

  test('a sink that does not give up does not hold up the end, and what it has is counted', async () => {
    const writing: ((error: Error) => void)[] = [];
    const stuck: Sink = {
      write: async () => new Promise((_resolve, reject) => writing.push(reject)),
      close: async () => new Promise(() => undefined),
    };
    const backend = batch({ sink: stuck });
    feed(backend, '1', '2', '3', '4');
    const deadline = new AbortController();
    const closing = backend.close(deadline.signal);
    deadline.abort(new Error('time is up'));
    await closing;
    expect(writing).toHaveLength(1);
    expect(counts.errors.get('webhook')).toBe(4);
    // A write that fails after it was abandoned is not counted again.
    for (const fail of writing) fail(new Error('too late'));
    await new Promise(setImmediate);
    expect(counts.errors.get('webhook')).toBe(4);
  });

  test('a wait that is longer than a timer can be does not end at once', async () => {
    const timer = jest.spyOn(globalThis, 'setTimeout');
    const backend = batch({ batchWaitMs: 3_000_000_000 });
    feed(backend, '1');
    expect(timer.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
    timer.mockRestore();
    const closing = backend.close(NEVER);
    sink.end();
    await closing;
    expect(sink.batches).toEqual([['1']]);
  });

  test('batches beyond the rate wait', async () => {
    let now = 0;
    const backend = batch({
      clock: { now: () => now },
      batchEventsMax: 1,
      sendsAtOnceMax: 9,
      throttle: { perSecond: 50, burst: 2 },
    });
    feed(backend, '1', '2', '3');
    expect(sink.batches).toEqual([['1'], ['2']]);
    now = 20;
    await sink.arrival();
    expect(sink.batches).toEqual([['1'], ['2'], ['3']]);
    sink.end();
    await backend.close(NEVER);
  });
});

test('a token bucket lets a burst through, and then so many per second', () => {
  let now = 0;
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, { now: () => now });
  expect([bucket.take(), bucket.take()]).toEqual([0, 0]);
  expect(bucket.take()).toBe(100);
  now = 50;
  expect(bucket.take()).toBe(50);
  now = 100;
  expect(bucket.take()).toBe(0);
  now = 60_000;
  expect([bucket.take(), bucket.take()]).toEqual([0, 0]);
  expect(bucket.take()).toBeGreaterThan(0);
});

describe('blocking', () => {
  test.each([
    [false, true],
    [true, false],
  ])('with strict=%s an event that is not written lets the request go on: %s', async (strict, goesOn) => {
    const backend = new BlockingBackend({
      sink,
      plugin: 'log',
      loss: new LostEventCounter(counts, silentLog),
      strict,
      isSlow: false,
      version: 'v1',
    });
    const first = backend.process(newEvent(), NEVER);
    sink.end();
    await expect(first).resolves.toBe(true);
    const second = backend.process(newEvent(), NEVER);
    sink.end(new Error('no'));
    await expect(second).resolves.toBe(goesOn);
    expect(counts.errors.get('log')).toBe(1);
  });

  test('the end waits for what is under way, and not longer than its deadline', async () => {
    const backend = new BlockingBackend({
      sink,
      plugin: 'log',
      loss: new LostEventCounter(counts, silentLog),
      strict: true,
      isSlow: false,
      version: 'v1',
    });
    const event = backend.process(newEvent(), NEVER);
    const deadline = new AbortController();
    const closing = backend.close(deadline.signal);
    deadline.abort(new Error('time is up'));
    await closing;
    await expect(event).resolves.toBe(false);
    expect(sink.isClosed).toBe(true);
  });
});

describe('blocking on a sink that is slow', () => {
  function slow(strict: boolean, on: Sink = sink): BlockingBackend {
    const loss = new LostEventCounter(counts, silentLog);
    return new BlockingBackend({ sink: on, plugin: 'webhook', loss, strict, isSlow: true, version: 'v1' });
  }

  test.each([
    [true, false],
    [false, true],
  ])(
    'strict=%s: events whose requests are gone are bounded in bytes, and one more goes on: %s',
    async (strict, goesOn) => {
      const backend = slow(strict);
      const gone = new AbortController();
      const requestObject = Buffer.alloc(BUFFER_BYTES_MAX / 4, 'x');
      const waiting = Array.from({ length: 3 }, async () =>
        backend.process(newEvent({ requestObject }), gone.signal),
      );
      const outcomes = Promise.allSettled(waiting);
      gone.abort(new Error('the client left'));
      for (const { status } of await outcomes) expect(status).toBe('rejected');
      await expect(backend.process(newEvent({ requestObject }), NEVER)).resolves.toBe(goesOn);
      expect(sink.batches).toHaveLength(3);
      expect(counts.errors.get('webhook')).toBe(1);
      sink.end();
      await backend.close(NEVER);
      const next = backend.process(newEvent({ requestObject }), NEVER);
      sink.end();
      await expect(next).resolves.toBe(true);
    },
  );

  test('one that does not give up does not hold up the end, and what it has is counted', async () => {
    const backend = slow(false, {
      write: async () => new Promise(() => undefined),
      close: async () => new Promise(() => undefined),
    });
    feed(backend, '1', '2');
    const deadline = new AbortController();
    const closing = backend.close(deadline.signal);
    deadline.abort(new Error('time is up'));
    await closing;
    expect(counts.errors.get('webhook')).toBe(2);
  });
});

test('losses right after a log line are logged later, at the latest at the end', () => {
  const logged: unknown[] = [];
  const loss = new LostEventCounter(counts, { ...silentLog, error: (fields) => void logged.push(fields) });
  loss.add('log', 1, 'a');
  loss.add('log', 2, 'b');
  loss.add('log', 3, 'c');
  loss.add('webhook', 4, 'd');
  expect(logged).toEqual([
    { plugin: 'log', lost: 1, error: 'a' },
    { plugin: 'webhook', lost: 4, error: 'd' },
  ]);
  loss.flush();
  loss.flush();
  expect(logged.slice(2)).toEqual([{ plugin: 'log', lost: 5, error: 'c' }]);
});

describe('truncation', () => {
  const kept: AuditEvent[] = [];
  const keeping: Backend = {
    process: (event) => {
      kept.push(event);
      return true;
    },
    close: async () => Promise.resolve(),
  };
  const backend = (eventBytesMax: number): Backend =>
    truncating(keeping, {
      eventBytesMax,
      batchBytesMax: 1e6,
      version: 'v1',
      loss: new LostEventCounter(counts, silentLog),
    });
  beforeEach(() => {
    kept.length = 0;
  });

  test('an event within the size stays as it is', () => {
    const event = newEvent();
    void backend(event.bytes('v1')).process(event, NEVER);
    expect(kept).toEqual([event]);
  });

  test('a longer one goes without its objects, and says so', () => {
    const big = Buffer.from(JSON.stringify('x'.repeat(2_000)));
    const event = newEvent({
      level: 'RequestResponse',
      requestObject: big,
      responseObject: big,
      annotations: { a: 'b' },
    });
    void backend(1_000).process(event, NEVER);
    expect(kept[0]?.fields).toMatchObject({
      auditId: 'id-1',
      requestObject: undefined,
      responseObject: undefined,
      annotations: { a: 'b', [AUDIT_ANNOTATION.truncated]: 'true' },
    });
  });

  test('one that is too long all the same is dropped and counted', () => {
    void backend(10).process(newEvent({ level: 'Request', requestObject: Buffer.from('{}') }), NEVER);
    void backend(10).process(newEvent(), NEVER);
    expect(kept).toEqual([]);
    expect(counts.errors.get('truncate')).toBe(2);
  });
});

describe('several backends', () => {
  const answering = (answer: boolean | Promise<boolean>): Backend => ({
    process: () => answer,
    close: async () => Promise.resolve(),
  });
  test.each([
    [true, true, true],
    [true, false, false],
  ])('%s and %s make %s, at once or later', async (one, other, both) => {
    expect(union([answering(one), answering(other)]).process(newEvent(), NEVER)).toBe(both);
    const later = union([answering(one), answering(Promise.resolve(other))]).process(newEvent(), NEVER);
    await expect(later).resolves.toBe(both);
  });
});
