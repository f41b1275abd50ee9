import type { Victim } from './victim';

/** One way to hold up a server for others, as it was found by somebody who looked for such ways. */
export interface Attack {
  readonly name: string;
  /** Makes what the attack is made of, once, before anything is measured. */
  readonly prepare?: (victim: Victim) => Promise<void>;
  /** Is begun again as soon as it has resolved, until `signal` aborts; then it ends at once. A broken connection may reject it. */
  readonly round: (victim: Victim, signal: AbortSignal) => Promise<void>;
  /** How many rounds go on at a time; default: 1. */
  readonly atOnce?: number;
}
