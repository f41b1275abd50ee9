import { getHeapStatistics } from 'node:v8';
import type { RedisOptions } from '../../../shared/client/redis';
import type { DroppedRequests } from '../../engine/request/overload';
import type { ServerFeatureGates } from './own-gates';
import { expandVariables, redisUrlErrors } from './redis-url';

/** Limits of concurrent requests. */
export interface FlowOptions {
  /** Whether to use priority and fairness; otherwise only the number of requests is limited. */
  readonly isFair: boolean;
  /** 0: unlimited. */
  readonly max: Readonly<Record<keyof DroppedRequests, number>>;
  /** The limit for request bodies and responses in memory together. */
  readonly bytesMax: number;
  /** Undefined: every replica has all seats. */
  readonly sharedBy: RedisOptions | undefined;
  /** Maximum queueing time of a request. */
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

/** Share of the heap, if no flag sets the limit. */
const HEAP_SHARE = 0.5;
const BYTES_MIN = 32 * 1_024 * 1_024;

/** Divisor of the request timeout. */
const WAIT_SHARE = 4;

export function flowOptions(
  flags: FlowFlags,
  gates: ServerFeatureGates,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
): FlowOptions {
  const redis = expandVariables(flags.sharedLimitsRedis);
  return {
    isFair: flags.enablePriorityAndFairness && gates.APIPriorityAndFairness,
    max: { readOnly: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight },
    bytesMax: flags.maxInflightBytes === 0 ? heapLimitBytes * HEAP_SHARE : flags.maxInflightBytes,
    sharedBy: redis === '' ? undefined : { url: redis, caFile: flags.sharedLimitsRedisCaFile || undefined },
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
    ...redisUrlErrors('shared-limits-redis', flags.sharedLimitsRedis),
    ...(bytes === 0 || bytes >= BYTES_MIN
      ? []
      : [`--max-inflight-bytes must be 0 or at least ${String(BYTES_MIN)}`]),
  ];
}
