import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../list-watch/chaos/seeded-random';
import type { View } from '../../list-watch/chaos/views';
import { labelSelectorOf, pathOf } from '../../list-watch/chaos/views';
import type { ApiClient, WatchEvent } from '../../support/client';
import type {
  RunRecord,
  SegmentEvent,
  ShownObject,
  WatchedType,
  WatchEnd,
  WatchSegment,
} from '../record/operation';
import { shown } from './list-client';

export interface WatchClientOptions {
  readonly name: string;
  readonly view: View;
  readonly replicas: readonly ApiClient[];
  readonly record: RunRecord;
  readonly random: Random;
  /** The version of the first watch. */
  readonly from: number;
  /** A connection is closed after at most this number of events, so that the next one uses another replica. */
  readonly eventsMax: number;
}

const RETRY_MS = 100;
/** The annotation of the bookmark that ends the initial state of a stream. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * Watches one view until the signal aborts. Each connection uses another replica and starts at the newest version that the last one
 * received. After a 410, and sometimes at random, it restarts from the current state (`sendInitialEvents`).
 */
export async function runWatchClient(options: WatchClientOptions, signal: AbortSignal): Promise<void> {
  const { random, replicas, record } = options;
  let position: number | undefined = options.from;
  while (!signal.aborted) {
    const replica = random.below(replicas.length);
    const limit = 1 + random.below(options.eventsMax);
    const withState = position === undefined || random.below(10) === 0;
    const seconds = random.below(2) === 0 ? undefined : 1 + random.below(TIMEOUT_SECONDS_MAX);
    const from = withState ? undefined : position;
    const segment = await watchOnce(options, { replica, limit, from, seconds }, signal);
    if (segment !== undefined) {
      record.watches.push(segment);
      position = Math.max(segment.from, ...segment.events.map(({ version }) => version));
      if (segment.end === '410' || segment.end === 'error') position = undefined;
    }
    if (!signal.aborted) await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface Connection {
  readonly replica: number;
  readonly limit: number;
  /** Undefined: the watch starts with the current state. */
  readonly from: number | undefined;
  /** The timeout of the watch, which the server ends with a bookmark. */
  readonly seconds: number | undefined;
}

/** Undefined if there is no event to check. */
async function watchOnce(
  { name, view, replicas, random }: WatchClientOptions,
  { replica, limit, from, seconds }: Connection,
  signal: AbortSignal,
): Promise<WatchSegment | undefined> {
  const client = replicas[replica];
  if (client === undefined) return undefined;
  const reading = new SegmentReader(from);
  const over = new AbortController();
  const giveUp = (): void => {
    over.abort();
  };
  signal.addEventListener('abort', giveUp, { once: true });
  // A silent link would block it forever.
  const timer = setTimeout(giveUp, CONNECTION_MS_MIN + random.below(CONNECTION_MS_MAX - CONNECTION_MS_MIN));
  let end: WatchEnd = 'closed';
  try {
    const path = `${pathOf(view, view.namespace)}?${queryOf(view, from, seconds)}`;
    for await (const event of client.watch(path, over.signal)) {
      if (event.type === 'ERROR') {
        end = event.object.code === 410 ? '410' : 'error';
        break;
      }
      reading.take(event);
      if (reading.events.length >= limit) break;
    }
  } catch {
    end = 'broken';
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
  return reading.segment({ watcher: name, view: view.id, replica, end });
}

const TIMEOUT_SECONDS_MAX = 5;
const CONNECTION_MS_MIN = 1_000;
const CONNECTION_MS_MAX = 20_000;

/** The events of one connection, those of the initial state first if it was requested. */
class SegmentReader {
  readonly events: SegmentEvent[] = [];
  readonly #initial: ShownObject[] = [];
  #from: number | undefined;
  readonly #withState: boolean;

  constructor(from: number | undefined) {
    this.#from = from;
    this.#withState = from === undefined;
  }

  take({ type, object }: WatchEvent): void {
    const seen = shown(object);
    if (this.#from !== undefined) {
      this.events.push({ ...seen, type: type as WatchedType });
      return;
    }
    const isEnd = Object.keys(object.metadata?.annotations ?? {}).some((key) =>
      key.endsWith(INITIAL_EVENTS_END.slice(INITIAL_EVENTS_END.indexOf('/'))),
    );
    if (type === 'ADDED') this.#initial.push(seen);
    else if (type === 'BOOKMARK' && isEnd) this.#from = seen.version;
  }

  segment(about: Pick<WatchSegment, 'watcher' | 'view' | 'replica' | 'end'>): WatchSegment | undefined {
    // A 410 before any event is recorded here only.
    if (this.#from === undefined) return about.end === '410' ? { ...about, from: 0, events: [] } : undefined;
    const initial = this.#withState ? { initial: this.#initial } : {};
    return { ...about, from: this.#from, ...initial, events: this.events };
  }
}

function queryOf(view: View, from: number | undefined, seconds: number | undefined): string {
  const selector = labelSelectorOf(view);
  const start =
    from === undefined
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion: String(from) };
  return new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(seconds === undefined ? {} : { timeoutSeconds: String(seconds) }),
    ...start,
  }).toString();
}
