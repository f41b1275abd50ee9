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
  /** The maximum time that a payment waits for seats, in milliseconds. */
  readonly waitMsMax: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** The interval at which flows pay for the deliveries of their watches. */
export const PAY_EVERY_MS = 1_000;
/** The fixed cost of a delivery (16 µs), in bytes that the event loop sends in this time. */
const DELIVERY_BYTES = 6 * 1_024;
/** The maximum of tracked flows. Open watches of an evicted flow continue to count, apart from later ones. */
const FLOWS_MAX = 10_000;

/** The attributes of a watch, for classification and debug pages. */
type About = Pick<Exchange, 'user' | 'info' | 'receivedAt'>;

/**
 * Charges flows for the deliveries of their watches (fair queuing): once a second, the delivered bytes take the seats that a list of the same size
 * takes, in the queues of the flow. A flow with busy watches therefore gets fewer other requests served. Each flow has at most one payment in
 * progress and one pending.
 */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  readonly #flows = new Map<string, FlowDeliveries>();
  /** The flows with unpaid deliveries. */
  #due: FlowDeliveries[] = [];
  /** Aborts with the shutdown signal; waiting payments listen to this one, because they are many. */
  readonly #over = new AbortController();

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
    // The number of waiting payments is bounded by the queues of all levels.
    setMaxListeners(0, this.#over.signal);
    const timer = setInterval(() => this.#collect(), PAY_EVERY_MS).unref();
    const end = (): void => {
      clearInterval(timer);
      this.#over.abort(parts.shutdownSignal.reason);
    };
    parts.shutdownSignal.addEventListener('abort', end, { once: true });
  }

  /** Returns the counter for the deliveries of a watch. */
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

  /** Classifies the flow again, because schemas and levels may have changed. Rejects only because of a defect; the next payment is still tried. */
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
      // An overloaded level is not relieved by waiting longer: drop the payment.
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

/** The unpaid deliveries of all watches of a flow. */
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
