import { RESOURCE } from '../../shared/api/resource-names';
import { createHash } from 'node:crypto';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { ApiObject, GroupVersionResource } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { formatTime } from '../../shared/meta/time';
import { NAMESPACE } from '../../shared/names';
const NAME_HASH_CHARS = 16;

export interface EventParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WarningEvent {
  readonly about: {
    readonly resource: GroupVersionResource & { readonly kind: string };
    readonly object: ApiObject;
  };
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  /** Identifies equal events together with the object's uid. */
  readonly key: string;
}

/** Reports a warning by an Event, once per object and key while the Event is kept. Throws only for the signal. */
export async function recordWarning(
  { client, clock, log }: EventParts,
  { about: { resource, object }, reason, message, component, key }: WarningEvent,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const time = formatTime(clock.now());
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      // Names of objects may have characters that names of events may not.
      name: `${resource.resource}.${hashOf(uid, key)}`,
      namespace: namespace === '' ? NAMESPACE.default : namespace,
    },
    involvedObject: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      ...(namespace === '' ? {} : { namespace }),
      name,
      uid,
    },
    type: 'Warning',
    reason,
    message,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.create(RESOURCE.events, event, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 409)) return;
    log.debug(
      { namespace, object: name, error: error instanceof Error ? error.message : String(error) },
      'failed to record an event',
    );
  }
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('/')).digest('hex').slice(0, NAME_HASH_CHARS);
}
