import { setMaxListeners } from 'node:events';

export interface LinkedAbort {
  /** Aborts with the first parent that does and with its reason, and on its own by `abort`. */
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** Takes the listeners off the parents. To be called when the work is over. */
  readonly unlink: () => void;
}

/**
 * Creates an abort controller that follows other signals of any kind, a request's `LightSignal` included. Any number of waits may listen
 * without a leak warning.
 */
export function linkedAbort(...parents: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal, ...parents);
  const links = parents.map((parent) => {
    const onAbort = (): void => controller.abort(parent.reason);
    parent.addEventListener('abort', onAbort, { once: true });
    if (parent.aborted) onAbort();
    return () => parent.removeEventListener('abort', onAbort);
  });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const unlink of links) unlink();
    },
  };
}
