import { setMaxListeners } from 'node:events';
import { TIMER_MAX_MS } from './timer-max';

/**
 * What the work comes to under a signal that aborts with the parent, or with a TimeoutError after `ms`, almost 25 days at most. The work has
 * to heed the signal. Nothing of the limit is left once the work has settled: kept until its time, the limits of a few hundred requests per
 * second are tens of megabytes. The timer does not keep the process alive. Not by `AbortSignal.any` over `AbortSignal.timeout`: in Node 20
 * that one holds its sources weakly, so that a collection of garbage takes the timeout away and the wait has no end.
 */
export async function withTimeLimit<T>(
  parent: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  // Any number of waits may hang on either.
  setMaxListeners(0, parent, controller.signal);
  const onAbort = (): void => {
    clearTimeout(timer);
    controller.abort(parent.reason);
  };
  const timer = setTimeout(
    () => {
      controller.abort(
        new DOMException(`there was no end within ${String(Math.round(ms))} ms`, 'TimeoutError'),
      );
    },
    Math.min(ms, TIMER_MAX_MS),
  ).unref();
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', onAbort);
  }
}
