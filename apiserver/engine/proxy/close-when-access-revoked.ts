import type { OpenWatches } from '../authz/open-watches';
import type { Answer, Exchange } from '../request/exchange';

/** An answer of another server that goes on ends, as a watch does, once its next request would be refused. */
export function closeWhenAccessRevoked(
  { openWatches }: { readonly openWatches: Pick<OpenWatches, 'hold'> },
  exchange: Exchange,
  answer: Answer,
): void {
  if (answer.tunnel === undefined && Buffer.isBuffer(answer.body)) return;
  const release = openWatches.hold(exchange.grounds ?? [], (refusal) => exchange.abort(refusal));
  exchange.whenOver(release);
}
