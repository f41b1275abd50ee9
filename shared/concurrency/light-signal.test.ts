import { once, EventEmitter, setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sleep, untilAborted } from './abort';
import { LightSignal } from './light-signal';
import { linkedAbort } from './linked-abort';
import { withTimeLimit } from './time-limit';

const REASON = new Error('enough');

/** A signal of each kind with the function that aborts it: what holds for the runtime's own holds for the light one. */
const KINDS: readonly (readonly [string, () => { signal: AbortSignal; abort: (reason: Error) => void }])[] = [
  [
    'the runtime’s signal',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
    },
  ],
  [
    'a light signal',
    () => {
      const signal = new LightSignal();
      return { signal, abort: (reason) => signal.abort(reason) };
    },
  ],
];

describe.each(KINDS)('%s', (_name, make) => {
  test('tells its listeners once, in the step of the abort, and they find the reason', () => {
    const { signal, abort } = make();
    const seen: unknown[] = [];
    signal.addEventListener('abort', ({ type }) => seen.push(type, signal.aborted, signal.reason));
    signal.addEventListener('abort', { handleEvent: () => seen.push('object') });
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    expect(() => signal.throwIfAborted()).not.toThrow();
    abort(REASON);
    abort(new Error('again'));
    expect(seen).toEqual(['abort', true, REASON, 'object']);
    expect(() => signal.throwIfAborted()).toThrow(REASON);
  });

  test('calls a listener once however often it was added, and not after it was removed', () => {
    const { signal, abort } = make();
    const twice = jest.fn();
    const removed = jest.fn();
    signal.addEventListener('abort', twice);
    signal.addEventListener('abort', removed);
    signal.addEventListener('abort', twice, { once: true });
    signal.removeEventListener('abort', removed);
    signal.removeEventListener('abort', jest.fn());
    abort(REASON);
    expect(twice).toHaveBeenCalledTimes(1);
    expect(removed).not.toHaveBeenCalled();
  });

  test('skips listeners that were removed by an earlier one, added too late, or added for another event', () => {
    const { signal, abort } = make();
    const second = jest.fn();
    const late = jest.fn();
    const other = jest.fn();
    signal.addEventListener('abort', () => {
      signal.removeEventListener('abort', second);
    });
    signal.addEventListener('abort', second);
    signal.addEventListener('other', other);
    abort(REASON);
    signal.addEventListener('abort', late);
    abort(REASON);
    for (const listener of [second, late, other]) expect(listener).not.toHaveBeenCalled();
  });

  test('works with Node functions that accept a signal', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { signal, abort } = make();
    setMaxListeners(0, signal);
    const waits = [
      once(new EventEmitter(), 'never', { signal }),
      delay(60_000, undefined, { signal }),
      new Promise((_, reject) => get({ port, host: '127.0.0.1', signal }).on('error', reject)),
    ];
    const settled = Promise.allSettled(waits);
    await delay(20);
    abort(REASON);
    for (const { status, ...rest } of await settled) {
      expect(status).toBe('rejected');
      expect(rest).toMatchObject({ reason: { name: 'AbortError' } });
    }
    server.closeAllConnections();
    server.close();
  });

  test('is heeded by what waits here', async () => {
    const { signal, abort } = make();
    const never = new Promise<never>(() => undefined);
    const waits = [
      sleep(60_000, signal),
      untilAborted(never, signal),
      withTimeLimit(signal, 60_000, async (inTime) => untilAborted(never, inTime)),
      untilAborted(never, linkedAbort(signal).signal),
    ];
    const settled = Promise.allSettled(waits);
    abort(REASON);
    expect(await settled).toEqual(waits.map(() => ({ status: 'rejected', reason: REASON })));
    await expect(sleep(1, signal)).rejects.toBe(REASON);
  });
});

test('a listener that throws keeps nothing from the others, and is not hushed up', async () => {
  const signal = new LightSignal();
  const other = jest.fn();
  const nextTick = jest.spyOn(process, 'nextTick').mockImplementation(() => undefined);
  signal.addEventListener('abort', () => {
    throw REASON;
  });
  signal.addEventListener('abort', other);
  signal.abort(new Error('why'));
  const [[rethrow] = []] = nextTick.mock.calls;
  nextTick.mockRestore();
  expect(other).toHaveBeenCalledTimes(1);
  expect(rethrow).toThrow(REASON);
});

test('it says so where it cannot be used', () => {
  const signals = [new LightSignal(), new AbortController().signal];
  // oxlint-disable-next-line no-restricted-properties -- the misuse must fail at once.
  expect(() => AbortSignal.any(signals)).toThrow('not extensible');
  expect(() => new LightSignal().dispatchEvent()).toThrow('cannot be made up');
});
