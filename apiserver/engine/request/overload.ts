import type { IncomingHttpHeaders } from 'node:http';
import type { LoopLag } from '../../../shared/concurrency/loop-lag';
import { StatusError } from '../../../shared/errors/status-error';
import { MEDIA_TYPE, USER_GROUP } from '../../../shared/names';
import type { Exchange, Stage } from './exchange';
import { mentionsYaml } from './mentions-yaml';
import { retryAfterSeconds } from './retry-after';

/** Bodies of leases, events and small patches are cheap. */
export const CHEAP_BODY_BYTES_MAX = 4 * 1_024;
/** A page of this size is cheap: clients that paginate request it. */
export const CHEAP_LIMIT_MAX = 500;
const MS_PER_SECOND = 1_000;

/** Requests shed because of event-loop delay, by kube-apiserver’s kinds. */
export interface DroppedRequests {
  mutating: number;
  readOnly: number;
}

export interface OverloadParts {
  readonly lag: Pick<LoopLag, 'isLate' | 'expectedWaitMs'>;
  /** Returns whether a list without a small limit is long; absent: always. */
  readonly isLong?: (exchange: Exchange) => boolean;
  readonly dropped: DroppedRequests;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/**
 * Creates the load shedding stage: it refuses new expensive requests with 429 while the event-loop delay is high, and
 * counts them. It runs after authentication and impersonation. Never refused: superusers (as in kube-apiserver’s
 * limits), health checks and other non-resource paths, leases, reads of one object, pages, watches, and small writes,
 * which all other work depends on.
 */
export function createOverloadStage({ lag, dropped, random, isLong = () => true }: OverloadParts): Stage {
  // No additional promise: every request runs this.
  return (exchange, next) => {
    const kind = lag.isLate ? expensiveKind(exchange) : undefined;
    if (
      kind === undefined ||
      isShortList(exchange, isLong) ||
      exchange.user.groups.includes(USER_GROUP.masters)
    )
      return next();
    dropped[kind] += 1;
    return Promise.reject(
      new StatusError(
        'TooManyRequests',
        'the server is busy with too much expensive work, please try again later',
        { details: { retryAfterSeconds: retryAfterSeconds(lag.expectedWaitMs / MS_PER_SECOND, random) } },
      ),
    );
  };
}

function expensiveKind(exchange: Exchange): keyof DroppedRequests | undefined {
  const { info, headers } = exchange;
  if (!info.isResourceRequest || info.resource === 'leases') return undefined;
  switch (info.verb) {
    case 'watch':
      return undefined;
    case 'get':
      return mentionsYaml(headers.accept) ? 'readOnly' : undefined;
    case 'list':
      return mentionsYaml(headers.accept) || (info.name === '' && isUnlimited(exchange))
        ? 'readOnly'
        : undefined;
    case 'deletecollection':
      return 'mutating';
    default:
      return isLargeBody(headers) ? 'mutating' : undefined;
  }
}

/** Most lists without a limit have few objects; `isLong` knows the number. */
function isShortList(exchange: Exchange, isLong: (exchange: Exchange) => boolean): boolean {
  return exchange.info.verb === 'list' && !mentionsYaml(exchange.headers.accept) && !isLong(exchange);
}

function isUnlimited({ query }: Exchange): boolean {
  const limit = Number(query.get('limit') ?? 0);
  return !(limit > 0 && limit <= CHEAP_LIMIT_MAX);
}

/** A chunked body may have any size. */
function isLargeBody({
  'content-type': type,
  'content-length': length = '0',
  'transfer-encoding': coding,
}: IncomingHttpHeaders): boolean {
  // The syntax of an applied configuration is unknown; it is mostly JSON, so its size decides.
  return (
    (mentionsYaml(type) && type !== MEDIA_TYPE.applyPatch) ||
    coding !== undefined ||
    Number(length) > CHEAP_BODY_BYTES_MAX
  );
}
