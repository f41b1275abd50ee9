import type { AuditEvent } from './event';

/** A place where events are written down for good. */
export interface Sink {
  /** Resolves when the events are there. Rejects when some or all are not; `signal` gives up what is still being tried. */
  write(events: readonly AuditEvent[], signal: AbortSignal): Promise<void>;
  /** The end is near: whoever waits for a better moment tries again now. */
  hurry?(): void;
  /** Nothing is written any more. */
  close(): Promise<void>;
}

/**
 * Takes events from the requests. False tells that the event is not stored and the request must not go on without; a promise asks the
 * request to wait, and rejects once the request's signal aborts if it would take longer.
 */
export interface Backend {
  process(event: AuditEvent, signal: AbortSignal): boolean | Promise<boolean>;
  /** Brings what is under way to its end, or gives it up when the signal aborts. Never rejects. */
  close(signal: AbortSignal): Promise<void>;
}

/** All of them; every one gets every event. */
export function union(backends: readonly Backend[]): Backend {
  const [first, ...others] = backends;
  if (first !== undefined && others.length === 0) return first;
  return {
    process: (event, signal) => {
      const results = backends.map((backend) => backend.process(event, signal));
      if (results.every((result) => typeof result === 'boolean')) return results.every(Boolean);
      return Promise.all(results.map(async (result) => result)).then((settled) => settled.every(Boolean));
    },
    close: async (signal) => {
      await Promise.all(backends.map(async (backend) => backend.close(signal)));
    },
  };
}
