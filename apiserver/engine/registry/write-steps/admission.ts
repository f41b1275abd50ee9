import type { ApiObject } from '../../../../shared/object/object';
import type { WriteAttempt } from '../write-attempt';
import { attributesOf } from '../write-attempt';

/** Runs mutating plugins and webhooks. */
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

/** Refuses privilege escalation: a write must not grant rights that its user does not have. */
export function refuseEscalation(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.refuseEscalation(attributesOf(draft), signal);
}

/** An update that creates a missing object requires the right to create. */
export function requireCreate(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.requireCreate(attributesOf(draft), signal);
}

/** Runs validating plugins, webhooks and quotas on the object as it will be stored. */
export function validateAdmission(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.admission.validate(attributesOf(draft), signal);
}
