import { createDeadlineStage } from './deadline';
import type { Exchange } from './exchange';
import { NO_INFO } from './initial-values';
import type { TestExchange } from './testing/new-exchange';
import { newExchange } from './testing/new-exchange';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function exchangeOf(verb: string, query = ''): TestExchange {
  return newExchange({
    info: { ...NO_INFO, isResourceRequest: true, verb },
    query: new URLSearchParams(query),
  });
}

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Promise.resolve(Buffer.from(text));
}

async function run(exchange: Exchange, body?: Buffer | AsyncIterable<Buffer>): Promise<void> {
  await createDeadlineStage(60_000)(exchange, async () => {
    if (body !== undefined) exchange.answer = { code: 200, headers: {}, body };
    await Promise.resolve();
  });
}

test('a streamed answer is aborted at the deadline, that of the client if it is sooner', async () => {
  const exchange = exchangeOf('list', 'timeout=2s');
  await run(exchange, pieces('a', 'b'));
  jest.advanceTimersByTime(1_999);
  expect(exchange.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(exchange.signal.reason).toMatchObject({ status: { code: 504, reason: 'Timeout' } });
});

test('a limit of months does not end a request at once', async () => {
  const exchange = exchangeOf('list');
  await createDeadlineStage(90 * 24 * 3_600_000)(exchange, async () => {
    await jest.advanceTimersByTimeAsync(1_000);
  });
  expect(exchange.signal.aborted).toBe(false);
});

test('the timer is cleared when a buffered answer is ready, a streamed one has ended, or a stage throws', async () => {
  await run(exchangeOf('get'), Buffer.from('whole'));
  expect(jest.getTimerCount()).toBe(0);

  const streamed = exchangeOf('list');
  await run(streamed, pieces('a'));
  expect(jest.getTimerCount()).toBe(1);
  streamed.end();
  expect(jest.getTimerCount()).toBe(0);

  const refused = createDeadlineStage(60_000)(exchangeOf('get'), async () =>
    Promise.reject(new Error('refused')),
  );
  await expect(refused).rejects.toThrow('refused');
  expect(jest.getTimerCount()).toBe(0);
});

test.each(['timeout=-1s', 'timeout=0', 'timeout='])('%s sets no deadline of its own', async (query) => {
  const exchange = exchangeOf('list', query);
  await run(exchange, pieces('a'));
  jest.advanceTimersByTime(59_999);
  expect(exchange.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(exchange.signal.aborted).toBe(true);
});

test.each([
  ['soon', 'invalid duration "soon"'],
  ['1', 'missing unit in duration "1"'],
])('a timeout of "%s" is a bad request', async (text, words) => {
  const message = `invalid timeout specified in the request URL - time: ${words}`;
  await expect(run(exchangeOf('list', `timeout=${text}`))).rejects.toMatchObject({
    status: { code: 400, message },
  });
});

test('a watch has none', async () => {
  const exchange = exchangeOf('watch');
  const { signal } = exchange;
  await run(exchange, pieces('a'));
  expect(exchange.signal).toBe(signal);
  expect(jest.getTimerCount()).toBe(0);
});
