import type { DroppedRequests } from '../../exchange/overload';
import type { ServerFeatureGates } from './own-gates';

/** How many requests are carried out at a time. */
export interface FlowOptions {
  /** By priority and fairness; else only their number is limited. */
  readonly isFair: boolean;
  /** 0: any number. */
  readonly max: Readonly<Record<keyof DroppedRequests, number>>;
  /** How long a request waits for its turn. */
  readonly waitMsMax: number;
}

interface FlowFlags {
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly enablePriorityAndFairness: boolean;
  readonly requestTimeoutMs: number;
}

/** Of the time that a request has. */
const WAIT_SHARE = 4;

export function flowOptions(flags: FlowFlags, gates: ServerFeatureGates): FlowOptions {
  return {
    isFair: flags.enablePriorityAndFairness && gates.APIPriorityAndFairness,
    max: { readOnly: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight },
    waitMsMax: flags.requestTimeoutMs / WAIT_SHARE,
  };
}

export function flowErrors(flags: FlowFlags): readonly string[] {
  const seats = flags.maxRequestsInflight + flags.maxMutatingRequestsInflight;
  if (!flags.enablePriorityAndFairness || seats > 0) return [];
  return [
    '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0 with --enable-priority-and-fairness',
  ];
}
