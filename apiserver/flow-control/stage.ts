import { StatusError } from '../../shared/errors/status-error';
import type { Exchange, Stage } from '../exchange/exchange';
import type { DroppedRequests } from '../exchange/overload';
import type { RequestInfo } from '../exchange/request-info';
import type { Flow } from './flow';
import type { FlowControl } from './flow-control';
import type { FlowCounts } from './flow-counts';
import type { Queue, QueueSet } from './queue-set';
import { RefusedError } from './queue-set';
import { retryAfterSeconds } from './retry-after';

export interface FlowStageParts {
  readonly control: FlowControl;
  /** How long a request may wait for its turn. */
  readonly waitMsMax: number;
  readonly dropped: DroppedRequests;
  /** Counted up and down. */
  readonly inQueue: Record<keyof DroppedRequests, number>;
  readonly now: () => number;
  /** From 0 to 1, without 1. */
  readonly random: () => number;
}

/**
 * A stage that lets requests through as the seats of their priority level allow, and has the others wait their turn, or refuses them with 429.
 * It stands after those that say who is asking. Requests that go on for long, as watches do, take no seat.
 */
export function createFlowStage(parts: FlowStageParts): Stage {
  const { control, now } = parts;
  return (exchange, next) => {
    if (isLongRunning(exchange.info)) return next();
    const flow = control.classify(exchange);
    exchange.flow = flow.mark;
    const { queues } = flow.level;
    if (queues === undefined) return execute(flow, now, next);
    const seats = 1;
    const startedAt = now();
    const queue = queues.tryStart(flow.handOf(exchange), seats, startedAt);
    if (queue === undefined) return executeInTurn(parts, { exchange, flow, queues, seats }, next);
    return executeSeated(parts, { flow, queues, queue, seats, startedAt }, next);
  };
}

const LONG_VERBS: ReadonlySet<string> = new Set(['watch', 'proxy']);
const LONG_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** As kube-apiserver has it. */
export function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return LONG_VERBS.has(verb) || (subresource !== '' && LONG_SUBRESOURCES.has(subresource));
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** By kube-apiserver's kinds of requests. */
export function requestKind({ verb }: RequestInfo): keyof DroppedRequests {
  return READS.has(verb) ? 'readOnly' : 'mutating';
}

async function execute({ counts }: Flow, now: () => number, next: () => Promise<void>): Promise<void> {
  const startedAt = now();
  begin(counts);
  try {
    await next();
  } finally {
    end(counts, now() - startedAt);
  }
}

interface Seated {
  readonly flow: Flow;
  readonly queues: QueueSet;
  readonly queue: Queue;
  readonly seats: number;
  readonly startedAt: number;
}

async function executeSeated(
  { control, now }: FlowStageParts,
  { flow, queues, queue, seats, startedAt }: Seated,
  next: () => Promise<void>,
): Promise<void> {
  begin(flow.counts);
  try {
    await next();
  } finally {
    const endedAt = now();
    const tookMs = endedAt - startedAt;
    end(flow.counts, tookMs);
    queues.finish(queue, { seats, tookMs, now: endedAt });
    if (flow.level.isQuiescing) control.retire(flow.level);
  }
}

function begin(counts: FlowCounts): void {
  counts.dispatched += 1;
  counts.executing += 1;
}

function end(counts: FlowCounts, tookMs: number): void {
  counts.executing -= 1;
  counts.executions.observe(tookMs);
}

interface InTurn {
  readonly exchange: Exchange;
  readonly flow: Flow;
  readonly queues: QueueSet;
  readonly seats: number;
}

async function executeInTurn(
  parts: FlowStageParts,
  { exchange, flow, queues, seats }: InTurn,
  next: () => Promise<void>,
): Promise<void> {
  const queue = await takeTurn(parts, { exchange, flow, queues, seats });
  await executeSeated(parts, { flow, queues, queue, seats, startedAt: parts.now() }, next);
}

async function takeTurn(parts: FlowStageParts, { exchange, flow, queues, seats }: InTurn): Promise<Queue> {
  const { now, waitMsMax, inQueue, control } = parts;
  const { counts } = flow;
  const kind = requestKind(exchange.info);
  const arrivedAt = now();
  const waiter = {
    schema: flow.name,
    distinguisher: flow.distinguisherOf(exchange),
    arrivedAt: exchange.receivedAt,
    about: exchange,
  };
  counts.waiting += 1;
  inQueue[kind] += 1;
  let isIn = false;
  try {
    const request = { hand: flow.handOf(exchange), seats, waiter, waitMsMax };
    const queue = await queues.start(request, exchange.signal, (length) => counts.noteQueueLength(length));
    isIn = true;
    return queue;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    parts.dropped[kind] += 1;
    counts.noteRefused(error.refusal);
    throw tooManyRequests(retryAfterSeconds(queues.expectedWaitSeconds, parts.random), error);
  } finally {
    counts.waiting -= 1;
    inQueue[kind] -= 1;
    counts.waits[isIn ? 'executed' : 'refused'].observe(now() - arrivedAt);
    if (flow.level.isQuiescing) control.retire(flow.level);
  }
}

/** In kube-apiserver's words. */
export function tooManyRequests(retrySeconds: number, cause?: unknown): StatusError {
  return new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: retrySeconds },
    cause,
  });
}
