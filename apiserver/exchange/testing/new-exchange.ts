import { LightSignal } from '../../../shared/concurrency/light-signal';
import type { Exchange } from '../exchange';
import { rawHeadersOf } from './raw-headers';
import { NO_INFO, NOBODY } from '../initial-values';

/** An exchange as a door would build it, for tests of stages. It is never over. */
export function newExchange(parts: Partial<Exchange> = {}): Exchange {
  const signal = new LightSignal();
  return {
    id: 'test',
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    rawHeaders: rawHeadersOf(parts.headers ?? {}),
    remoteAddress: '127.0.0.1',
    upgrade: false,
    receivedAt: 0,
    signal,
    readBody: async () => Promise.resolve(Buffer.alloc(0)),
    info: NO_INFO,
    user: NOBODY,
    warnings: [],
    answer: undefined,
    abort: (reason) => {
      signal.abort(reason);
    },
    whenOver: () => undefined,
    ...parts,
  };
}
