import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import type { Log } from '../../../shared/log/log';

/** The demand of all replicas together by limit, and the number of replicas. */
export interface Demands {
  readonly replicas: number;
  readonly byName: ReadonlyMap<string, number>;
}

/** A shared store in which replicas publish their demands. */
export interface DemandBoard {
  /** Publishes the demand of this replica for a few seconds and returns the sum of all live ones. Rejects when it takes too long. */
  exchange(own: ReadonlyMap<string, number>): Promise<Demands>;
  close(): void;
}

/** The interval at which replicas publish their demands. */
export const SHARE_EVERY_MS = 1_000;
/** The part that is divided evenly, so that an idle replica can serve new requests at once. */
const EVEN_PART = 0.25;

/** Returns the part of a limit for one replica; the parts of all replicas add up to one. */
export function partOf(own: number, all: number, replicas: number): number {
  const asked = Math.max(all, own);
  return EVEN_PART / replicas + ((1 - EVEN_PART) * (own + 1)) / (asked + replicas);
}

export interface SharedLimitsParts {
  readonly limits: readonly SharedLimit[];
  readonly board: DemandBoard;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/**
 * Divides rate and concurrency limits among replicas by demand, so that all of them together allow what one would. Requests never wait for the
 * shared store; while it does not answer, the last division stays in force.
 */
export class SharedLimits {
  readonly #parts: SharedLimitsParts;
  #isAsking = false;
  #hasFailed = false;

  constructor(parts: SharedLimitsParts) {
    this.#parts = parts;
  }

  /** Runs a round every second until the signal aborts. */
  run(signal: AbortSignal): void {
    const timer = setInterval(() => {
      void this.round();
    }, SHARE_EVERY_MS).unref();
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(timer);
        this.#parts.board.close();
      },
      { once: true },
    );
  }

  /** Runs one round; skipped while another is in progress. Never rejects. */
  async round(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { limits, board, log } = this.#parts;
    try {
      const own = new Map(limits.flatMap((limit) => [...limit.takeDemands()]));
      const { byName, replicas } = await board.exchange(own);
      const parts = new Map(
        [...own].map(([name, demand]) => [name, partOf(demand, byName.get(name) ?? 0, replicas)]),
      );
      for (const limit of limits) limit.divide(parts, 1 / replicas);
      if (this.#hasFailed) log.info({ replicas }, 'limits are shared with other replicas again');
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) {
        log.warn(
          { error: String(error) },
          'limits stay divided among replicas as they are: the shared store does not answer',
        );
      }
      this.#hasFailed = true;
    } finally {
      this.#isAsking = false;
    }
  }
}
