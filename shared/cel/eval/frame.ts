import type { Result } from './values';

/** Work between two calls of a pause hook, in cost units; 1,000 units take far less than a millisecond. */
const CHECK_INTERVAL = 1000;

/** Ends an evaluation that costs more than its limit. */
export class CostLimitExceeded extends Error {
  /** What was spent, in cost units. */
  readonly cost: number;
  /** What of it was work of this thread. */
  readonly work: number;

  constructor({ cost, work }: { readonly cost: number; readonly work: number }) {
    super('operation cancelled: actual cost limit exceeded');
    this.cost = cost;
    this.work = work;
  }
}

/** Returns the value of a variable; undefined for one that has none. */
export type Variables = (name: string) => Result | undefined;

/**
 * Receives what the work of an evaluation has cost so far, which is what holds this thread. It may throw to abandon the evaluation, for
 * instance to repeat it in a worker.
 */
export type CostHook = (work: number) => void;

export interface FrameOptions {
  readonly variables: Variables;
  /** The most an evaluation may cost, in upstream's units. */
  readonly costMax: number;
  /** Called after each 1,000 cost units, and before an operation that is expensive by itself. */
  readonly onCost?: CostHook | undefined;
}

/** The state of one evaluation. */
export class Frame {
  /** What was spent, in cost units. */
  cost = 0;
  readonly locals: (Result | undefined)[] = [];
  readonly variables: Variables;
  readonly #costMax: number;
  readonly #onCost: CostHook | undefined;
  #checkAt: number;
  /** What answers of other parts have cost. */
  #answers = 0;

  constructor({ variables, costMax, onCost }: FrameOptions) {
    this.variables = variables;
    this.#costMax = costMax;
    this.#onCost = onCost;
    this.#checkAt = Math.min(CHECK_INTERVAL, costMax);
  }

  /**
   * Adds the cost of a step, before it runs where its cost is known then.
   *
   * @throws CostLimitExceeded above the limit
   */
  charge(units: number): void {
    this.cost += units;
    if (this.cost > this.#checkAt) this.#check();
  }

  /** Adds the cost of an answer that another part gives, such as the authorizer: it counts for the limit, but is no work. */
  chargeAnswer(units: number): void {
    this.#answers += units;
    this.charge(units);
  }

  /** What the work has cost, in cost units: all but the answers of other parts. */
  get work(): number {
    return this.cost - this.#answers;
  }

  #check(): void {
    if (this.cost > this.#costMax) throw new CostLimitExceeded(this);
    this.#onCost?.(this.work);
    this.#checkAt = Math.min(this.cost + CHECK_INTERVAL, this.#costMax);
  }
}
