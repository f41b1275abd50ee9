import { setMaxListeners } from 'node:events';
import { TIMER_MAX_MS } from './timer-max';

/**
 * Runs the work under a signal that aborts with the parent, or with a TimeoutError after `ms` (at most almost 25 days). The work must
 * obey the signal. The limit is removed once the work settles, and its timer does not keep the process alive. Not built on
 * `AbortSignal.any` and `AbortSignal.timeout`: Node 20 holds the sources weakly, so garbage collection could remove the timeout.
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
