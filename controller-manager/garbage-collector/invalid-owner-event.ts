import type { OwnerReference } from '../../shared/object/object';
import type { EventParts } from '../runtime/record-event';
import { recordWarning } from '../runtime/record-event';
import type { Located } from './references';

const REASON = 'OwnerRefInvalidNamespace';
const COMPONENT = 'garbage-collector-controller';

/**
 * Tells by an Event that an owner cannot be one, because it is in a namespace that is not the dependent's. Told once per pair for as long
 * as the Event is kept. Never throws but for the signal.
 */
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
