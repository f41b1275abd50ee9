import { setMaxListeners } from 'node:events';
import { TIMER_MAX_MS } from './timer-max';

/**
 * A signal that aborts with the parent, or with a TimeoutError after `ms`, almost 25 days at most. The timer does not keep the process alive. Not by
 * `AbortSignal.any` over `AbortSignal.timeout`: in Node 20 that one holds its sources weakly, so that a collection of garbage takes the
 * timeout away and the wait has no end.
 */
export function timeLimited(parent: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  // Any number of waits may hang on either.
  setMaxListeners(0, parent, controller.signal);
  const onAbort = (): void => {
    clearTimeout(timer);
    controller.abort(parent.reason);
  };
  const timer = setTimeout(
    () => {
      parent.removeEventListener('abort', onAbort);
      controller.abort(
        new DOMException(`there was no end within ${String(Math.round(ms))} ms`, 'TimeoutError'),
      );
    },
    Math.min(ms, TIMER_MAX_MS),
  ).unref();
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return controller.signal;
}
