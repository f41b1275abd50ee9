import type { Exchange } from '../exchange';
import { NO_INFO, NOBODY } from '../initial-values';

/** An exchange as a door would build it, for tests of stages. */
export function newExchange(parts: Partial<Exchange> = {}): Exchange {
  return {
    id: 'test',
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    remoteAddress: '127.0.0.1',
    upgrade: false,
    receivedAt: 0,
    signal: new AbortController().signal,
    readBody: async () => Promise.resolve(Buffer.alloc(0)),
    info: NO_INFO,
    user: NOBODY,
    warnings: [],
    answer: undefined,
    abort: () => undefined,
    ...parts,
  };
}
