import type { Clock } from '../../../shared/concurrency/clock';
import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import type { Backend, Revision, StoredRecord } from '../storage/backend';
import { Confirmation } from './feed/confirmation';
import type { CacheOwner, CacheServices, WaitOptions } from './context';
import { clusterStats, createCacheServices } from './context';
import type { DrainOptions } from './fan-out/drain';
import { WatchDrain } from './fan-out/drain';
import type { CachedResource } from './state/entry';
import type { DecodedValues } from './state/entry-codec';
import { Feed } from './feed/feed';
import type { Freshness, FreshnessNeeds } from './freshness';
import { freshen } from './freshness';
import { KeyRouter } from './feed/key-router';
import type { CacheLimits } from './limits';
import { DEFAULT_LIMITS } from './limits';
import { ReadIndex } from './feed/read-index';
import { RecentObjects } from './recent-objects';
import { ResourceCache } from './resource-cache';
import { ResourceFill } from './feed/resource-fill';
import { RevisionAges } from './feed/revision-ages';
import { RevisionWaiters } from './feed/revision-waiters';
import { QueueRelief } from './fan-out/queue-relief';
import type { SelfCheckTarget } from './feed/self-check-loop';
import { checkAll, keepChecking } from './feed/self-check-loop';
import type { CacheStats, WatcherInfo } from './stats';

/** Which resources a cache fills at its start. */
export type CacheFills = 'everything' | 'on demand';

export interface ClusterCacheOptions {
  readonly backend: Backend;
  /** `/registry`: without a trailing slash. */
  readonly prefix: string;
  readonly resources: readonly CachedResource[];
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<CacheLimits>;
  /**
   * `on demand`: a resource is filled when a reader first waits for it (`whenReady`); until then its events are skipped. By default all
   * resources are filled at the start.
   */
  readonly fills?: CacheFills;
  /** What was decoded from values that the backend returns again; absent if it returns new bytes each time. */
  readonly decoded?: DecodedValues | undefined;
}

/**
 * The watch cache of one replica: all resources, fed by one watch of the whole keyspace. It holds the state of one revision and applies
 * the next revision to all resources in one synchronous step.
 */
export class ClusterCache {
  /** Recent writes of this replica, so that their events need not be parsed again. */
  readonly recent = new RecentObjects();
  readonly #services: CacheServices;
  readonly #relief: QueueRelief;
  readonly #router: KeyRouter<ResourceCache>;
  /** Resources that are refilled one by one while the feed continues. */
  readonly #fills = new Map<ResourceCache, ResourceFill>();
  /** Resources that take part in the fill of the whole cache. A resource that is added during it would miss records. */
  #filling = new Set<ResourceCache>();
  /** The requested resources of a cache that fills on demand; undefined if all resources are filled. */
  readonly #wanted: Set<ResourceCache> | undefined;
  readonly #feed: Feed;
  readonly #readIndex: ReadIndex;
  readonly #waiters = new RevisionWaiters();
  readonly #confirmation = new Confirmation();
  readonly #ages: RevisionAges;
  readonly #drain = new WatchDrain(() => [...this.#router.values()]);
  readonly #owner: CacheOwner = {
    revision: () => this.#revision,
    refusesWatches: () => this.#drain.refusesNew,
    relieveQueues: () => this.#relief.begin(),
    waitForRevision: (revision, options) => this.#waitForRevision(revision, options),
    requestFill: (keyPrefix) => {
      // A request may still use the cache of a resource that was removed.
      const cache = this.#router.get(keyPrefix);
      if (cache !== undefined) this.#requestFill(cache);
    },
  };
  #revision = 0;
  #isFilled = false;
  #notReady: string | undefined = 'the watch cache is not started';
  #shutdownSignal: AbortSignal | undefined;

  constructor(options: ClusterCacheOptions) {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { backend, prefix, log, clock, decoded, fills = 'everything' } = options;
    this.#wanted = fills === 'everything' ? undefined : new Set();
    const services = createCacheServices({
      backend,
      prefix,
      log,
      clock,
      limits,
      recent: this.recent,
      decoded,
    });
    const { counters, delays } = services;
    this.#services = services;
    this.#relief = new QueueRelief(this.#services.scheduler.queues, () => [...this.#router.values()]);
    this.#ages = new RevisionAges(limits.continueAgeMaxMs);
    this.#router = new KeyRouter(`${prefix}/`);
    for (const resource of options.resources) this.#add(resource);
    this.#feed = new Feed({
      backend,
      // A cache that fills on demand starts empty: no key contains two slashes after the prefix.
      prefix: this.#wanted === undefined ? `${prefix}/` : `${prefix}//`,
      limits,
      log,
      counters,
      delays,
      target: this.#target(),
    });
    this.#readIndex = new ReadIndex({
      read: (signal) => backend.currentRevision(signal),
      timeoutMs: limits.readIndexTimeoutMs,
      counters,
    });
  }

  /** The newest revision that is fully applied; 0 before the first fill and during a rebuild. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Fills the cache and follows the store until `signal` aborts. Resolves when the cache is ready. Retries while the store is unavailable;
   * rejects with permanent errors, e.g. StorageError `denied`.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#shutdownSignal = signal;
    this.#notReady = 'the watch cache is being initialized';
    await this.#feed.start(signal);
    void this.#feed.follow(signal);
    void keepChecking(this.#checkTarget(), signal);
    const sweeper = setInterval(() => {
      this.sweep();
    }, this.#services.limits.sweepIntervalMs);
    sweeper.unref();
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(sweeper);
        this.#notReady = 'the watch cache is stopped';
      },
      { once: true },
    );
  }

  /** The reason why the cache is not ready, for the health check; undefined if it is. */
  notReadyReason(): string | undefined {
    return this.#notReady;
  }

  /** Whether a resource is filled only when it is requested. */
  get fillsOnDemand(): boolean {
    return this.#wanted !== undefined;
  }

  /** Fills the resource and keeps it up to date from now on, if the cache fills on demand. */
  want(keyPrefix: string): void {
    this.#requestFill(this.resource(keyPrefix));
  }

  /** Resolves when all resources requested so far are filled. */
  async whenWantedReady(signal: AbortSignal): Promise<void> {
    await Promise.all([...(this.#wanted ?? [])].map(async (cache) => cache.whenReady(signal)));
  }

  hasResource(keyPrefix: string): boolean {
    return this.#router.get(keyPrefix) !== undefined;
  }

  /**
   * The cache of the resource stored below this prefix (`core/pods/`). Throws NotFound (404) when there is none: a custom resource
   * definition can be deleted during a request.
   */
  resource(keyPrefix: string): ResourceCache {
    const cache = this.#router.get(keyPrefix);
    if (cache !== undefined) return cache;
    throw new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });
  }

  /** Starts to cache one more resource. It is filled in the background, at a revision of its own. */
  addResource(resource: CachedResource): ResourceCache {
    if (this.#router.get(resource.keyPrefix) !== undefined) {
      throw new Error(`${resource.keyPrefix} is cached already`);
    }
    const cache = this.#add(resource);
    if (this.#isFilled) this.#refill(cache);
    return cache;
  }

  /** Ends the watches of the resource and drops its objects. */
  removeResource(keyPrefix: string): void {
    const cache = this.resource(keyPrefix);
    this.#fills.get(cache)?.cancel();
    this.#fills.delete(cache);
    this.#router.remove(keyPrefix);
    this.#wanted?.delete(cache);
    cache.close();
  }

  /** Discards the state of one resource, ends its watches with 410 and refills it. Other resources are not affected. */
  rebuildResource(keyPrefix: string, why: string): void {
    const cache = this.resource(keyPrefix);
    this.#services.counters.rebuilds += 1;
    this.#services.log.error(
      { resource: cache.resource.name, reason: why },
      'watch cache of a resource is being rebuilt',
    );
    if (this.#isFilled) this.#refill(cache);
  }

  /** Compares every resource with the store once, and rebuilds those that differ. Also runs every `checkIntervalMs`. */
  async check(signal: AbortSignal): Promise<void> {
    await checkAll(this.#checkTarget(), signal);
  }

  /** Waits until the cache is as fresh as a reader needs it; see {@link freshen}. */
  async freshen(needs: FreshnessNeeds, signal: AbortSignal): Promise<Freshness> {
    return freshen(this, needs, signal);
  }

  /** A revision at or above every write acknowledged before this call (read index). Calls are batched: see {@link ReadIndex}. */
  async readIndex(signal: AbortSignal): Promise<number> {
    const requestedAt = this.#confirmation.now();
    const revision = await this.#readIndex.read(signal);
    this.#confirmation.noteReadIndex(revision, { requestedAt, seen: this.#revision });
    return revision;
  }

  /** Whether the cache provably holds every write acknowledged `ms` milliseconds ago; see {@link Confirmation}. Always false if it fills on demand. */
  isConfirmedWithin(ms: number): boolean {
    return this.#wanted === undefined && this.#isFilled && this.#confirmation.isWithin(ms);
  }

  /** Whether continue tokens of this revision have expired, even if its state were still available. */
  isTooOldToContinue(revision: number): boolean {
    return this.#ages.hasExpired(revision, this.#services.clock.now());
  }

  /** Whether the cache reaches `revision` in time; false also when the signal aborts. */
  async waitForRevision(revision: number, options: WaitOptions): Promise<boolean> {
    if (this.#isFilled && this.#revision >= revision) return true;
    const startedAt = performance.now();
    const isThere = await this.#waitForRevision(revision, options);
    if (isThere) this.#services.delays.toCache.observe(performance.now() - startedAt);
    return isThere;
  }

  /** Ends every watch; see {@link WatchDrain}. */
  async drain(options: DrainOptions, signal: AbortSignal): Promise<void> {
    await this.#drain.run(options, signal);
  }

  /** Whether new watches are refused because the replica shuts down soon. */
  get refusesWatches(): boolean {
    return this.#drain.refusesNew;
  }

  /** Drops old events and snapshots and sends due bookmarks. Also runs every `sweepIntervalMs`. */
  sweep(): void {
    const now = this.#services.clock.now();
    if (this.#isFilled) this.#ages.note(this.#revision, now);
    for (const cache of this.#router.values()) cache.sweep(now);
    this.#services.snapshots.enforce(now);
  }

  stats(): CacheStats {
    return clusterStats(this.#services, this.#revision, [...this.#router.values()]);
  }

  /** Every open watch. */
  watchers(): WatcherInfo[] {
    return [...this.#router.values()].flatMap((cache) => cache.watches.infos());
  }

  async #waitForRevision(revision: number, options: WaitOptions): Promise<boolean> {
    return this.#isFilled && this.#revision >= revision ? true : this.#waiters.wait(revision, options);
  }

  #checkTarget(): SelfCheckTarget {
    return {
      services: this.#services,
      resources: () => [...this.#router.values()],
      rebuild: (keyPrefix, why) => {
        this.rebuildResource(keyPrefix, why);
      },
    };
  }

  #add(resource: CachedResource): ResourceCache {
    const cache = new ResourceCache(resource, this.#services, this.#owner);
    this.#router.add(resource.keyPrefix, cache);
    return cache;
  }

  /** Adds the resource to those that are kept up to date. */
  #requestFill(cache: ResourceCache): void {
    if (this.#isSkipped(cache)) {
      this.#wanted?.add(cache);
      if (this.#isFilled) this.#refill(cache);
    }
  }

  #isSkipped(cache: ResourceCache): boolean {
    return this.#wanted !== undefined && !this.#wanted.has(cache);
  }

  #refill(cache: ResourceCache): void {
    if (this.#isSkipped(cache)) return;
    this.#fills.get(cache)?.cancel();
    const filling = new ResourceFill(cache, () => {
      this.#fills.delete(cache);
    });
    this.#fills.set(cache, filling);
    void filling.run(this.#shutdownSignal);
  }

  #target(): ConstructorParameters<typeof Feed>[0]['target'] {
    return {
      lost: (why) => {
        this.#notReady = `the watch cache is being rebuilt: ${why}`;
        this.#isFilled = false;
        this.#revision = 0;
        this.#confirmation.forget();
        this.#ages.forget();
        for (const filling of this.#fills.values()) filling.cancel();
        this.#fills.clear();
        for (const cache of this.#router.values()) cache.beginFill(0);
      },
      begin: (revision) => {
        this.#filling = new Set(this.#wanted === undefined ? this.#router.values() : []);
        for (const cache of this.#filling) cache.beginFill(revision);
      },
      load: (record) => {
        this.#load(record);
      },
      filled: (revision) => {
        this.#isFilled = true;
        this.#revision = revision;
        this.#notReady = undefined;
        // A listener that learns of the fill may add another resource.
        const caches = Array.from(this.#router.values());
        for (const cache of caches) {
          if (this.#filling.has(cache)) cache.endFill();
          else this.#refill(cache);
        }
        this.#filling.clear();
        this.#ages.note(revision, this.#services.clock.now());
        this.#waiters.advance(revision);
      },
      apply: (revision) => {
        this.#apply(revision);
      },
    };
  }

  #load(record: StoredRecord): void {
    const target = this.#router.route(record.key);
    if (target !== undefined && this.#filling.has(target.value)) target.value.load(target.key, record);
  }

  #apply({ revision, events }: Revision): void {
    for (const event of events) {
      const target = this.#router.route(event.key);
      if (target === undefined || this.#isSkipped(target.value)) continue;
      const filling = this.#fills.get(target.value);
      if (filling === undefined) target.value.apply(target.key, event, revision);
      else filling.hold(target.key, event, revision);
    }
    this.#revision = revision;
    this.#confirmation.noteApplied(revision);
    this.#ages.note(revision, this.#services.clock.now());
    if (events.length > 0) this.#services.rings.enforce();
    this.#waiters.advance(revision);
  }
}
