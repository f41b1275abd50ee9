import { setMaxListeners } from 'node:events';

export interface LinkedAbort {
  /** Aborts with the first parent that does and with its reason, and on its own by `abort`. */
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** Takes the listeners off the parents. To be called when the work is over. */
  readonly unlink: () => void;
}

/**
 * An abort of one's own below others', of whatever kind their signals are: that of a request (`LightSignal`) among them, which
 * `AbortSignal.any` cannot take. Any number of waits may hang on each without Node taking that for a leak.
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
