import { ValueHistogram, exponentialBounds } from '../../../../shared/metrics/buckets';
import { Slices } from '../../../../shared/concurrency/slices';
import type { StatusError } from '../../../../shared/errors/status-error';
import type { Entry, FrameWorker, ObjectEventType, Representation } from '../state/entry';
import type { CacheEvent } from '../state/event';
import type { QueueBudget } from './queue-budget';
import { LINK_BYTES } from './queue-budget';
import type { FlushScheduler, Flushable } from './scheduler';
import type { Run } from './run';
import type { EndReason, WatchRequest } from './watch-request';
import { watchPredicate } from './watch-request';

/** The environment of a watcher, shared by all watchers of one resource. */
export interface WatcherHost {
  readonly scheduler: FlushScheduler;
  readonly queueFramesMax: number;
  readonly queueBytesMax: number;
  /** Called when the queue is full. */
  readonly overflowed: (watcher: Watcher) => void;
  /** Called when the queue of an ended watch is empty. */
  readonly emptied: (watcher: Watcher) => void;
  /** Called when the queues of all watchers together exceed their budget. */
  readonly queuesOverflowed: () => void;
  /** Called when an event cannot be matched or encoded for this watcher. */
  readonly failed: (watcher: Watcher, error: unknown) => void;
}

export interface WatcherOptions {
  readonly request: WatchRequest;
  readonly host: WatcherHost;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Counts the frames given to the reader or the queue. */
  readonly sent: SentCounter;
}

/** Shared by all watches of one resource in one version. */
export interface SentCounter {
  frames: number;
  /** Frames sent before the watch was live: the initial state, or past events. */
  initial: number;
  /** Watches that are open now. */
  watchers: number;
  /** Bytes of the frames. */
  readonly sizes: ValueHistogram;
}

/** From 1 KiB to 128 KiB, as kube-apiserver has them. */
const SIZE_BOUNDS_BYTES = exponentialBounds(1_024, 2, 8);

export function newSentCounter(): SentCounter {
  return { frames: 0, initial: 0, watchers: 0, sizes: new ValueHistogram(SIZE_BOUNDS_BYTES) };
}

/**
 * One client's watch: a bounded queue of frames between the feed, which never waits, and one reader. A watcher whose queue is full is
 * evicted. During catch-up the reader checks `ending` between two whole revisions.
 */
export class Watcher implements Flushable {
  readonly request: WatchRequest;
  readonly representation: Representation;
  readonly selects: (entry: Entry) => boolean;
  readonly startedAt: number;
  readonly sent: SentCounter;
  bookmarkedAt: number;
  /** Everything up to this revision was given to the queue or, during catch-up, to the reader. */
  sentRevision = 0;
  isLive = false;
  /** The error frame at the end, when access was revoked. */
  refusal: StatusError | undefined;
  /** Whether any state of the cache may have been sent. */
  hasBegun = false;
  readonly #host: WatcherHost;
  #run: Run | undefined;
  /** Events after those in the queue. */
  #held: PendingEvents | undefined;
  #isDue = false;
  #reader: ((step: WatchStep) => void) | undefined;
  #ending: EndReason | undefined;
  /** Extended by `concat`, which allocates no spare capacity: nearly every watcher has few listeners. */
  #onEnding: readonly (() => void)[] = [];

  constructor(options: WatcherOptions) {
    this.#host = options.host;
    this.request = options.request;
    this.representation = options.request.representation;
    this.selects = watchPredicate(options.request);
    this.startedAt = options.startedAt;
    this.sent = options.sent;
    this.bookmarkedAt = options.startedAt;
  }

  /** Set as soon as the watch ends; the queue is still delivered. */
  get ending(): EndReason | undefined {
    return this.#ending;
  }

  get queuedFrames(): number {
    return (this.#run?.frames ?? 0) + (this.#held?.count ?? 0);
  }

  /** Bytes of the queue, not counting that other watchers may share frames. */
  get queuedBytes(): number {
    return (this.#run?.keptBytes ?? 0) + (this.#held?.keptBytes ?? 0);
  }

  /** The oldest revision with events that wait for a frame from a worker. */
  get heldRevision(): number | undefined {
    return this.#held?.first?.event.revision;
  }

  /** Queues the event's frame if the event concerns this watcher. */
  offer(event: CacheEvent): void {
    try {
      const type = event.typeFor(this.selects);
      if (type === undefined) return;
      const { frameWorker } = this.request;
      if (frameWorker === undefined) this.push(event.frame(type, this.representation));
      else this.#offerBy(frameWorker, event, type);
    } catch (error) {
      // A failure of one representation must not stop the feed.
      this.#host.failed(this, error);
    }
  }

  /** Queues one frame for the next flush. Evicts the watcher if the queue is full. */
  push(frame: Buffer): void {
    if (this.#ending !== undefined) return;
    const { scheduler, queueFramesMax, queueBytesMax, overflowed, queuesOverflowed } = this.#host;
    const run = this.#run ?? scheduler.emptyRun;
    if (run.frames >= queueFramesMax || (run.frames > 0 && run.keptBytes + frame.length > queueBytesMax)) {
      overflowed(this);
      return;
    }
    this.#replaceRun(run.append(frame));
    this.sent.frames += 1;
    this.sent.sizes.observe(frame.length);
    if (!this.#isDue) scheduler.schedule(this);
    if (scheduler.queues.isExceeded) queuesOverflowed();
  }

  /** Called by the scheduler: delivers the queue to the reader. */
  flush(): void {
    if (this.#run === undefined) return;
    if (this.#reader === undefined) this.#isDue = true;
    else this.#deliver(this.#takeRun());
  }

  /** The next bytes. One reader, one call at a time. */
  // An async function would add a promise and a microtask to each delivery.
  // eslint-disable-next-line typescript/promise-function-async -- see above
  next(): Promise<WatchStep> {
    if (this.#run !== undefined && (this.#isDue || this.#ending !== undefined)) {
      return Promise.resolve(this.#takeRun());
    }
    if (this.#ending !== undefined) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  /**
   * Ends the watch. `lastFrame` is delivered after the queue. The queue of an evicted or aborted watcher is dropped, and that of a watcher
   * whose access was revoked.
   */
  end(reason: EndReason, lastFrame?: Buffer): void {
    if (this.#ending !== undefined) return;
    if (UNDELIVERED.has(reason)) this.discard();
    // A client that reconnects resumes after the last queued event.
    this.#held?.clear();
    this.#held = undefined;
    if (lastFrame !== undefined) {
      this.#replaceRun((this.#run ?? this.#host.scheduler.emptyRun).append(lastFrame));
      this.sent.frames += 1;
      this.sent.sizes.observe(lastFrame.length);
    }
    this.#ending = reason;
    if (this.#reader !== undefined) this.#deliver(this.#takeRun());
    const listeners = this.#onEnding;
    this.#onEnding = [];
    for (const listener of listeners) listener();
    this.request.ended?.(reason);
  }

  /** Drops the queue. */
  discard(): void {
    this.#replaceRun(undefined);
    if (this.#ending !== undefined) this.#host.emptied(this);
  }

  /** Calls `listener` once when the watch ends; at once if it has ended. */
  onEnding(listener: () => void): void {
    if (this.#ending === undefined) this.#onEnding = this.#onEnding.concat(listener);
    else listener();
  }

  offEnding(listener: () => void): void {
    this.#onEnding = this.#onEnding.filter((each) => each !== listener);
  }

  #offerBy(frameWorker: FrameWorker, event: CacheEvent, type: ObjectEventType): void {
    if (this.#held !== undefined) {
      this.#hold(this.#held, event, type);
      return;
    }
    const frame = event.frameBy(type, this.representation, frameWorker);
    if (Buffer.isBuffer(frame)) {
      this.push(frame);
      return;
    }
    const held = new PendingEvents(this.#host.scheduler.queues);
    this.#hold(held, event, type);
    void this.#deliverHeld(held, frame, frameWorker);
  }

  #hold(held: PendingEvents, event: CacheEvent, type: ObjectEventType): void {
    if (this.#ending !== undefined) return;
    const { scheduler, queueFramesMax, queueBytesMax, overflowed, queuesOverflowed } = this.#host;
    const isTooLong = this.queuedBytes > 0 && this.queuedBytes + event.subject.bytes.length > queueBytesMax;
    if (this.queuedFrames >= queueFramesMax || isTooLong) {
      overflowed(this);
      return;
    }
    this.#held = held;
    held.add({ event, type });
    if (scheduler.queues.isExceeded) queuesOverflowed();
  }

  /** Queues the held events in order as their frames become available. New events are held until none is left. */
  async #deliverHeld(held: PendingEvents, first: Promise<Buffer>, frameWorker: FrameWorker): Promise<void> {
    const slices = new Slices({ isUrgent: true });
    let made: Buffer | Promise<Buffer> = first;
    try {
      for (;;) {
        const frame = await made;
        if (this.#ending !== undefined) return;
        held.removeFirst();
        const next = held.first;
        if (next === undefined) this.#held = undefined;
        this.push(frame);
        if (next === undefined) return;
        if (slices.due()) await slices.pause();
        made = next.event.frameBy(next.type, this.representation, frameWorker);
      }
    } catch (error) {
      if (this.#ending === undefined) this.#host.failed(this, error);
    }
  }

  #takeRun(): WatchStep {
    const run = this.#run;
    this.#isDue = false;
    this.discard();
    if (run === undefined) return DONE;
    this.request.delivered?.add(run.byteLength);
    return { done: false, value: run.join() };
  }

  /** Holds the new run first: the old one may be its prefix. */
  #replaceRun(run: Run | undefined): void {
    run?.hold();
    this.#run?.release();
    this.#run = run;
  }

  #deliver(step: WatchStep): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(step);
  }
}

/** Reasons that drop the queue. */
const UNDELIVERED: ReadonlySet<EndReason> = new Set(['slow', 'aborted', 'unauthorized', 'forbidden']);

export type WatchStep = IteratorResult<Buffer, undefined>;

const DONE: WatchStep = { done: true, value: undefined };

interface PendingEvent {
  readonly event: CacheEvent;
  readonly type: ObjectEventType;
}

/** Pending events of one watcher, in order. The first waits for a frame that a worker encodes; the others wait for the first. */
class PendingEvents {
  readonly #budget: QueueBudget;
  readonly #events: PendingEvent[] = [];
  #keptBytes = 0;

  constructor(budget: QueueBudget) {
    this.#budget = budget;
  }

  get count(): number {
    return this.#events.length;
  }

  /** The bytes of their objects, not counting that other watchers may share them. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get first(): PendingEvent | undefined {
    return this.#events[0];
  }

  add(held: PendingEvent): void {
    const { subject } = held.event;
    this.#events.push(held);
    this.#keptBytes += subject.bytes.length + LINK_BYTES;
    this.#budget.hold(subject, subject.bytes.length);
  }

  removeFirst(): void {
    const held = this.#events.shift();
    if (held === undefined) return;
    const { subject } = held.event;
    this.#keptBytes -= subject.bytes.length + LINK_BYTES;
    this.#budget.release(subject, subject.bytes.length);
  }

  clear(): void {
    while (this.#events.length > 0) this.removeFirst();
  }
}
