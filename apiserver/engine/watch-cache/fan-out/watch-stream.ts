import { untilAborted } from '../../../../shared/concurrency/abort';
import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import type { DeliveryCount } from '../../request/exchange';
import { StorageError } from '../../storage/backend';
import type { CacheOwner, CacheServices } from '../context';
import type { CachedResource, Entry, Representation } from '../state/entry';
import type { CacheEvent } from '../state/event';
import { readWatchHistory } from './watch-history';
import type { Ring } from '../state/ring';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Snapshot } from '../state/snapshot';
import type { EndReason } from './watch-request';
import { indexedTerm } from './watch-request';
import type { SentCounter, Watcher } from './watcher';

/** The part of a resource cache that a watch needs. */
export interface WatchedState {
  readonly resource: CachedResource;
  readonly services: CacheServices;
  readonly owner: CacheOwner;
  readonly ring: Ring;
  readonly isReady: boolean;
  /** The newest revision whose effect is in the cache. */
  readonly revision: number;
  snapshot(): Snapshot;
  /** Resolves when the resource becomes ready; it may not be ready any more when the caller runs. */
  whenReady(signal: AbortSignal): Promise<void>;
}

/** The part of `ResourceWatches` that a watch needs. */
export interface WatchSource {
  readonly state: WatchedState;
  /** Adds the watcher to the live feed. */
  join(watcher: Watcher): void;
  end(watcher: Watcher, reason: EndReason): void;
  /** The last frame of a watch that ends for this reason, if any. */
  lastFrame(watcher: Watcher, reason: EndReason): Buffer | undefined;
}

/** Target size of the pieces during catch-up. */
const PIECE_BYTES = 256 * 1024;
/** Frames of larger objects are shared in the initial state, too. */
const SHARED_BYTES_MIN = 64 * 1024;

/**
 * The catch-up of one watch, from its start until it joins the live feed: the state or the history, at the reader's pace, from memory or
 * the store. Later events come through the watcher's queue, from the next whole revision on. A watch that ends during catch-up gets its last
 * frame here.
 */
export async function* streamWatch(source: WatchSource, watcher: Watcher): AsyncGenerator<Buffer> {
  const stop = new AbortController();
  const ending = (): void => {
    stop.abort();
  };
  watcher.onEnding(ending);
  try {
    if (!watcher.ending) yield* catchUp(source, watcher, stop.signal);
  } catch (error) {
    if (!watcher.ending) source.end(watcher, reasonOf(source, watcher, error));
  } finally {
    watcher.offEnding(ending);
  }
  if (watcher.isLive) return;
  const frame = source.lastFrame(watcher, watcher.ending ?? 'aborted');
  if (frame === undefined) return;
  watcher.sent.frames += 1;
  yield frame;
}

async function* catchUp(source: WatchSource, watcher: Watcher, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { request } = watcher;
  while (!source.state.isReady) await source.state.whenReady(signal);
  watcher.hasBegun = true;
  if (request.from === undefined) yield* currentState(source, watcher, signal);
  else {
    const { from } = request;
    const isThere = await source.state.owner.waitForRevision(from, {
      timeoutMs: request.timeoutMs,
      signal,
    });
    signal.throwIfAborted();
    if (!isThere) {
      source.end(watcher, 'timeout');
      return;
    }
    watcher.sentRevision = from;
  }
  while (!watcher.isLive && watcher.ending === undefined) {
    if (watcher.sentRevision < source.state.ring.floor) yield* fromStore(source, watcher, signal);
    else yield* fromRing(source, watcher, signal);
    if (bookmarkDueInMs(source, watcher) <= 0) yield bookmark(source, watcher);
  }
}

/** Infinity if no bookmark was requested or nothing was sent yet. The sweep sends bookmarks to live watchers. */
function bookmarkDueInMs({ state: { services } }: WatchSource, watcher: Watcher): number {
  if (!watcher.request.bookmarks || watcher.isLive || watcher.sentRevision === 0) return Infinity;
  return watcher.bookmarkedAt + services.limits.bookmarkIntervalMs - services.clock.now();
}

/** A bookmark of the last revision that was sent completely. */
function bookmark({ state: { services } }: WatchSource, watcher: Watcher): Buffer {
  watcher.bookmarkedAt = services.clock.now();
  watcher.sent.frames += 1;
  return watcher.representation.bookmark(watcher.sentRevision, false);
}

/** Synthetic ADDED events in key order, then the bookmark of streaming lists if requested. */
async function* currentState(
  source: WatchSource,
  watcher: Watcher,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { request, representation } = watcher;
  const snapshot = source.state.snapshot();
  const piece = new Piece(watcher.sent);
  const slices = new Slices();
  for (const entry of candidates(source.state.resource, watcher, snapshot)) {
    if (watcher.selects(entry)) {
      const made = request.frameWorker?.('ADDED', entry);
      const isLarge = made !== undefined || entry.bytes.length >= SHARED_BYTES_MIN;
      // A large frame is a piece of its own: joined with others it would be copied.
      if (isLarge && !piece.isEmpty) yield piece.take();
      piece.add(made === undefined ? initialFrame(entry, representation) : await untilAborted(made, signal));
      if (isLarge) yield piece.take();
    }
    if (piece.isFull || slices.due()) {
      if (!piece.isEmpty) yield piece.take();
      await slices.pause();
      signal.throwIfAborted();
    }
  }
  if (request.sendInitialEvents === true && request.bookmarks) {
    piece.add(representation.bookmark(snapshot.revision, true));
  }
  watcher.sentRevision = snapshot.revision;
  if (!piece.isEmpty) yield piece.take();
}

const initialFrames = new WeakMap<Entry, Map<string, WeakRef<Buffer>>>();

/** Watches that begin together, as after a restart, share the frame of a large object while any of them is sent. */
function initialFrame(entry: Entry, representation: Representation): Buffer {
  if (entry.bytes.length < SHARED_BYTES_MIN || representation.tellsAge === true)
    return representation.frame('ADDED', entry);
  const ofEntry = initialFrames.get(entry) ?? new Map<string, WeakRef<Buffer>>();
  const known = ofEntry.get(representation.id)?.deref();
  if (known !== undefined) return known;
  const frame = representation.frame('ADDED', entry);
  initialFrames.set(entry, ofEntry.set(representation.id, new WeakRef(frame)));
  return frame;
}

function candidates(resource: CachedResource, watcher: Watcher, snapshot: Snapshot): Iterable<Entry> {
  const { request } = watcher;
  const { namespace, name } = request;
  if (name !== '' && (namespace !== '' || !resource.namespaced)) {
    const entry = snapshot.get(resource.namespaced ? `${namespace}/${name}` : name);
    return entry === undefined ? [] : [entry];
  }
  const term = indexedTerm(request, resource);
  if (term !== undefined) return snapshot.byField(...term);
  return namespace === '' ? snapshot.entries() : snapshot.entriesOf(namespace);
}

async function* fromStore(
  source: WatchSource,
  watcher: Watcher,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const history = readWatchHistory(
    source.state.services,
    {
      resource: source.state.resource,
      from: watcher.sentRevision,
      floor: () => source.state.ring.floor,
      isFloorVisible: source.state.ring.isFloorVisible,
    },
    signal,
  );
  const parts = history[Symbol.asyncIterator]();
  const piece = new Piece(watcher.sent, watcher.request.delivered);
  try {
    for (;;) {
      const part = parts.next();
      // The wait for a slot and for the store can take long.
      while (!(await settlesWithin(part, bookmarkDueInMs(source, watcher)))) yield bookmark(source, watcher);
      const { done, value } = await part;
      if (done === true) return;
      for (const event of value.events) {
        const frame = frameFor(watcher, event);
        if (frame !== undefined)
          piece.add(frame instanceof Promise ? await untilAborted(frame, signal) : frame);
      }
      watcher.sentRevision = Math.max(watcher.sentRevision, value.through);
      if (!piece.isEmpty) yield piece.take();
      signal.throwIfAborted();
    }
  } finally {
    // Not awaited: the generator may be blocked until the signal of the watch aborts.
    parts.return?.().catch(() => undefined);
  }
}

/** Whether the promise settles within `ms`; a rejection counts, and is left to the caller that awaits it. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    const timer = ms > TIMER_MAX_MS ? undefined : setTimeout(resolve, Math.max(0, ms), false).unref();
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/**
 * One slice of the ring buffer, in whole revisions. At its end the watcher joins the live feed, before the slice is yielded. A revision with
 * a frame that a worker encodes is a slice of its own.
 */
async function* fromRing(source: WatchSource, watcher: Watcher, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { ring } = source.state;
  const piece = new Piece(watcher.sent, watcher.request.delivered);
  const slices = new Slices();
  let position = ring.positionAfter(watcher.sentRevision);
  let isHeld = false;
  for (let event = ring.at(position); event !== undefined && !isHeld; event = ring.at(position)) {
    if (piece.isFull || slices.due()) break;
    const { revision } = event;
    const frames: (Buffer | Promise<Buffer>)[] = [];
    for (let part: CacheEvent | undefined = event; part?.revision === revision; part = ring.at(position)) {
      const frame = frameFor(watcher, part);
      if (frame !== undefined) frames.push(frame);
      position += 1;
    }
    isHeld = frames.some((frame) => frame instanceof Promise);
    if (isHeld && !piece.isEmpty) yield piece.take();
    const made = isHeld ? await untilAborted(allOf(frames), signal) : (frames as Buffer[]);
    for (const frame of made) piece.add(frame);
    watcher.sentRevision = revision;
  }
  if (!isHeld && position === ring.end) source.join(watcher);
  if (!piece.isEmpty) yield piece.take();
  if (slices.due()) await slices.pause();
}

async function allOf(frames: readonly (Buffer | Promise<Buffer>)[]): Promise<Buffer[]> {
  return Promise.all(frames.map(async (frame) => frame));
}

/** Undefined if the event does not match the watcher. */
function frameFor(watcher: Watcher, event: CacheEvent): Buffer | Promise<Buffer> | undefined {
  const type = event.typeFor(watcher.selects);
  if (type === undefined) return undefined;
  const { representation, request } = watcher;
  return request.frameWorker === undefined
    ? event.lateFrame(type, representation)
    : event.lateFrameBy(type, representation, request.frameWorker);
}

function reasonOf(source: WatchSource, watcher: Watcher, error: unknown): EndReason {
  if (error instanceof StorageError && (error.code === 'compacted' || error.code === 'reset'))
    return 'expired';
  source.state.services.log.warn(
    {
      resource: source.state.resource.name,
      client: watcher.request.client,
      from: watcher.request.from,
      error,
    },
    'watch ended: failed to read past events from the store',
  );
  return 'unavailable';
}

class Piece {
  readonly #sent: SentCounter;
  readonly #delivered: DeliveryCount | undefined;
  #frames: Buffer[] = [];
  #bytes = 0;

  constructor(sent: SentCounter, delivered?: DeliveryCount) {
    this.#sent = sent;
    this.#delivered = delivered;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= PIECE_BYTES;
  }

  add(frame: Buffer): void {
    this.#frames.push(frame);
    this.#sent.frames += 1;
    this.#sent.initial += 1;
    this.#bytes += frame.length;
  }

  take(): Buffer {
    const [first] = this.#frames;
    const bytes =
      this.#frames.length === 1 && first !== undefined ? first : Buffer.concat(this.#frames, this.#bytes);
    this.#delivered?.add(this.#bytes);
    this.#frames = [];
    this.#bytes = 0;
    return bytes;
  }
}
