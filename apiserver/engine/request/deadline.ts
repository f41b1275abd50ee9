import { TIMER_MAX_MS } from '../../../shared/concurrency/timer-max';
import { durationProblem } from '../../../shared/errors/duration-problem';
import { badRequest, timeout } from '../../../shared/errors/status-error';
import { parseDurationMs } from '../../../shared/flags/duration';
import type { Exchange, Stage } from './exchange';
import { isLongRunning } from './long-running';

/**
 * Creates the stage that sets a deadline for every request that is not long-running: the limit of the server in
 * milliseconds, or the `timeout` parameter of the client (a Go duration) if it is shorter. At the deadline the
 * exchange is aborted with Timeout (504), and so is a streamed answer that is still being read.
 */
export function createDeadlineStage(requestTimeoutMs: number): Stage {
  return async (exchange, next) => {
    if (isLongRunning(exchange.info)) {
      await next();
      return;
    }
    const ms = Math.min(requestTimeoutMs, clientTimeoutMs(exchange) ?? requestTimeoutMs);
    const timer = setTimeout(
      () => {
        exchange.abort(timeout(`request did not complete within the allotted ${String(ms)} ms`, 1));
      },
      Math.min(ms, TIMER_MAX_MS),
    ).unref();
    const end = (): void => {
      clearTimeout(timer);
    };
    try {
      await next();
    } catch (error) {
      end();
      throw error;
    }
    const { answer } = exchange;
    if (answer === undefined || Buffer.isBuffer(answer.body)) end();
    else exchange.whenOver(end);
  };
}

function clientTimeoutMs({ query }: Exchange): number | undefined {
  const text = query.get('timeout');
  if (text === null || text === '') return undefined;
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    throw badRequest(`invalid timeout specified in the request URL - ${durationProblem(text)}`);
  }
  return ms > 0 ? ms : undefined;
}
