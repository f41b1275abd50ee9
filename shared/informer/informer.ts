import { sleep, untilAborted } from '../concurrency/abort';
import { Backoff } from '../concurrency/backoff';
import type { Clock } from '../concurrency/clock';
import { pause } from '../concurrency/pause';
import { monotonicClock } from '../concurrency/monotonic-clock';
import type { Client } from '../client/client';
import { ConnectionError } from '../client/connection-error';
import type { Selection, WatchEvent } from '../client/options';
import { hasCode, isExpired } from '../client/status';
import { getRetryAfterMs, StatusError } from '../errors/status-error';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import type { ApiObject, ResourceOf } from '../object/object';
import { resourceNameOf } from '../object/object';
import type { Handler } from './mirror';
import { Mirror } from './mirror';
import { WatchPosition } from './position';
import type { Indexers, Store } from './store';

/** `Read` is what the server has, `T` what is kept of it. */
export interface InformerOptions<Read extends ApiObject, T extends ApiObject> extends Selection {
  readonly client: Client;
  readonly resource: ResourceOf<Read>;
  readonly indexers?: Indexers<T>;
  /** Cuts an object down to what is needed before it is kept; must leave name, namespace, uid and resourceVersion. */
  readonly transform?: (object: Read) => T;
  /** Accept headers of the list and of the watch (METADATA_ONLY); plain JSON if not given. */
  readonly accept?: { readonly list: string; readonly object: string };
  readonly log?: Log;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** The bounds of the wait after a failure, in milliseconds. */
  readonly retry?: { readonly initialMs: number; readonly maxMs: number };
}

/**
 * A local copy of one collection with notification of every change. Each handler sees, per object, add, then updates, then delete,
 * without duplicates or regressions (client-go's reflector and informer in one); changes missed between two lists are delivered as differences.
 */
export interface Informer<T extends ApiObject> {
  readonly store: Store<T>;
  /** Reports whether the first list is in the store and was delivered to the handlers. */
  hasSynced(): boolean;
  /** Resolves once `hasSynced`; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** For how long a watch has been open without a break, in milliseconds; 0 if none is open. */
  watchingForMs(): number;
  /** Adds a handler; a late one gets an add for every object. Returns its removal. */
  addHandler(handler: Handler<T>): () => void;
  /** Lists and watches until the signal aborts, then resolves. To be called once. */
  run(signal: AbortSignal): Promise<void>;
}

const RETRY = { initialMs: 200, maxMs: 10_000 };
const WATCH_SECONDS_MIN = 300;
const WATCH_SECONDS_MAX = 600;
/** After this many refusals in a row the version itself is suspected (a restored store), and everything is listed again. */
const REFUSALS_MAX = 3;
/** Answers of a server, or of a balancer before it, that has no time: a list would cost it more than the watch that it refuses. */
const BUSY_CODES = [429, 502, 503] as const;
const RETRY_AFTER_MAX_MS = 60_000;
/** A watch that ends sooner with nothing in it counts as a failure, so that a server that ends every watch is not stormed. */
const WATCH_MIN_MS = 1_000;

export function createInformer<Read extends ApiObject = ApiObject, T extends ApiObject = Read>(
  options: InformerOptions<Read, T>,
): Informer<T> {
  const loop = new ListWatch<Read, T>(options);
  return {
    store: loop.mirror.store,
    hasSynced: () => loop.isSynced,
    whenSynced: async (signal) => untilAborted(loop.synced, signal),
    watchingForMs: () => loop.watchingForMs(),
    addHandler: (handler) => loop.mirror.addHandler(handler),
    run: async (signal) => loop.run(signal),
  };
}

class ListWatch<Read extends ApiObject, T extends ApiObject> {
  readonly mirror: Mirror<T>;
  readonly synced: Promise<void>;
  isSynced = false;
  readonly #options: InformerOptions<Read, T>;
  readonly #transform: (object: Read) => T;
  readonly #backoff: Backoff;
  readonly #random: () => number;
  readonly #clock: Clock;
  readonly #log: Log;
  #markSynced: () => void = () => undefined;
  #position: WatchPosition | undefined;
  #watchingSince: number | undefined;
  #refusals = 0;

  constructor(options: InformerOptions<Read, T>) {
    this.#options = options;
    this.#log = (options.log ?? silentLog).child({ resource: resourceNameOf(options.resource) });
    this.mirror = new Mirror<T>(options.indexers ?? {}, this.#log);
    this.#transform = options.transform ?? ((object) => object as ApiObject as T);
    this.#random = options.random ?? Math.random;
    this.#clock = options.clock ?? monotonicClock;
    this.#backoff = new Backoff({ ...(options.retry ?? RETRY), random: this.#random });
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
  }

  watchingForMs(): number {
    return this.#watchingSince === undefined ? 0 : this.#clock.now() - this.#watchingSince;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#position ??= await this.#list(signal);
        await this.#watch(this.#position, signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      } finally {
        this.#watchingSince = undefined;
      }
    }
  }

  async #list(signal: AbortSignal): Promise<WatchPosition> {
    const { client, resource, accept, namespace, labelSelector, fieldSelector } = this.#options;
    // No resourceVersion: a consistent list, so that a relist never goes back in time.
    const list = await client.listAll(resource, {
      namespace,
      labelSelector,
      fieldSelector,
      accept: accept?.list,
      signal,
    });
    this.mirror.replace(list.items.map(this.#transform));
    this.isSynced = true;
    this.#markSynced();
    return new WatchPosition(list.metadata.resourceVersion ?? '');
  }

  async #watch(position: WatchPosition, signal: AbortSignal): Promise<void> {
    const { client, resource, accept, namespace, labelSelector, fieldSelector } = this.#options;
    const startedMs = this.#clock.now();
    const seconds = WATCH_SECONDS_MIN + this.#random() * (WATCH_SECONDS_MAX - WATCH_SECONDS_MIN);
    let events = 0;
    const watch = client.watch(resource, {
      namespace,
      labelSelector,
      fieldSelector,
      resourceVersion: position.resumeVersion(),
      allowWatchBookmarks: true,
      timeoutSeconds: Math.floor(seconds),
      accept: accept?.object,
      signal,
      onOpen: () => {
        this.#reportConnection();
        this.#watchingSince = this.#clock.now();
      },
    });
    for await (const event of watch) {
      const order = position.order(event);
      // A resumed watch starts one version earlier and may send that bookmark first.
      if (order === 'backwards' && event.type === 'BOOKMARK') continue;
      if (order === 'backwards') throw new BackwardsError(event.object.metadata.resourceVersion ?? '');
      events += 1;
      if (order === 'duplicate' && event.type !== 'BOOKMARK') continue;
      if (event.type !== 'BOOKMARK') this.#take(event);
      // Only after the store has it: an event that could not be applied is delivered again.
      position.advance(event);
    }
    signal.throwIfAborted();
    if (events === 0 && this.#clock.now() - startedMs < WATCH_MIN_MS)
      await sleep(this.#backoff.next(), signal);
    else this.#progress();
  }

  #take({ type, object }: WatchEvent<Read>): void {
    const kept = this.#transform(object);
    if (type === 'DELETED') this.mirror.remove(kept);
    else this.mirror.put(kept);
    this.#progress();
  }

  #progress(): void {
    this.#refusals = 0;
    this.#backoff.reset();
  }

  /** Decides where to continue after a failure, and waits. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof StatusError && !hasCode(error, ...BUSY_CODES)) this.#refusals += 1;
    const isLost = isExpired(error) || error instanceof BackwardsError || this.#refusals >= REFUSALS_MAX;
    if (isLost) {
      this.#position = undefined;
      this.#refusals = 0;
    }
    const waitMs = Math.max(this.#backoff.next(), Math.min(getRetryAfterMs(error) ?? 0, RETRY_AFTER_MAX_MS));
    const fields = {
      error: error instanceof Error ? error.message : String(error),
      waitMs: Math.round(waitMs),
    };
    if (isExpired(error)) this.#log.debug(fields, 'resource version of the watch expired; relisting');
    else if (error instanceof ConnectionError) this.#reportOutage(fields);
    else
      this.#log.warn(fields, isLost ? 'list and watch failed; relisting' : 'list or watch failed; retrying');
    await pause(waitMs, signal);
  }

  /** All informers of a server lose their connections together: the first one reports it, the others only for debugging. */
  #reportOutage(fields: object): void {
    const { outage } = this.#options.client;
    if (outage?.isReported === true) this.#log.debug(fields, 'list or watch failed; retrying');
    else this.#log.warn(fields, 'connection to the API server failed; retrying all lists and watches');
    if (outage !== undefined) outage.isReported = true;
  }

  #reportConnection(): void {
    const { outage } = this.#options.client;
    if (outage?.isReported !== true) return;
    outage.isReported = false;
    this.#log.info({}, 'connected to the API server again');
  }
}

/** A watch delivered an older version than before. */
class BackwardsError extends Error {
  constructor(version: string) {
    super(`the watch went back to version ${version}`);
    this.name = 'BackwardsError';
  }
}
