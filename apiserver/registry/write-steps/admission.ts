import type { Draft } from '../draft';
import { attributesOf } from '../draft';

/** What plugins and webhooks make of the object. */
export async function mutate(draft: Draft, signal: AbortSignal): Promise<void> {
  const { context, view } = draft.asked;
  const mutated = await context.admission.mutate(attributesOf(draft), signal);
  if (mutated === undefined) return;
  draft.object = view === undefined ? mutated : view.merge(mutated, draft.object);
}

/** Nobody gives anybody rights that they do not have themselves. */
export function refuseEscalation(draft: Draft, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.refuseEscalation(attributesOf(draft), signal);
}

/** Whoever makes an object by a change of what is not there must be allowed to create. */
export function requireCreate(draft: Draft, signal: AbortSignal): Promise<void> | void {
  return draft.asked.context.requireCreate(attributesOf(draft), signal);
}

/** What plugins, webhooks and quotas say of the object as it will be stored. */
export async function judge(draft: Draft, signal: AbortSignal): Promise<void> {
  await draft.asked.context.admission.validate(attributesOf(draft), signal);
}
