import { LRUCache } from 'lru-cache';
import { RESOURCE } from '../../shared/api/resource-names';
import { untilAborted } from '../../shared/concurrency/abort';
import { hasCode } from '../../shared/client/status';
import { formatTime } from '../../shared/meta/time';
import { MEDIA_TYPE } from '../../shared/names';
import type { EventContent, EventParts } from './record-event';
import { toEvent } from './record-event';

/** Events that wait to be sent; when there are more, the oldest is dropped, as they are no more than a help for people. */
const WAITING_MAX = 1_000;
/** Events whose count is known. */
const COUNTED_MAX = 4_096;
const CALL_TIMEOUT_MS = 10_000;

/** Reports Events without making its caller wait: an equal one counts up the Event that is there, as upstream's recorder does. */
export class EventRecorder {
  readonly #parts: EventParts;
  readonly #waiting: EventContent[] = [];
  /** By namespace and name of the Event. */
  readonly #counts = new LRUCache<string, number>({ max: COUNTED_MAX });
  #wake: (() => void) | undefined;

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  /** Queues an Event. */
  report(content: EventContent): void {
    if (this.#waiting.length >= WAITING_MAX) this.#waiting.shift();
    this.#waiting.push(content);
    this.#wake?.();
  }

  /** Sends Events until the signal aborts. Failures are logged only. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      try {
        if (next !== undefined) await this.#send(next, signal);
        else
          await untilAborted(
            new Promise<void>((resolve) => {
              this.#wake = resolve;
            }),
            signal,
          );
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.log.debug({ error: String(error), reason: next?.reason }, 'failed to record an event');
      }
    }
  }

  async #send(content: EventContent, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#parts;
    const event = toEvent(content, clock.now());
    const { namespace, name = '' } = event.metadata;
    const key = `${namespace ?? ''}/${name}`;
    const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > 1) {
      try {
        const body = { count, lastTimestamp: formatTime(clock.now()) };
        await client.patch(
          RESOURCE.events,
          { namespace, name },
          { contentType: MEDIA_TYPE.mergePatch, body },
          call,
        );
        this.#counts.set(key, count);
        return;
      } catch (error) {
        // It has expired.
        if (!hasCode(error, 404)) throw error;
      }
    }
    try {
      await client.create(RESOURCE.events, event, call);
    } catch (error) {
      // An earlier process has recorded it.
      if (!hasCode(error, 409)) throw error;
    }
    this.#counts.set(key, 1);
  }
}
