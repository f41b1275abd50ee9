import { StatusError, badRequest } from '../../../../shared/errors/status-error';
import { copyEmptied } from '../../../../shared/schema/emptied';
import type { WriteAttempt } from '../write-attempt';
import { relyingOn } from '../write-attempt';
import { writeInfo } from '../write-context';
import { tracked } from '../field-tracking';
import { fromHub, toHub } from '../hub';

/**
 * Computes the object that the client wants: a body, or the result of a patch or an applied configuration.
 */
export function change(draft: WriteAttempt): void {
  const { asked, current } = draft;
  draft.live = current === undefined ? undefined : fromHub(asked.request.endpoint, current);
  const { context, request } = asked;
  const { timedDefaults } = request.endpoint.stored.strategy;
  const sent = asked.change(draft.live);
  draft.sent = timedDefaults?.(sent, writeInfo(context, request).nowMs) ?? sent;
  draft.object = draft.sent;
}

/** Updates managedFields. */
export function trackFields(draft: WriteAttempt): void {
  const { context, request, options } = draft.asked;
  if (options.isTracked === true) return;
  draft.object = tracked(context, request, { live: draft.live, next: draft.object });
}

/** Converts the object to the stored version. */
export function toStored(draft: WriteAttempt): void {
  draft.object = copyEmptied(draft.sent, toHub(draft.asked.request.endpoint, draft.object));
}

/**
 * Refuses a malformed resourceVersion of an update. Throws BadRequest for one that the client sends and that
 * would create the object, and an error with the code 500 for one that a webhook sets. Upstream responds with
 * 500 to both.
 */
export function refuseUnreadableVersion({ asked: { options }, operation, sent, object }: WriteAttempt): void {
  const { resourceVersion = '' } = object.metadata;
  const isCreation = operation === 'CREATE';
  if ((isCreation && options.creates === 'never') || resourceVersion === '' || isVersion(resourceVersion))
    return;
  const why = `the resourceVersion ${JSON.stringify(resourceVersion)} is no version`;
  if (resourceVersion !== sent.metadata.resourceVersion) throw new StatusError('', why, { code: 500 });
  // The version that a client sends is compared with that of the existing object.
  if (isCreation) throw badRequest(why);
}

/** Whether the text is an unsigned 64-bit number. */
export function isVersion(text: string): boolean {
  return /^\d{1,20}$/.test(text) && BigInt.asUintN(64, BigInt(text)) === BigInt(text);
}

/** The message of a conflict with a newer version of the object. */
export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

/**
 * Makes the write depend on a record of the kind: the definition of a custom resource. Throws to refuse the
 * write.
 */
export function relyOnDefinition(draft: WriteAttempt): void {
  const { context, request } = draft.asked;
  const base = request.endpoint.stored.strategy.reliesOn?.(draft.current === undefined ? 'CREATE' : 'UPDATE');
  if (base === undefined) return;
  relyingOn(draft)({ key: `${context.prefix}/${base.key}`, revision: base.revision });
}
