import type { StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from './exchange';
import { isLongRunning } from './long-running';

/**
 * A condition on which a request was allowed and which may change while it is open: the identity of its user, or a
 * permission.
 */
export interface AccessCondition {
  /** Conditions with the same key are evaluated once for all open watches. */
  readonly key: unknown;
  /** `identity` changes with a credential, `access` with a change of permissions. */
  readonly of: 'identity' | 'access';
  /**
   * Returns the error that the request would get now; undefined while the condition holds. Rejects if that is
   * unknown: the watch then continues.
   */
  refusal(signal: AbortSignal): Promise<StatusError | undefined>;
}

/** Adds a condition to a request that stays open. All other requests end before a condition is evaluated again. */
export function addAccessCondition(exchange: Exchange, create: () => AccessCondition | undefined): void {
  if (!isLongRunning(exchange.info)) return;
  const condition = create();
  if (condition !== undefined) exchange.grounds = [...(exchange.grounds ?? []), condition];
}
