import { createHash } from 'node:crypto';

import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import type { GroupVersionResource, OwnerReference } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { formatTime } from '../../shared/meta/time';
import { GROUP, NAMESPACE } from '../../shared/names';
import type { Located } from './references';

const EVENTS: GroupVersionResource = { group: GROUP.core, version: 'v1', resource: 'events' };
const REASON = 'OwnerRefInvalidNamespace';
const COMPONENT = 'garbage-collector-controller';
const NAME_HASH_CHARS = 16;

export interface EventParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Tells by an Event that an owner cannot be one, because it is in a namespace that is not the dependent's. Told once per pair for as long
 * as the Event is kept. Never throws but for the signal: what is done with the dependent does not depend on it.
 */
export async function reportInvalidOwner(
  { client, clock, log }: EventParts,
  { resource, object }: Located,
  { apiVersion, kind, name: owner, uid: ownerUid }: OwnerReference,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const time = formatTime(clock.now());
  const identity =
    [apiVersion, kind].join('/') + `, namespace: ${namespace}, name: ${owner}, uid: ${ownerUid}`;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      // Names of objects may have characters that those of events may not.
      name: `${resource.resource}.${hashOf(uid, ownerUid)}`,
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
    reason: REASON,
    message: `ownerRef [${identity}] does not exist in namespace ${JSON.stringify(namespace)}`,
    source: { component: COMPONENT },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.create(EVENTS, event, { signal });
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
