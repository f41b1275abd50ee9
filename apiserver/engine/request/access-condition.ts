import type { StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from './exchange';
import { isLongRunning } from './long-running';

/** What a request was let in on, and may lose while it is open: who its user is, or that the user may do something. */
export interface AccessCondition {
  /** Grounds with the same key are one: it is looked at once for all open watches that stand on it. */
  readonly key: unknown;
  /** Whether it ends with a credential, or with a change of who may do what. */
  readonly of: 'identity' | 'access';
  /** What a request would be answered with by now; undefined while the ground holds. Rejects where nobody can tell: that ends nothing. */
  refusal(signal: AbortSignal): Promise<StatusError | undefined>;
}

/** Notes a ground of a request that stays open; all other requests are over before anybody would look again. */
export function addAccessCondition(exchange: Exchange, ground: () => AccessCondition | undefined): void {
  if (!isLongRunning(exchange.info)) return;
  const made = ground();
  if (made !== undefined) exchange.grounds = [...(exchange.grounds ?? []), made];
}
