import { createHash } from 'node:crypto';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { Event } from '../../shared/api/types/core-v1';
import type { GroupVersionResource, ObjectMeta, Sent } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { formatTime } from '../../shared/meta/time';
import { NAMESPACE } from '../../shared/names';
const NAME_HASH_CHARS = 16;
/** As upstream, the name of an event begins with that of its object. Names of objects may have characters that names of events may not. */
const EVENT_NAME_START = /^[a-z0-9](?:[a-z0-9.-]{0,230}[a-z0-9])?$/u;

export interface EventParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

/** The object that an Event is about. */
export interface EventSubject {
  readonly resource: GroupVersionResource & { readonly kind: string };
  readonly object: { readonly metadata: ObjectMeta };
}

/** The content of an Event. */
export interface EventContent {
  readonly about: EventSubject;
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  /** Identifies equal events together with the object's uid. */
  readonly key: string;
  /** `Warning` if not given. */
  readonly type?: 'Normal' | 'Warning';
}

/** Returns the Event, which equal content gives the same name. `nowMs` is the time since 1970 in milliseconds. */
export function toEvent(
  { about: { resource, object }, reason, message, component, key, type = 'Warning' }: EventContent,
  nowMs: number,
): Sent<Event> {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const time = formatTime(nowMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${EVENT_NAME_START.test(name) ? name : resource.resource}.${hashOf(uid, key)}`,
      namespace: namespace === '' ? NAMESPACE.default : namespace,
    },
    involvedObject: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      ...(namespace === '' ? {} : { namespace }),
      name,
      uid,
    },
    type,
    reason,
    message,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/** Reports a warning by an Event, once per object and key while the Event is kept. Throws only for the signal. */
export async function recordWarning(
  { client, clock, log }: EventParts,
  content: Omit<EventContent, 'type'>,
  signal: AbortSignal,
): Promise<void> {
  const event = toEvent(content, clock.now());
  try {
    await client.create(RESOURCE.events, event, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 409)) return;
    log.debug(
      {
        namespace: event.metadata.namespace,
        object: content.about.object.metadata.name,
        error: error instanceof Error ? error.message : String(error),
      },
      'failed to record an event',
    );
  }
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('/')).digest('hex').slice(0, NAME_HASH_CHARS);
}
