import { LRUCache } from 'lru-cache';
import { RESOURCE } from '../../shared/api/resource-names';
import { TokenBucket } from '../../shared/concurrency/token-bucket';
import { untilAborted } from '../../shared/concurrency/abort';
import { hasCode } from '../../shared/client/status';
import { formatTime } from '../../shared/meta/time';
import { MEDIA_TYPE } from '../../shared/names';
import type { EventContent, EventParts, EventSubject } from './record-event';
import { toEvent } from './record-event';

/** Events that wait to be sent; when there are more, the oldest is dropped, as they are no more than a help for people. */
const WAITING_MAX = 1_000;
/** Events whose count is known. */
const COUNTED_MAX = 4_096;
const CALL_TIMEOUT_MS = 10_000;
/** Events of one object: this many at once, and then one in five minutes, as client-go's filter of floods. */
const OBJECT_RATE = { burst: 25, perSecond: 1 / 300 };
/** From so many messages of one reason on, within so long a time, they are combined, as by client-go's aggregator. */
const SIMILAR_MAX = 10;
const SIMILAR_WINDOW_MS = 600_000;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

/** Reports an Event about an object of a workload. */
export type ReportEvent = (
  about: EventSubject,
  event: Required<Pick<EventContent, 'type' | 'reason' | 'message'>>,
) => void;

/** Reports Events without making its caller wait: an equal one counts up the Event that is there, as upstream's recorder does. */
export class EventRecorder {
  readonly #parts: EventParts;
  readonly #waiting: EventContent[] = [];
  /** By namespace and name of the Event. */
  readonly #counts = new LRUCache<string, number>({ max: COUNTED_MAX });
  /** By the uid of the object. */
  readonly #rates = new LRUCache<string, TokenBucket>({ max: COUNTED_MAX });
  /** By object, type and reason. */
  readonly #similar = new LRUCache<string, Similar>({ max: COUNTED_MAX });
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

  /** Returns a function that reports as this component; Events with equal reason and message are counted as one. */
  reporterFor(component: string): ReportEvent {
    return (about, event) =>
      this.report({ ...event, about, component, key: `${event.reason}/${event.message}` });
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
    if (this.#isFlood(content)) return;
    const event = toEvent(this.#combine(content), clock.now());
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

  #isFlood({ about }: EventContent): boolean {
    const { uid = '' } = about.object.metadata;
    const bucket = this.#rates.get(uid) ?? new TokenBucket(OBJECT_RATE, this.#parts.clock);
    this.#rates.set(uid, bucket);
    return bucket.take() > 0;
  }

  #combine(content: EventContent): EventContent {
    const { about, reason, message, type = 'Warning' } = content;
    const key = [about.object.metadata.uid, type, reason].join('/');
    const now = this.#parts.clock.now();
    const known = this.#similar.get(key);
    const isRecent = known !== undefined && now - known.lastMs <= SIMILAR_WINDOW_MS;
    const similar = isRecent ? known : { messages: new Set<string>(), lastMs: now };
    similar.lastMs = now;
    this.#similar.set(key, similar);
    if (similar.messages.size < SIMILAR_MAX) similar.messages.add(message);
    if (similar.messages.has(message)) return content;
    return { ...content, key: `${reason}/combined`, message: `(combined from similar events): ${message}` };
  }
}
