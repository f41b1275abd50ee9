import type { WriteAttempt } from '../write-attempt';

/** Reserves what the object needs beyond its own key, and fills it in: addresses and ports of a Service. */
export function reserve(draft: WriteAttempt, signal: AbortSignal): Promise<void> | void {
  const { name, asked } = draft;
  const { context, request } = asked;
  const { reserves } = request.endpoint.stored.strategy;
  const reserver = reserves === undefined ? undefined : context.reservers?.get(reserves);
  if (reserver === undefined || draft.outcome === 'none') return undefined;
  const { namespace, dryRun } = request;
  const next = draft.outcome === 'delete' ? undefined : draft.object;
  const reserving = reserver({ next, previous: draft.current, namespace, name, dryRun }, signal);
  return reserving.then((reservation) => {
    draft.reservation = reservation;
    draft.object = reservation.object ?? draft.object;
  });
}
