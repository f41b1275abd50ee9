import type { OpenWatches } from '../authz/open-watches';
import type { Answer, Exchange } from '../request/exchange';

/** Closes a streamed or upgraded answer when access is revoked, as a watch is closed. */
export function closeWhenAccessRevoked(
  { openWatches }: { readonly openWatches: Pick<OpenWatches, 'hold'> },
  exchange: Exchange,
  answer: Answer,
): void {
  if (answer.tunnel === undefined && Buffer.isBuffer(answer.body)) return;
  const release = openWatches.hold(exchange.grounds ?? [], (refusal) => exchange.abort(refusal));
  exchange.whenOver(release);
}
