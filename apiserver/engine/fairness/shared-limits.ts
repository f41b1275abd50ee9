import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import type { Log } from '../../../shared/log/log';

/** What all replicas together could use, by the name of the limit, and how many replicas there are. */
export interface Demands {
  readonly replicas: number;
  readonly byName: ReadonlyMap<string, number>;
}

/** Where replicas tell each other what they could use. */
export interface DemandBoard {
  /** Tells the demand of this replica, for a few seconds, and returns those of all live ones. Rejects when it takes too long. */
  exchange(own: ReadonlyMap<string, number>): Promise<Demands>;
  close(): void;
}

/** How often replicas tell each other. */
export const SHARE_EVERY_MS = 1_000;
/** What is divided evenly, so that a replica that had nothing to do is not closed to those who come to it next. */
const EVEN_PART = 0.25;

/** The part of a limit that a replica may give. The parts of all replicas make one. */
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
 * Divides limits among the replicas by what each sees, so that all of them together give what one would. Nothing waits for the
 * board: while it does not answer, the division stays as it was last.
 */
export class SharedLimits {
  readonly #parts: SharedLimitsParts;
  #isAsking = false;
  #hasFailed = false;

  constructor(parts: SharedLimitsParts) {
    this.#parts = parts;
  }

  /** A round every second until the signal aborts. */
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

  /** Never rejects, and does nothing while the last one is not over. */
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
