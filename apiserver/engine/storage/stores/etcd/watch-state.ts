import { crc32 } from 'node:zlib';
import type { Revision } from '../../backend';
import { StorageError } from '../../backend';
import type { WatchEvent, WatchResponse } from './proto';
import { EVENT_TYPE } from './proto';

type RevisionEvent = Revision['events'][number];

/** A gap in the revisions, after which a new stream is opened. */
export class WatchGap extends Error {}

export interface WatchStateOptions {
  readonly from: number;
  /** Watching everything, so that every revision must show up. */
  readonly isWhole: boolean;
  /** Events of keys without this prefix are dropped. */
  readonly keyPrefix: string;
  readonly withPrevious: boolean;
}

/**
 * The state of a watch across its streams: the last revision and its events. It assembles responses into whole revisions, and has no
 * connection, so that it can be tested alone.
 *
 * A stream is opened one revision early, at the last one known, for two reasons. Older etcd drops a deletion made at exactly the
 * compact revision, so that a start there can miss an event, while a start after it cannot. And the repeated revision is compared with the
 * first one: this detects a store that was restored from a backup and has grown past our revision since.
 * When the early start is refused because the first revision wanted is the compact revision itself, the watch begins there, over
 * the whole keyspace, so that a missing revision is detected; it then ends as compacted.
 */
export class WatchState {
  readonly #options: WatchStateOptions;
  #last: number;
  #pending: { readonly revision: number; readonly events: WatchEvent[] } | undefined;
  /** Those of the newest revision. */
  #lastEvents: readonly WatchEvent[] | undefined;
  /** Checksums of these events, computed only when a new stream repeats the revision. */
  #lastMarks: ReadonlySet<string> | undefined;
  #isResuming = true;
  #gapAt: number | undefined;
  #isAtEdge = false;
  #clusterId: string | undefined;

  constructor(options: WatchStateOptions) {
    this.#options = options;
    // Revision 1 is the empty store: it has no event.
    this.#last = Math.max(1, options.from - 1);
  }

  /** The newest revision that was delivered, or the one before the first wanted. */
  get lastRevision(): number {
    return this.#last;
  }

  /** Whether this watch has delivered the last revision itself; otherwise it is the caller's start revision. */
  get hasDelivered(): boolean {
    return this.#lastEvents !== undefined;
  }

  /** Must be called for each new stream; returns how to open it. */
  startStream(): { readonly revision: number; readonly needsWholeKeyspace: boolean } {
    this.#pending = undefined;
    this.#isResuming = true;
    if (!this.#isAtEdge) return { revision: this.#last, needsWholeKeyspace: this.#options.isWhole };
    return { revision: this.#last + 1, needsWholeKeyspace: true };
  }

  /** The server refused the start. Throws `compacted` unless the next stream may begin at the compact revision itself. */
  refuse(compactRevision: number): never {
    if (compactRevision !== this.#last + 1 || this.#isAtEdge) throw compacted(compactRevision);
    this.#isAtEdge = true;
    throw new WatchGap('The watch begins at the compact revision.');
  }

  /**
   * Adds the revisions that are complete with this response to `done`. Throws a StorageError `reset` when the store is another one, and
   * {@link WatchGap} when a revision is missing and the stream should be reopened.
   */
  accept(response: WatchResponse, done: Revision[]): void {
    this.#clusterId ??= response.header.clusterId;
    if (this.#clusterId !== response.header.clusterId) {
      throw new StorageError('reset', 'The endpoints now belong to another etcd cluster.');
    }
    let newest: readonly WatchEvent[] | undefined;
    for (const event of response.events) {
      const revision = event.kv.modRevision;
      if (revision <= this.#last) {
        this.#checkRepeated(event);
        continue;
      }
      if (this.#pending !== undefined && this.#pending.revision !== revision) {
        newest = this.#pending.events;
        this.#complete(this.#pending, done);
        this.#pending = undefined;
      }
      this.#isResuming = false;
      if (this.#pending === undefined) this.#pending = { revision, events: [event] };
      else this.#pending.events.push(event);
    }
    if (!response.fragment && this.#pending !== undefined) {
      newest = this.#pending.events;
      this.#complete(this.#pending, done);
      this.#pending = undefined;
    }
    if (newest === undefined) return;
    this.#lastEvents = newest;
    this.#lastMarks = undefined;
  }

  #complete(pending: { revision: number; events: readonly WatchEvent[] }, done: Revision[]): void {
    const { revision } = pending;
    if (this.#isAtEdge && revision !== this.#last + 1) throw compacted(this.#last + 2);
    if (this.#options.isWhole && revision !== this.#last + 1) this.#gap(revision);
    this.#isAtEdge = false;
    this.#gapAt = undefined;
    this.#last = revision;
    const events: RevisionEvent[] = [];
    for (const event of pending.events) {
      const key = event.kv.key.toString();
      if (key.startsWith(this.#options.keyPrefix)) events.push(this.#toEvent(key, event));
    }
    if (events.length > 0 || this.#options.isWhole) done.push({ revision, events });
  }

  #gap(revision: number): never {
    const text = `etcd sent revision ${String(revision)} where ${String(this.#last + 1)} was due.`;
    if (this.#gapAt === this.#last) throw new StorageError('reset', text);
    this.#gapAt = this.#last;
    throw new WatchGap(text);
  }

  /** A new stream repeats the last known revision. A later repetition means that a revision was delivered in two parts. */
  #checkRepeated(event: WatchEvent): void {
    const revision = event.kv.modRevision;
    if (!this.#isResuming) {
      throw new StorageError(
        'reset',
        `etcd sent revision ${String(revision)} again, after ${String(this.#last)}.`,
      );
    }
    if (revision === this.#last && !this.#isOfLast(event)) {
      throw new StorageError(
        'reset',
        `etcd tells another history at revision ${String(revision)} than before.`,
      );
    }
  }

  /** Whether the newest revision has this event, or is not known. */
  #isOfLast(event: WatchEvent): boolean {
    if (this.#lastEvents === undefined) return true;
    this.#lastMarks ??= new Set(this.#lastEvents.map(markOf));
    return this.#lastMarks.has(markOf(event));
  }

  #toEvent(key: string, event: WatchEvent): RevisionEvent {
    const { kv, prevKv } = event;
    const created = event.type === EVENT_TYPE.put && kv.createRevision === kv.modRevision;
    const made =
      event.type === EVENT_TYPE.delete
        ? ({ type: 'delete', key } as const)
        : ({ type: 'put', key, value: kv.value, created } as const);
    if (!this.#options.withPrevious || created) return made;
    // etcd reads the previous record when it sends the event, and omits it after a compaction.
    if (prevKv === null) throw compacted(kv.modRevision);
    return { ...made, previous: { key, value: prevKv.value, revision: prevKv.modRevision } };
  }
}

function compacted(compactRevision: number): StorageError {
  const text = `etcd has forgotten the history before revision ${String(compactRevision)}.`;
  return new StorageError('compacted', text, { compactRevision });
}

/** A fingerprint that distinguishes events of different histories. */
function markOf({ type, kv }: WatchEvent): string {
  const numbers = [type, kv.createRevision, kv.version, crc32(kv.value)].join(' ');
  return `${numbers} ${kv.key.toString('latin1')}`;
}
