import { untilAborted } from '../../../shared/concurrency/abort';
import { BUFFER_BYTES_MAX } from './batch';
import type { Plugin } from './counts';
import type { AuditEvent, AuditVersion } from './event';
import type { LostEventCounter } from './lost-event-counter';
import { waitUntil } from './wait-until';
import type { Backend, Sink } from './sink';

export interface BlockingOptions {
  readonly sink: Sink;
  readonly plugin: Plugin;
  readonly loss: LostEventCounter;
  /** Whether a request fails if its event is not stored. */
  readonly strict: boolean;
  /** Whether the sink may outlast a request; then the bytes of pending events are bounded. */
  readonly isSlow: boolean;
  readonly version: AuditVersion;
}

/** A backend for the blocking modes: every request waits until its events are written. */
export class BlockingBackend implements Backend {
  readonly #options: BlockingOptions;
  readonly #shutdown = new AbortController();
  readonly #writes = new Set<Promise<boolean>>();
  /** The bytes of pending writes; 0 if the sink bounds them itself. */
  #bytes = 0;

  constructor(options: BlockingOptions) {
    this.#options = options;
  }

  async process(event: AuditEvent, signal: AbortSignal): Promise<boolean> {
    const { isSlow, version, plugin, loss, strict } = this.#options;
    const bytes = isSlow ? event.bytes(version) : 0;
    if (this.#bytes + bytes > BUFFER_BYTES_MAX) {
      loss.add(plugin, 1, new Error('too many audit events are being written'));
      return !strict;
    }
    const written = this.#write(event);
    this.#writes.add(written);
    this.#bytes += bytes;
    void written.then(() => {
      this.#bytes -= bytes;
      this.#writes.delete(written);
    });
    return isSlow ? untilAborted(written, signal) : written;
  }

  async close(signal: AbortSignal): Promise<void> {
    const { sink, plugin, loss } = this.#options;
    const giveUp = (): void => {
      this.#shutdown.abort(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    sink.hurry?.();
    do {
      await waitUntil(Promise.all(this.#writes), signal);
    } while (this.#writes.size > 0 && !signal.aborted);
    if (this.#writes.size > 0) loss.add(plugin, this.#writes.size, signal.reason);
    signal.removeEventListener('abort', giveUp);
    await waitUntil(sink.close(), signal);
  }

  /** Never rejects. */
  async #write(event: AuditEvent): Promise<boolean> {
    const { sink, plugin, loss, strict } = this.#options;
    try {
      await sink.write([event], this.#shutdown.signal);
      return true;
    } catch (error) {
      loss.add(plugin, 1, error);
      return !strict;
    }
  }
}
