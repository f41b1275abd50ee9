import { notFound } from '../../../shared/errors/status-error';
import { silentLog } from '../../../shared/log/log';
import { AUDIT_ANNOTATION } from '../../../shared/names';
import type { Exchange } from '../request/exchange';
import { ClientGoneError } from '../request/initial-values';
import { parseRequestInfo } from '../request/request-info';
import { newExchange } from '../request/testing/new-exchange';
import { statusErrorOf } from '../server/error-handler';
import type { AuditParts } from './audit';
import { createAudit } from './audit';
import { BlockingBackend } from './blocking';
import { AuditCounts } from './counts';
import type { AuditEvent, Level } from './event';
import { LostEventCounter } from './lost-event-counter';

const POD = '/api/v1/namespaces/x/pods/web';

let events: AuditEvent[] = [];
let counts: AuditCounts;
beforeEach(() => {
  events = [];
  counts = new AuditCounts();
});

function stages(parts: Partial<AuditParts> = {}, level: Level = 'RequestResponse') {
  const { open, record } = createAudit({
    decide: () => ({ level, omitStages: new Set() }),
    backend: {
      process: (event) => {
        events.push(event);
        return true;
      },
      close: async () => Promise.resolve(),
    },
    counts,
    log: silentLog,
    statusOf: statusErrorOf,
    objectBytesMax: 1_000,
    ...parts,
  });
  return async (exchange: Exchange, verb: () => void | Promise<void>): Promise<void> =>
    open(exchange, async () =>
      record(exchange, async () => {
        await verb();
      }),
    );
}

function request(path = POD, parts: Partial<Exchange> = {}): Exchange {
  return newExchange({ path, info: parseRequestInfo('GET', path, new URLSearchParams()), ...parts });
}

function answerWith(exchange: Exchange, body: Buffer | AsyncIterable<Buffer>): void {
  exchange.answer = { code: 200, headers: {}, body };
}

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

function stagesSeen(): string[] {
  return events.map(({ fields }) => fields.stage);
}

test('a defect is a Panic, with what was thrown, and nothing completes', async () => {
  const thrown = new TypeError('undefined is not a pod');
  await expect(
    stages()(request(), () => {
      throw thrown;
    }),
  ).rejects.toBe(thrown);
  expect(stagesSeen()).toEqual(['RequestReceived', 'Panic']);
  expect(events[1]?.fields.responseStatus).toEqual({
    status: 'Failure',
    reason: 'InternalError',
    message: "APIServer panic'd: TypeError: undefined is not a pod",
    code: 500,
  });
});

test('an outcome that is thrown completes, and is passed on', async () => {
  const gone = notFound({ group: '', resource: 'pods' }, 'web');
  await expect(stages()(request(), () => Promise.reject(gone))).rejects.toBe(gone);
  expect(events[1]?.fields).toMatchObject({
    stage: 'ResponseComplete',
    responseStatus: { status: 'Failure', reason: 'NotFound', code: 404 },
  });
  expect(JSON.parse(String(events[1]?.fields.responseObject))).toEqual(gone.status);
});

test('a client that leaves before its response is logged as kube-apiserver does', async () => {
  const controller = new AbortController();
  const exchange = request(POD, { signal: controller.signal });
  controller.abort(new ClientGoneError());
  await expect(
    stages()(exchange, () => {
      throw new ClientGoneError();
    }),
  ).rejects.toThrow(ClientGoneError);
  expect(events[1]?.fields.responseStatus).toMatchObject({ message: 'Connection closed early', code: 200 });
});

describe('streamed answers', () => {
  const read = async (exchange: Exchange): Promise<string> => {
    const { body } = exchange.answer ?? { body: Buffer.alloc(0) };
    const parts: Buffer[] = [];
    if (!Buffer.isBuffer(body)) for await (const part of body) parts.push(part);
    return Buffer.concat(parts).toString();
  };

  test('complete when they are read to their end', async () => {
    const exchange = request();
    await stages()(exchange, () => {
      answerWith(exchange, pieces('a', 'b'));
    });
    expect(stagesSeen()).toEqual(['RequestReceived']);
    expect(await read(exchange)).toBe('ab');
    expect(stagesSeen()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  test('complete once when their reader leaves', async () => {
    const controller = new AbortController();
    const exchange = request(POD, { signal: controller.signal });
    await stages()(exchange, () => {
      answerWith(exchange, pieces('a', 'b'));
    });
    const { body } = exchange.answer ?? { body: Buffer.alloc(0) };
    if (Buffer.isBuffer(body)) throw new Error('no stream');
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    controller.abort(new ClientGoneError());
    await iterator.return?.();
    expect(stagesSeen()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  test('complete also when they cannot be left in peace', async () => {
    const exchange = request();
    const broken: AsyncIterable<Buffer> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => Promise.resolve({ done: false, value: Buffer.from('a') }),
        return: async () => Promise.reject(new Error('stuck')),
      }),
    };
    await stages()(exchange, () => {
      answerWith(exchange, broken);
    });
    const { body } = exchange.answer ?? { body: Buffer.alloc(0) };
    if (Buffer.isBuffer(body)) throw new Error('no stream');
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    await expect(iterator.return?.()).rejects.toThrow('stuck');
    expect(stagesSeen()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  test('complete when the client has left before there is an answer', async () => {
    const controller = new AbortController();
    const exchange = request(POD, { signal: controller.signal });
    await stages()(exchange, () => {
      controller.abort(new ClientGoneError());
      answerWith(exchange, pieces('a'));
    });
    expect(stagesSeen()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  test('complete when the client leaves before anybody reads them', async () => {
    const controller = new AbortController();
    const exchange = request(POD, { signal: controller.signal });
    await stages()(exchange, () => {
      answerWith(exchange, pieces('a'));
    });
    controller.abort(new ClientGoneError());
    await Promise.resolve();
    expect(stagesSeen()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  test.each([
    ['before anything was sent, have the code of the error', [], 404],
    ['after something was sent, keep the code that was sent', ['a'], 200],
  ])('that break %s', async (_what, sent, code) => {
    const exchange = request();
    const breaking = async function* (): AsyncGenerator<Buffer> {
      yield* pieces(...sent);
      throw notFound({ group: '', resource: 'pods' }, 'web');
    };
    await stages()(exchange, () => {
      answerWith(exchange, breaking());
    });
    await expect(read(exchange)).rejects.toThrow('not found');
    expect(events[1]?.fields).toMatchObject({ stage: 'ResponseComplete', responseStatus: { code } });
  });
});

describe('objects', () => {
  test('one that is too long is left out, in one piece or in many, and the event says so', async () => {
    const exchange = request();
    await stages()(exchange, () => {
      exchange.audit?.requestObject(undefined, () => Buffer.alloc(1_001, ' '));
      exchange.audit?.responseObject(() => pieces('x'.repeat(600), 'x'.repeat(600)));
      answerWith(exchange, Buffer.alloc(0));
    });
    expect(events[1]?.fields).toMatchObject({
      requestObject: undefined,
      responseObject: undefined,
      annotations: { [AUDIT_ANNOTATION.truncated]: 'true' },
    });
  });

  test.each<[Level, boolean, boolean]>([
    ['Metadata', false, false],
    ['Request', true, false],
    ['RequestResponse', true, true],
  ])('at %s the request is made: %s, and the answer: %s', async (level, asksRequest, asksResponse) => {
    const exchange = request();
    const made = { request: false, response: false };
    await stages({}, level)(exchange, () => {
      exchange.audit?.requestObject(undefined, () => {
        made.request = true;
        return Buffer.from('{}');
      });
      exchange.audit?.responseObject(() => {
        made.response = true;
        return Buffer.from('{}');
      });
      answerWith(exchange, Buffer.alloc(0));
    });
    expect(made).toEqual({ request: asksRequest, response: asksResponse });
  });

  test('an answer that cannot be put together does not spoil the event', async () => {
    const exchange = request();
    await stages()(exchange, () => {
      exchange.audit?.responseObject(() => Promise.reject(new Error('torn')));
      answerWith(exchange, Buffer.alloc(0));
    });
    expect(events[1]?.fields).toMatchObject({ responseObject: undefined, responseStatus: { code: 200 } });
  });
});

describe('annotations', () => {
  test('the first value of a key stays', async () => {
    const exchange = request();
    await stages()(exchange, () => {
      exchange.audit?.annotate('key', 'first');
      exchange.audit?.annotate('key', 'second');
      answerWith(exchange, Buffer.alloc(0));
    });
    expect(events[1]?.fields.annotations).toEqual({ key: 'first' });
  });

  test.each([
    ['Metadata', {}],
    ['Request', { long: 'patch' }],
    ['RequestResponse', { long: 'patch' }],
  ] as const)(
    'those that need the level Request are in an event of the level %s: %j',
    async (level, noted) => {
      const exchange = request();
      await stages({}, level)(exchange, () => {
        exchange.audit?.annotate('long', 'patch', 'Request');
        answerWith(exchange, Buffer.alloc(0));
      });
      expect(events[1]?.fields.annotations ?? {}).toEqual(noted);
    },
  );

  test('their number and their length are bounded', async () => {
    const exchange = request();
    await stages()(exchange, () => {
      for (let index = 0; index < 1_000; index += 1) {
        exchange.audit?.annotate(`key-${String(index)}`, 'x'.repeat(100_000));
      }
      answerWith(exchange, Buffer.alloc(0));
    });
    const noted = Object.values(events[1]?.fields.annotations ?? {});
    expect(noted).toHaveLength(64);
    expect(Math.max(...noted.map(({ length }) => length))).toBe(4_096);
  });

  test('what is noted before it is known who asks is kept', async () => {
    const exchange = request();
    const { open, record } = createAudit({
      decide: () => ({ level: 'Metadata', omitStages: new Set() }),
      backend: { process: (event) => events.push(event) > 0, close: async () => Promise.resolve() },
      counts,
      log: silentLog,
      statusOf: statusErrorOf,
      objectBytesMax: 1_000,
    });
    await open(exchange, async () => {
      exchange.audit?.annotate('early', 'yes');
      await record(exchange, async () => {
        answerWith(exchange, Buffer.alloc(0));
        return Promise.resolve();
      });
    });
    expect(events[0]?.fields.annotations).toEqual({ early: 'yes' });
  });
});

test('a request whose first event cannot be stored is refused before anything is done for it', async () => {
  const backend = { process: async () => Promise.resolve(false), close: async () => Promise.resolve() };
  let isDone = false;
  const refused = stages({ backend })(request(), () => {
    isDone = true;
  });
  await expect(refused).rejects.toMatchObject({
    status: {
      reason: 'InternalError',
      code: 500,
      message: expect.stringContaining('failed to store audit event'),
    },
  });
  expect(isDone).toBe(false);
  expect(counts.rejectedRequests).toBe(1);
});

test('a sink that does not answer holds a request no longer than its deadline', async () => {
  const controller = new AbortController();
  const backend = new BlockingBackend({
    sink: { write: async () => new Promise(() => undefined), close: async () => Promise.resolve() },
    plugin: 'webhook',
    loss: new LostEventCounter(counts, silentLog),
    strict: true,
    isSlow: true,
    version: 'v1',
  });
  const refused = stages({ backend })(request(POD, { signal: controller.signal }), () => undefined);
  const late = new Error('the time is up');
  controller.abort(late);
  await expect(refused).rejects.toBe(late);
  expect(counts.rejectedRequests).toBe(0);
});

test('at level None there is no trail for the verbs', async () => {
  const exchange = request();
  await stages({}, 'None')(exchange, () => {
    expect(exchange.audit).toBeUndefined();
  });
  expect(events).toEqual([]);
  expect(counts.levels.get('None')).toBe(1);
});
