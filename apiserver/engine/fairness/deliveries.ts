import { setMaxListeners } from 'node:events';
import type { DeliveryCount, Exchange } from '../request/exchange';
import type { Flow } from './flow';
import type { FlowControl } from './fairness';
import type { Level } from './level';
import type { Queue, QueueSet } from './queue-set';
import { RefusedError } from './queue-set';
import type { LoopPressure } from './loop-pressure';
import type { Work } from './work';
import { DELIVERED_BYTES_MAX, DELIVERED_BYTES_MIN, withinLevel, workOfSending } from './work';

export interface DeliveriesParts {
  readonly control: Pick<FlowControl, 'classify' | 'retire'>;
  readonly strain: Pick<LoopPressure, 'seatTimeFactor'>;
  /** How long a flow waits for the seats with which it pays. */
  readonly waitMsMax: number;
  /** Milliseconds from any beginning. */
  readonly now: () => number;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** How often flows pay for what their watches delivered. */
export const PAY_EVERY_MS = 1_000;
/** A delivery of a few bytes takes 16 µs, in which a loop writes so many. */
const DELIVERY_BYTES = 6 * 1_024;
/** Flows that are remembered. A watch of one that is forgotten is counted on, apart from its later ones. */
const FLOWS_MAX = 10_000;

/** Who watches, for the rules and the debug pages. */
type About = Pick<Exchange, 'user' | 'info' | 'receivedAt'>;

/**
 * Lets flows pay for what their watches deliver: once a second, what those of a flow have delivered takes the seats of its level that a list of as
 * many bytes takes, for as long, in the turn of the flow. So a flow whose watches deliver much is served less of other requests. It has one such
 * payment under way at a time, and owes one at most.
 */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  readonly #flows = new Map<string, FlowDeliveries>();
  /** Those that have delivered something that is not paid yet. */
  #due: FlowDeliveries[] = [];
  /** Aborts with `life`, of whose listeners those of waiting payments are none. */
  readonly #over = new AbortController();

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
    // As many payments wait as the queues of all levels take.
    setMaxListeners(0, this.#over.signal);
    const timer = setInterval(() => this.#collect(), PAY_EVERY_MS).unref();
    const end = (): void => {
      clearInterval(timer);
      this.#over.abort(parts.shutdownSignal.reason);
    };
    parts.shutdownSignal.addEventListener('abort', end, { once: true });
  }

  /** Where to count what a watch of the flow delivers. */
  countOf(flow: Flow, { user, info, receivedAt }: About): DeliveryCount {
    const key = `${flow.level.name} ${flow.name} ${flow.distinguisherOf({ user, info })}`;
    const known = this.#flows.get(key);
    if (known !== undefined) return known;
    if (this.#flows.size >= FLOWS_MAX) this.#flows.clear();
    const made = new FlowDeliveries({ user, info, receivedAt }, (due) => this.#due.push(due));
    this.#flows.set(key, made);
    return made;
  }

  #collect(): void {
    const due = this.#due;
    this.#due = [];
    for (const each of due) {
      if (each.isPaying || each.bytes < DELIVERED_BYTES_MIN) this.#due.push(each);
      else void this.#pay(each);
    }
  }

  /**
   * The flow is asked for anew: schemas and levels may have changed since the watch began. Rejects for a fault of the program alone, which
   * it logs like any that nobody handles; the next payment of the flow is tried all the same.
   */
  async #pay(of: FlowDeliveries): Promise<void> {
    const bytes = of.take();
    const flow = this.#parts.control.classify(of.about);
    const { queues, wholeSeats } = flow.level;
    if (queues === undefined) return;
    of.isPaying = true;
    const work = this.#stretched(withinLevel(workOfSending(bytes), wholeSeats));
    const queue = await this.#seated(flow, { of, queues, work });
    if (queue !== undefined) {
      setTimeout(() => this.#finish(flow.level, { of, queues, work, queue }), work.sendMs).unref();
      return;
    }
    of.isPaying = false;
    if (flow.level.isQuiescing) this.#parts.control.retire(flow.level);
  }

  #stretched({ seats, sendMs }: Work): Work {
    return { seats, sendMs: sendMs * this.#parts.strain.seatTimeFactor };
  }

  async #seated(flow: Flow, { of, queues, work: { seats } }: Payment): Promise<Queue | undefined> {
    const { now, waitMsMax } = this.#parts;
    const { signal } = this.#over;
    const hand = flow.handOf(of.about);
    const found = queues.tryStart(hand, seats, now());
    if (found !== undefined) return found;
    const distinguisher = flow.distinguisherOf(of.about);
    const waiter = { schema: flow.name, distinguisher, arrivedAt: of.about.receivedAt, about: of.about };
    try {
      return await queues.start({ hand, seats, waiter, waitMsMax }, signal, () => undefined);
    } catch (error) {
      // A level that has no place for it is not spared anything by waiting for longer.
      if (error instanceof RefusedError || signal.aborted) return undefined;
      of.isPaying = false;
      throw error;
    }
  }

  #finish(level: Level, { of, queues, work, queue }: Payment & { readonly queue: Queue }): void {
    of.isPaying = false;
    queues.finish(queue, { seats: work.seats, tookMs: work.sendMs, now: this.#parts.now() });
    if (level.isQuiescing) this.#parts.control.retire(level);
  }
}

interface Payment {
  readonly of: FlowDeliveries;
  readonly queues: QueueSet;
  readonly work: Work;
}

/** What all watches of a flow have delivered and not paid. */
class FlowDeliveries implements DeliveryCount {
  readonly about: About;
  bytes = 0;
  isPaying = false;
  readonly #becameDue: (due: FlowDeliveries) => void;

  constructor(about: About, becameDue: (due: FlowDeliveries) => void) {
    this.about = about;
    this.#becameDue = becameDue;
  }

  add(bytes: number): void {
    if (this.bytes === 0) this.#becameDue(this);
    this.bytes = Math.min(DELIVERED_BYTES_MAX, this.bytes + bytes + DELIVERY_BYTES);
  }

  take(): number {
    const { bytes } = this;
    this.bytes = 0;
    return bytes;
  }
}
