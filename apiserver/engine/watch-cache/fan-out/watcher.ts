import { ValueHistogram, exponentialBounds } from '../../../../shared/metrics/buckets';
import { Slices } from '../../../../shared/concurrency/slices';
import type { StatusError } from '../../../../shared/errors/status-error';
import type { Entry, FrameElsewhere, ObjectEventType, Representation } from '../state/entry';
import type { CacheEvent } from '../state/event';
import type { QueueBudget } from './queue-budget';
import { LINK_BYTES } from './queue-budget';
import type { FlushScheduler, Flushable } from './scheduler';
import type { Run } from './run';
import type { EndReason, WatchRequest } from './watch-request';
import { watchPredicate } from './watch-request';

/** What a watcher's cache is to it; shared by all of its watchers. */
export interface WatcherHost {
  readonly scheduler: FlushScheduler;
  readonly queueFramesMax: number;
  readonly queueBytesMax: number;
  /** Told when the reader leaves the queue full. */
  readonly overflowed: (watcher: Watcher) => void;
  /** Told when nothing is queued any more of a watch that has ended. */
  readonly emptied: (watcher: Watcher) => void;
  /** Told when the queues of all watchers together are too large. */
  readonly queuesOverflowed: () => void;
  /** Told when an event cannot be judged or encoded for this watcher. */
  readonly failed: (watcher: Watcher, error: unknown) => void;
}

export interface WatcherOptions {
  readonly request: WatchRequest;
  readonly host: WatcherHost;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Counts the frames that were handed to the reader or to the queue. */
  readonly sent: SentCounter;
}

/** Shared by all watches of one resource in one version. */
export interface SentCounter {
  frames: number;
  /** Of those, what was handed out before the watch was live: the state, or past events. */
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
 * One client's watch as the fan-out sees it: a bounded queue of frames between the feed, which never waits, and one reader. Before
 * it joins the live feed only its end is of interest; a reader that catches up asks `ending` between two whole revisions.
 */
export class Watcher implements Flushable {
  readonly request: WatchRequest;
  readonly representation: Representation;
  readonly selects: (entry: Entry) => boolean;
  readonly startedAt: number;
  readonly sent: SentCounter;
  bookmarkedAt: number;
  /** The newest revision up to which everything was handed to the queue or, while catching up, to the reader. */
  sentRevision = 0;
  isLive = false;
  /** What the client is told at the end, where it may not go on. */
  refusal: StatusError | undefined;
  /** Whether anything of the cache's state may have been handed out. */
  hasBegun = false;
  readonly #host: WatcherHost;
  #run: Run | undefined;
  /** Comes after the queue. */
  #held: HeldEvents | undefined;
  #isDue = false;
  #reader: ((step: WatchStep) => void) | undefined;
  #ending: EndReason | undefined;
  /** Replaced by `concat`, which makes an array of one listener with room for one. */
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

  /** Set as soon as the watch is to end; what is queued by then is still delivered. */
  get ending(): EndReason | undefined {
    return this.#ending;
  }

  get queuedFrames(): number {
    return (this.#run?.frames ?? 0) + (this.#held?.count ?? 0);
  }

  /** As the budget of all queues counts them, if nobody else has any of them. */
  get queuedBytes(): number {
    return (this.#run?.keptBytes ?? 0) + (this.#held?.keptBytes ?? 0);
  }

  /** The revision whose events are not all in the queue yet, because a frame of theirs is being made elsewhere. */
  get heldRevision(): number | undefined {
    return this.#held?.first?.event.revision;
  }

  /** Queues the event's frame if the event concerns this watcher. */
  offer(event: CacheEvent): void {
    try {
      const type = event.typeFor(this.selects);
      if (type === undefined) return;
      const { elsewhere } = this.request;
      if (elsewhere === undefined) this.push(event.frame(type, this.representation));
      else this.#offerBy(elsewhere, event, type);
    } catch (error) {
      // One watcher's representation must not stop the feed of all.
      this.#host.failed(this, error);
    }
  }

  /** Queues one frame; it leaves with the next flush. */
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

  /** Called by the scheduler: what is queued may leave now. */
  flush(): void {
    if (this.#run === undefined) return;
    if (this.#reader === undefined) this.#isDue = true;
    else this.#deliver(this.#takeRun());
  }

  /** The next bytes, once they are due. One reader, one call at a time. */
  // An async function would put one more promise around each, and let each delivery wait for it.
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
   * Ends the watch. `lastFrame` is delivered behind everything that is queued. The queue of a slow watcher is thrown away, because nobody
   * reads it, and that of a refused one, because nobody may.
   */
  end(reason: EndReason, lastFrame?: Buffer): void {
    if (this.#ending !== undefined) return;
    if (UNDELIVERED.has(reason)) this.discard();
    // Whoever watches again begins after the last event that was queued.
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

  /** Nobody reads what is queued any more. */
  discard(): void {
    this.#replaceRun(undefined);
    if (this.#ending !== undefined) this.#host.emptied(this);
  }

  /** `listener` runs once when the watch is to end; at once if it already is. */
  onEnding(listener: () => void): void {
    if (this.#ending === undefined) this.#onEnding = this.#onEnding.concat(listener);
    else listener();
  }

  offEnding(listener: () => void): void {
    this.#onEnding = this.#onEnding.filter((each) => each !== listener);
  }

  #offerBy(elsewhere: FrameElsewhere, event: CacheEvent, type: ObjectEventType): void {
    if (this.#held !== undefined) {
      this.#hold(this.#held, event, type);
      return;
    }
    const frame = event.frameBy(type, this.representation, elsewhere);
    if (Buffer.isBuffer(frame)) {
      this.push(frame);
      return;
    }
    const held = new HeldEvents(this.#host.scheduler.queues);
    this.#hold(held, event, type);
    void this.#deliverHeld(held, frame, elsewhere);
  }

  #hold(held: HeldEvents, event: CacheEvent, type: ObjectEventType): void {
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

  /** Queues what is held as its frames are made, until nothing is. Events that come meanwhile are held too. */
  async #deliverHeld(held: HeldEvents, first: Promise<Buffer>, elsewhere: FrameElsewhere): Promise<void> {
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
        made = next.event.frameBy(next.type, this.representation, elsewhere);
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

  /** The longer run is held before the shorter is released, which it begins with. */
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

/** Ends after which nothing of the queue is delivered. */
const UNDELIVERED: ReadonlySet<EndReason> = new Set(['slow', 'aborted', 'unauthorized', 'forbidden']);

export type WatchStep = IteratorResult<Buffer, undefined>;

const DONE: WatchStep = { done: true, value: undefined };

interface HeldEvent {
  readonly event: CacheEvent;
  readonly type: ObjectEventType;
}

/** Events of one watcher, in order, of which the first waits for a frame that is made elsewhere, and the others for it. */
class HeldEvents {
  readonly #budget: QueueBudget;
  readonly #events: HeldEvent[] = [];
  #keptBytes = 0;

  constructor(budget: QueueBudget) {
    this.#budget = budget;
  }

  get count(): number {
    return this.#events.length;
  }

  /** What they take in the budget if nobody else has them: the objects as they are stored. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get first(): HeldEvent | undefined {
    return this.#events[0];
  }

  add(held: HeldEvent): void {
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
