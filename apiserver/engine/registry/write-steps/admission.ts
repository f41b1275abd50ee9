import type { ApiObject } from '../../../../shared/object/object';
import type { WriteAttempt } from '../write-attempt';
import { attributesOf } from '../write-attempt';

/** What plugins and webhooks make of the object. */
export function mutate(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  const mutated = draft.asked.context.admission.mutate(attributesOf(draft), signal);
  if (!(mutated instanceof Promise)) {
    take(draft, mutated);
    return;
  }
  return mutated.then((object) => {
    take(draft, object);
  });
}

function take(draft: WriteAttempt, mutated: ApiObject | undefined): void {
  if (mutated === undefined) return;
  const { view } = draft.asked;
  draft.object = view === undefined ? mutated : view.merge(mutated, draft.object);
}

/** Nobody gives anybody rights that they do not have themselves. */
export function refuseEscalation(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.refuseEscalation(attributesOf(draft), signal);
}

/** Whoever makes an object by a change of what is not there must be allowed to create. */
export function requireCreate(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.requireCreate(attributesOf(draft), signal);
}

/** What plugins, webhooks and quotas say of the object as it will be stored. */
export function judge(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.admission.validate(attributesOf(draft), signal);
}
