import { StatusError } from '../../../shared/errors/status-error';
import type { Exchange, Stage } from '../request/exchange';
import type { DroppedRequests } from '../request/overload';
import { isLongRunning } from '../request/long-running';
import type { RequestInfo } from '../request/request-info';
import type { Deliveries } from './deliveries';
import type { Flow } from './flow';
import type { FlowControl } from './fairness';
import type { FlowCounts } from './flow-counts';
import type { Queue, QueueSet } from './queue-set';
import { RefusedError } from './queue-set';
import { retryAfterSeconds } from '../request/retry-after';
import type { LoopPressure } from './loop-pressure';
import type { EstimateWork, Work } from './work';
import { withinLevel } from './work';

export interface FlowStageParts {
  readonly control: FlowControl;
  readonly estimate: EstimateWork;
  readonly deliveries: Pick<Deliveries, 'countOf'>;
  readonly strain: Pick<LoopPressure, 'seatTimeFactor'>;
  /** The maximum time in a queue, in milliseconds. */
  readonly waitMsMax: number;
  readonly dropped: DroppedRequests;
  /** Gauges of waiting requests. */
  readonly inQueue: Record<keyof DroppedRequests, number>;
  readonly now: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Creates the priority and fairness stage: requests are executed while their priority level has free seats, and otherwise wait in a queue or are
 * refused with 429. It needs the user, so that it comes after authentication. A watch holds seats until it is initialized, and its flow pays for
 * its deliveries. Other long-running requests take no seats.
 */
export function createFlowStage(parts: FlowStageParts): Stage {
  const { control, now, estimate } = parts;
  return (exchange, next) => {
    if (staysOpen(exchange.info)) return next();
    const flow = control.classify(exchange);
    exchange.flow = flow.mark;
    const { queues } = flow.level;
    if (queues === undefined) return executeExempt(flow, now, next);
    if (exchange.info.verb === 'watch') exchange.delivered = parts.deliveries.countOf(flow, exchange);
    const work = withinLevel(estimate(exchange), flow.level.wholeSeats);
    const startedAt = now();
    const queue = queues.tryStart(flow.handOf(exchange), work.seats, startedAt);
    if (queue === undefined) return executeInTurn(parts, { exchange, flow, queues, work }, next);
    return executeSeated(parts, { exchange, flow, queues, work, queue, startedAt }, next);
  };
}

/** Returns whether a long-running request takes no seat; a watch takes one until it is initialized. */
function staysOpen(info: RequestInfo): boolean {
  return info.verb !== 'watch' && isLongRunning(info);
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Returns the request kind of kube-apiserver's metrics. */
export function requestKind({ verb }: RequestInfo): keyof DroppedRequests {
  return READS.has(verb) ? 'readOnly' : 'mutating';
}

async function executeExempt(
  { counts, level }: Flow,
  now: () => number,
  next: () => Promise<void>,
): Promise<void> {
  const startedAt = now();
  begin(counts);
  level.beginExempt();
  try {
    await next();
  } finally {
    level.endExempt();
    end(counts, now() - startedAt);
  }
}

interface InTurn {
  readonly exchange: Exchange;
  readonly flow: Flow;
  readonly queues: QueueSet;
  readonly work: Work;
}

interface Seated extends InTurn {
  readonly queue: Queue;
  readonly startedAt: number;
}

async function executeSeated(
  parts: FlowStageParts,
  seated: Seated,
  next: () => Promise<void>,
): Promise<void> {
  const { exchange, flow, work } = seated;
  begin(flow.counts);
  try {
    await next();
  } finally {
    if (work.sendMs < 1 || exchange.answer === undefined) leave(parts, seated);
    else setTimeout(leave, work.sendMs * parts.strain.seatTimeFactor, parts, seated).unref();
  }
}

function leave({ control, now }: FlowStageParts, { flow, queues, work, queue, startedAt }: Seated): void {
  const endedAt = now();
  const tookMs = endedAt - startedAt;
  end(flow.counts, tookMs);
  queues.finish(queue, { seats: work.seats, tookMs, now: endedAt });
  if (flow.level.isQuiescing) control.retire(flow.level);
}

function begin(counts: FlowCounts): void {
  counts.dispatched += 1;
  counts.executing += 1;
}

function end(counts: FlowCounts, tookMs: number): void {
  counts.executing -= 1;
  counts.executions.observe(tookMs);
}

async function executeInTurn(parts: FlowStageParts, turn: InTurn, next: () => Promise<void>): Promise<void> {
  const queue = await takeTurn(parts, turn);
  await executeSeated(parts, { ...turn, queue, startedAt: parts.now() }, next);
}

async function takeTurn(parts: FlowStageParts, { exchange, flow, queues, work }: InTurn): Promise<Queue> {
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
    const request = { hand: flow.handOf(exchange), seats: work.seats, waiter, waitMsMax };
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

/** Creates the 429 with kube-apiserver's message text. */
export function tooManyRequests(retrySeconds: number, cause?: unknown): StatusError {
  return new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: retrySeconds },
    cause,
  });
}
