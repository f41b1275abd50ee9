import { badRequest } from '../../../../shared/errors/status-error';
import { copyEmptied } from '../../../../shared/schema/emptied';
import type { WriteAttempt } from '../write-attempt';
import { relyingOn } from '../write-attempt';
import { tracked } from '../field-tracking';
import { fromHub, toHub } from '../hub';

/** What the client wants of the object as it stands: a body, or what a patch or a configuration makes of it. */
export function change(draft: WriteAttempt): void {
  const { asked, current } = draft;
  draft.live = current === undefined ? undefined : fromHub(asked.request.endpoint, current);
  draft.sent = asked.change(draft.live);
  draft.object = draft.sent;
}

/** managedFields as they are after the write. */
export function trackFields(draft: WriteAttempt): void {
  const { context, request, options } = draft.asked;
  if (options.isTracked === true) return;
  draft.object = tracked(context, request, { live: draft.live, next: draft.object });
}

/** The version that is kept. */
export function toStored(draft: WriteAttempt): void {
  draft.object = copyEmptied(draft.sent, toHub(draft.asked.request.endpoint, draft.object));
}

/**
 * Throws BadRequest for an update that would create and whose version is none: upstream reads it before it looks at the object, and answers
 * 500.
 */
export function refuseUnreadableVersion({ asked: { options }, object }: WriteAttempt): void {
  const { resourceVersion = '' } = object.metadata;
  if (options.creates === 'never' || resourceVersion === '' || isVersion(resourceVersion)) return;
  throw badRequest(`the resourceVersion ${JSON.stringify(resourceVersion)} is no version`);
}

/** A number of 64 bits. */
export function isVersion(text: string): boolean {
  return /^\d{1,20}$/.test(text) && BigInt.asUintN(64, BigInt(text)) === BigInt(text);
}

/** What is told of an object that is another than its client has seen. */
export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** What the object is judged by must stand when it is stored: the definition of a custom resource. Throws when there is to be no such write. */
export function relyOnDefinition(draft: WriteAttempt): void {
  const { context, request } = draft.asked;
  const base = request.endpoint.stored.strategy.reliesOn?.(draft.current === undefined ? 'CREATE' : 'UPDATE');
  if (base === undefined) return;
  relyingOn(draft)({ key: `${context.prefix}/${base.key}`, revision: base.revision });
}
