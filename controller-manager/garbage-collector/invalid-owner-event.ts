import type { OwnerReference } from '../../shared/object/object';
import type { EventParts } from '../runtime/record-event';
import { recordWarning } from '../runtime/record-event';
import type { Located } from './references';

const REASON = 'OwnerRefInvalidNamespace';
export const COMPONENT = 'garbage-collector-controller';

/** Reports an owner in another namespace by an Event, once per pair while the Event is kept. Throws only for the signal. */
export async function reportInvalidOwner(
  parts: EventParts,
  dependent: Located,
  { apiVersion, kind, name: owner, uid: ownerUid }: OwnerReference,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dependent.object.metadata;
  const identity =
    [apiVersion, kind].join('/') + `, namespace: ${namespace}, name: ${owner}, uid: ${ownerUid}`;
  const message = `ownerRef [${identity}] does not exist in namespace ${JSON.stringify(namespace)}`;
  const event = { about: dependent, reason: REASON, message, component: COMPONENT, key: ownerUid };
  await recordWarning(parts, event, signal);
}
