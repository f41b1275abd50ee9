import type { AuditEvent } from './event';

/** A destination for events. */
export interface Sink {
  /** Resolves when all events are written, and rejects otherwise. `signal` aborts retries. */
  write(events: readonly AuditEvent[], signal: AbortSignal): Promise<void>;
  /** Shutdown has begun: pending retries run now. */
  hurry?(): void;
  /** Closes the sink; there are no further writes. */
  close(): Promise<void>;
}

/**
 * Receives events from requests. A result of false means that the event is not stored and the request must fail. The request waits for a promise,
 * which rejects when the request's signal aborts.
 */
export interface Backend {
  process(event: AuditEvent, signal: AbortSignal): boolean | Promise<boolean>;
  /** Drains pending events, or abandons them when the signal aborts. Never rejects. */
  close(signal: AbortSignal): Promise<void>;
}

/** Combines backends; each receives every event. */
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
