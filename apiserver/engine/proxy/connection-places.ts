import { StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import { holderOf, isSystemUser } from '../request/holder';

/** The part of all places that one holder may take. */
const HOLDER_PART = 1 / 4;
/** The part of all places that only requests to extension API servers may take. */
const AGGREGATION_PART = 1 / 8;

type Placed = Pick<Exchange, 'user' | 'abort' | 'whenOver'>;

/**
 * The places for requests that this server proxies, each with a connection of its own. A holder has at most a quarter,
 * and an eighth is for extension API servers alone, so that no user of exec or proxy stops an API. When all are taken,
 * the newest request of the largest holder gives way to a holder below its fair share.
 */
export class ConnectionPlaces {
  readonly #max: number;
  /** The requests of each holder, oldest first. */
  readonly #holders = new Map<string, Set<Placed>>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place until the request is over. Returns false if there is none for its user. */
  take(exchange: Placed, purpose: 'proxy' | 'aggregation'): boolean {
    const max = purpose === 'aggregation' ? this.#max : Math.floor(this.#max * (1 - AGGREGATION_PART));
    const key = holderOf(exchange.user);
    const own = this.#holders.get(key)?.size ?? 0;
    const isSystem = isSystemUser(exchange.user);
    if (!isSystem && own >= this.#max * HOLDER_PART) return false;
    if (this.#taken >= max) {
      const fairShare = max / (this.#holders.size + (own === 0 ? 1 : 0));
      if ((!isSystem && own >= fairShare) || !this.#evict(key)) return false;
    }
    this.#add(key, exchange);
    exchange.whenOver(() => {
      this.#remove(key, exchange);
    });
    return true;
  }

  /** Ends the newest request of the largest other holder. Returns false if there is none. */
  #evict(newcomer: string): boolean {
    let largest: readonly [string, Set<Placed>] | undefined;
    for (const holder of this.#holders) {
      if (holder[0] !== newcomer && holder[1].size > (largest?.[1].size ?? 0)) largest = holder;
    }
    const evicted = largest === undefined ? undefined : [...largest[1]].at(-1);
    if (largest === undefined || evicted === undefined) return false;
    this.#remove(largest[0], evicted);
    evicted.abort(tooManyConnections());
    return true;
  }

  #add(key: string, exchange: Placed): void {
    const own = this.#holders.get(key) ?? new Set();
    this.#holders.set(key, own.add(exchange));
    this.#taken += 1;
  }

  #remove(key: string, exchange: Placed): void {
    const own = this.#holders.get(key);
    if (own?.delete(exchange) !== true) return;
    this.#taken -= 1;
    if (own.size === 0) this.#holders.delete(key);
  }
}

/** Creates the 429 for a request without a place. */
export function tooManyConnections(): StatusError {
  return new StatusError('TooManyRequests', 'too many proxied connections', {
    details: { retryAfterSeconds: 1 },
  });
}
