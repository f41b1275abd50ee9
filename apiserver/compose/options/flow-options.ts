import { getHeapStatistics } from 'node:v8';
import type { RedisOptions } from '../../../shared/client/redis';
import type { DroppedRequests } from '../../engine/request/overload';
import type { ServerFeatureGates } from './own-gates';

/** How many requests are carried out at a time. */
export interface FlowOptions {
  /** By priority and fairness; else only their number is limited. */
  readonly isFair: boolean;
  /** 0: any number. */
  readonly max: Readonly<Record<keyof DroppedRequests, number>>;
  /** Of request bodies and answers in memory, together. */
  readonly bytesMax: number;
  /** Undefined: every replica gives all seats. */
  readonly sharedBy: RedisOptions | undefined;
  /** How long a request waits for its turn. */
  readonly waitMsMax: number;
}

interface FlowFlags {
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly enablePriorityAndFairness: boolean;
  readonly maxInflightBytes: number;
  readonly sharedLimitsRedis: string;
  readonly sharedLimitsRedisCaFile: string;
  readonly requestTimeoutMs: number;
}

/** Of the heap, where no flag says how much. */
const HEAP_SHARE = 0.5;
const BYTES_MIN = 32 * 1_024 * 1_024;

/** Of the time that a request has. */
const WAIT_SHARE = 4;

export function flowOptions(
  flags: FlowFlags,
  gates: ServerFeatureGates,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
): FlowOptions {
  return {
    isFair: flags.enablePriorityAndFairness && gates.APIPriorityAndFairness,
    max: { readOnly: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight },
    bytesMax: flags.maxInflightBytes === 0 ? heapLimitBytes * HEAP_SHARE : flags.maxInflightBytes,
    sharedBy:
      flags.sharedLimitsRedis === ''
        ? undefined
        : { url: flags.sharedLimitsRedis, caFile: flags.sharedLimitsRedisCaFile || undefined },
    waitMsMax: flags.requestTimeoutMs / WAIT_SHARE,
  };
}

export function flowErrors(flags: FlowFlags): readonly string[] {
  const { maxInflightBytes: bytes } = flags;
  const seats = flags.maxRequestsInflight + flags.maxMutatingRequestsInflight;
  return [
    ...(!flags.enablePriorityAndFairness || seats > 0
      ? []
      : [
          '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0 with --enable-priority-and-fairness',
        ]),
    ...(flags.sharedLimitsRedis === '' || /^rediss?:\/\//u.test(flags.sharedLimitsRedis)
      ? []
      : ['--shared-limits-redis must begin with rediss:// or redis://']),
    ...(bytes === 0 || bytes >= BYTES_MIN
      ? []
      : [`--max-inflight-bytes must be 0 or at least ${String(BYTES_MIN)}`]),
  ];
}
