import { badRequest, timeout } from '../../shared/errors/status-error';
import { parseDurationMs } from '../../shared/flags/duration';
import type { Exchange, Stage } from './exchange';

/**
 * Gives every request but a watch an end: the server's limit, or the client's `timeout` (a Go duration) when that is shorter. At the
 * deadline the exchange's signal aborts with a Timeout (504); a streamed answer that its reader does not take ends then too.
 */
export function createDeadline(requestTimeoutMs: number): Stage {
  return async (exchange, next) => {
    if (exchange.info.verb === 'watch') {
      await next();
      return;
    }
    const ms = Math.min(requestTimeoutMs, clientTimeoutMs(exchange) ?? requestTimeoutMs);
    const controller = new AbortController();
    const outer = exchange.signal;
    const forward = (): void => {
      controller.abort(outer.reason);
    };
    outer.addEventListener('abort', forward, { once: true });
    const timer = setTimeout(() => {
      controller.abort(timeout(`request did not complete within the allotted ${String(ms)} ms`, 1));
    }, ms).unref();
    exchange.signal = controller.signal;
    try {
      await next();
    } finally {
      if (exchange.answer === undefined || Buffer.isBuffer(exchange.answer.body)) {
        clearTimeout(timer);
        outer.removeEventListener('abort', forward);
      }
    }
  };
}

function clientTimeoutMs({ query }: Exchange): number | undefined {
  const text = query.get('timeout');
  if (text === null || text === '') return undefined;
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 0) throw badRequest(`invalid timeout: ${JSON.stringify(text)} is no duration`);
  return ms === 0 ? undefined : ms;
}
