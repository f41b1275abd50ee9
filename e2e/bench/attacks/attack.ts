import type { Victim } from './victim';

/** One attack on the availability of a server. */
export interface Attack {
  readonly name: string;
  /** Prepares the attack once, before the measurement. */
  readonly prepare?: (victim: Victim) => Promise<void>;
  /** One round, repeated until `signal` aborts, which ends it immediately. A broken connection may reject it. */
  readonly round: (victim: Victim, signal: AbortSignal) => Promise<void>;
  /** Concurrent rounds; by default 1. */
  readonly atOnce?: number;
}
