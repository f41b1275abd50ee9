import { setMaxListeners } from 'node:events';

export interface LinkedAbort {
  /** Aborts with the parent, and on its own by `abort`. */
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** Takes the listener off the parent. To be called when the work is over. */
  readonly unlink: () => void;
}

/** An abort of one's own below another's. Any number of waits may hang on its signal without Node taking that for a leak. */
export function linkedAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const onAbort = (): void => controller.abort(parent.reason);
  parent.addEventListener('abort', onAbort, { once: true });
  if (parent.aborted) onAbort();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent.removeEventListener('abort', onAbort),
  };
}
