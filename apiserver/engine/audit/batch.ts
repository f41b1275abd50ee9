import type { Clock } from '../../../shared/concurrency/clock';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import { TIMER_MAX_MS } from '../../../shared/concurrency/timer-max';
import type { Plugin } from './counts';
import type { AuditEvent, AuditVersion } from './event';
import type { LostEventCounter } from './lost-event-counter';
import { waitUntil } from './wait-until';
import type { Backend, Sink } from './sink';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';

export interface BatchOptions {
  /** The maximum of waiting events; more are dropped and counted. */
  readonly bufferEventsMax: number;
  readonly batchEventsMax: number;
  /** How long an event waits for a batch to fill, in milliseconds. */
  readonly batchWaitMs: number;
  /** The rate limit of batches; undefined: none. */
  readonly throttle: Rate | undefined;
  /** The clock of the throttle; the monotonic clock if absent. */
  readonly clock?: Clock;
}

export interface BatchParts extends BatchOptions {
  readonly sink: Sink;
  readonly plugin: Plugin;
  readonly loss: LostEventCounter;
  readonly version: AuditVersion;
  readonly batchBytesMax: number;
  readonly sendsAtOnceMax: number;
  /** A batch takes at least this number of waiting events, if there are as many. */
  readonly takeEventsMin: number;
}

/** The maximum memory of waiting events. */
export const BUFFER_BYTES_MAX = 64 * 1024 * 1024;

/** A backend for the batch mode: requests do not wait, events are buffered and written in batches. */
export class BatchBackend implements Backend {
  readonly #parts: BatchParts;
  readonly #shutdown = new AbortController();
  readonly #bucket: TokenBucket | undefined;
  /** Pending sends with their numbers of events. */
  readonly #sends = new Map<Promise<void>, number>();
  #waiting: AuditEvent[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the oldest waiting event must be sent, by the monotonic clock in milliseconds. */
  #dueAt = 0;
  #isClosing = false;
  #isClosed = false;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#bucket =
      parts.throttle === undefined
        ? undefined
        : new TokenBucket(parts.throttle, parts.clock ?? monotonicClock);
  }

  process(event: AuditEvent): true {
    const { bufferEventsMax, batchEventsMax, batchWaitMs, loss, version } = this.#parts;
    const bytes = event.bytes(version);
    const isFull = this.#waiting.length >= bufferEventsMax || this.#waitingBytes + bytes > BUFFER_BYTES_MAX;
    if (this.#isClosed || isFull) {
      loss.add('buffered', 1, new Error(isFull ? 'the buffer of audit events is full' : 'the server stops'));
      return true;
    }
    if (this.#waiting.length === 0) this.#dueAt = monotonicClock.now() + batchWaitMs;
    this.#waiting.push(event);
    this.#waitingBytes += bytes;
    // Otherwise the timer is already set.
    if (this.#waiting.length === 1 || this.#waiting.length >= batchEventsMax) this.#pump();
    return true;
  }

  async close(signal: AbortSignal): Promise<void> {
    const { loss, plugin, sink } = this.#parts;
    const { signal: shutdownSignal } = this.#shutdown;
    const gaveUp = new Promise<void>((resolve) => {
      shutdownSignal.addEventListener('abort', () => {
        resolve();
      });
    });
    const giveUp = (): void => {
      this.#shutdown.abort(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    this.#isClosing = true;
    sink.hurry?.();
    this.#pump();
    while (this.#sends.size > 0 && !shutdownSignal.aborted)
      await Promise.race([gaveUp, ...this.#sends.keys()]);
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) loss.add(plugin, this.#waiting.length, signal.reason);
    this.#waiting = [];
    await waitUntil(Promise.all(this.#sends.keys()), signal);
    for (const events of this.#sends.values()) loss.add(plugin, events, signal.reason);
    this.#sends.clear();
    signal.removeEventListener('abort', giveUp);
    await waitUntil(sink.close(), signal);
  }

  /** Sends due batches and sets the timer for the next one. */
  #pump(): void {
    const { batchEventsMax, sendsAtOnceMax } = this.#parts;
    clearTimeout(this.#timer);
    while (this.#waiting.length > 0 && this.#sends.size < sendsAtOnceMax) {
      if (this.#shutdown.signal.aborted) return;
      const isDue = this.#waiting.length >= batchEventsMax || this.#isClosing;
      const untilDueMs = isDue ? 0 : this.#dueAt - monotonicClock.now();
      // On shutdown, send everything at once: the deadline is short and the buffer bounded.
      const waitMs = untilDueMs > 0 ? untilDueMs : this.#isClosing ? 0 : (this.#bucket?.take() ?? 0);
      if (waitMs > 0) {
        this.#timer = setTimeout(
          () => {
            this.#pump();
          },
          Math.min(Math.ceil(waitMs), TIMER_MAX_MS),
        ).unref();
        return;
      }
      this.#send(this.#takeBatch());
    }
  }

  #takeBatch(): readonly AuditEvent[] {
    const { batchEventsMax, takeEventsMin, batchBytesMax, batchWaitMs, version } = this.#parts;
    const countMax = Math.max(batchEventsMax, takeEventsMin);
    let bytes = 0;
    let count = 0;
    for (const event of this.#waiting) {
      const size = event.bytes(version);
      if (count >= countMax || (count > 0 && bytes + size > batchBytesMax)) break;
      bytes += size;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    this.#dueAt = monotonicClock.now() + batchWaitMs;
    return this.#waiting.splice(0, count);
  }

  #send(events: readonly AuditEvent[]): void {
    const { sink, plugin, loss } = this.#parts;
    const sent = sink
      .write(events, this.#shutdown.signal)
      .catch((error: unknown) => {
        // Events abandoned at shutdown are counted already.
        if (this.#sends.has(sent)) loss.add(plugin, events.length, error);
      })
      .finally(() => {
        this.#sends.delete(sent);
        this.#pump();
      });
    this.#sends.set(sent, events.length);
  }
}
