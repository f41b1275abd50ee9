import { LightSignal } from '../../../../shared/concurrency/light-signal';
import type { Exchange } from '../exchange';
import { rawHeadersOf } from './raw-headers';
import { NO_INFO, NO_USER } from '../initial-values';

/** An exchange with an `end` function, which a listener would call. */
export interface TestExchange extends Exchange {
  readonly end: () => void;
}

/** An exchange as a listener would build it, for tests of stages. */
export function newExchange(parts: Partial<Exchange> = {}): TestExchange {
  const signal = new LightSignal();
  const listeners: (() => void)[] = [];
  let isOver = false;
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
    bodyStream: () => undefined,
    info: NO_INFO,
    user: NO_USER,
    warnings: [],
    answer: undefined,
    abort: (reason) => {
      signal.abort(reason);
    },
    whenOver: (listener) => {
      if (isOver) listener();
      else listeners.push(listener);
    },
    end: () => {
      isOver = true;
      for (const listener of listeners.splice(0)) listener();
    },
    ...parts,
  };
}
