import { deepEqual } from '../../shared/object/clone';
import { RESOURCE } from '../../shared/api/resource-names';
import type { ResourceQuota } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import { pause } from '../../shared/concurrency/pause';
import { TIMER_MAX_MS } from '../../shared/concurrency/timer-max';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { Log } from '../../shared/log/log';
import type { Amounts } from '../../shared/quota/amounts';
import { NOTHING, areEqual, isMore, formatResourceList, subtractAmounts } from '../../shared/quota/amounts';
import type { Evaluator } from '../../shared/quota/measure';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import type { Countable, CountedObject } from './counted-objects';
import { CountedObjects } from './counted-objects';
import type { NextStatus } from './next-status';
import { nextStatus } from './next-status';
import { hardOf, statusOf } from './quota-object';
import { RecentCharges } from './recent-charges';
import { tally } from './tally';

const WORKERS = 5;
/** Interval of the periodic calculation of every quota, in milliseconds. */
const SYNC_PERIOD_MS = 300_000;
/** Interval of discovery, in milliseconds; shorter while a quota names an unknown resource. */
const DISCOVERY_PERIOD_MS = 30_000;
const DISCOVERY_MISSING_MS = 5_000;
const DISCOVERY_RETRY_MS = 1_000;
/**
 * Within this time a charged object is stored or will not come: longer than a replica waits for etcd and etcd for a leader. A seen object
 * settles its charge at once.
 */
const SETTLE_MS = 20_000;
/** Retry interval for unsettled quotas, and how long a watch must be open before it is trusted, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;
/** Minimum interval between two calculations of one quota, in milliseconds. */
const PACE_MS = 100;
/** Retry interval for objects that are not listed yet, and how long the others wait for them, in milliseconds. */
const UNKNOWN_RETRY_MS = 50;
const UNKNOWN_WAIT_MS = 5_000;
const BY_NAMESPACE = 'namespace';

export interface QuotaTimings {
  readonly settleMs?: number;
  readonly paceMs?: number;
  readonly discoveryPeriodMs?: number;
}

/** Keeps the status of quotas: limits and usage of the existing objects. */
export async function runResourceQuota(
  { client, log, options, createQueue, clock }: ControllerContext,
  signal: AbortSignal,
  timings: QuotaTimings = {},
): Promise<void> {
  const keeper = new QuotaKeeper({ client, log, clock, timings, queue: createQueue() }, signal);
  const periodMs = Math.min(options.resourceQuotaSyncPeriodMs ?? SYNC_PERIOD_MS, TIMER_MAX_MS);
  const resync = setInterval(() => keeper.enqueueAll(), periodMs);
  resync.unref();
  try {
    await Promise.all([
      keeper.keepDiscovering(signal),
      runInformedLoop(
        {
          informers: [keeper.quotas],
          queue: keeper.queue,
          workers: options.concurrentResourceQuotaSyncs ?? WORKERS,
          log,
          reconcile: async (key, stop) => keeper.reconcile(key, stop),
        },
        signal,
      ),
    ]);
  } finally {
    clearInterval(resync);
  }
}

interface KeeperParts {
  readonly client: Client;
  readonly log: Log;
  readonly clock: Clock;
  readonly timings: QuotaTimings;
  /** Keys are `namespace/name`. */
  readonly queue: WorkQueue;
}

class QuotaKeeper {
  readonly queue: WorkQueue;
  readonly quotas: Informer<ResourceQuota>;
  readonly #client: Client;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #settleMs: number;
  readonly #paceMs: number;
  readonly #lookAgainMs: number;
  readonly #discoveryPeriodMs: number;
  readonly #counted: CountedObjects;
  readonly #charges: RecentCharges;
  /** Last calculation of each quota by the monotonic clock; one entry for each quota. */
  readonly #calculatedMs = new Map<string, number>();
  readonly #shutdownSignal: AbortSignal;

  constructor({ client, log, clock, timings, queue }: KeeperParts, shutdownSignal: AbortSignal) {
    this.queue = queue;
    this.#client = client;
    this.#log = log;
    this.#shutdownSignal = shutdownSignal;
    this.#clock = clock;
    this.#settleMs = timings.settleMs ?? SETTLE_MS;
    this.#paceMs = timings.paceMs ?? PACE_MS;
    this.#lookAgainMs = Math.min(this.#settleMs, LOOK_AGAIN_MS) + 1;
    this.#discoveryPeriodMs = timings.discoveryPeriodMs ?? DISCOVERY_PERIOD_MS;
    this.#charges = new RecentCharges(monotonicClock, this.#settleMs);
    this.quotas = createInformer({
      client,
      resource: RESOURCE.resourcequotas,
      log,
      indexers: { [BY_NAMESPACE]: ({ metadata: { namespace = '' } }) => [namespace] },
    });
    this.quotas.addHandler({
      onAdd: (quota) => this.#onQuota(undefined, quota),
      onUpdate: (before, after) => this.#onQuota(before, after),
      onDelete: (quota) => this.#forget(keyOfObject(quota)),
    });
    const listener = (evaluator: Evaluator, before?: CountedObject, after?: CountedObject): void => {
      this.#onObject(evaluator, before, after);
    };
    this.#counted = new CountedObjects({ client, log, clock: monotonicClock, listener });
  }

  enqueueAll(): void {
    for (const key of this.quotas.store.keys()) this.queue.add(key);
  }

  /** Runs discovery until the signal aborts and all informers have ended. */
  async keepDiscovering(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = this.#discoveryPeriodMs;
      try {
        if (await this.#counted.refresh(signal)) this.enqueueAll();
        if (this.#dropUnwanted()) waitMs = Math.min(waitMs, DISCOVERY_MISSING_MS);
      } catch (error) {
        if (signal.aborted) break;
        this.#log.warn({ error: error instanceof Error ? error.message : String(error) }, 'discovery failed');
        waitMs = Math.min(waitMs, DISCOVERY_RETRY_MS);
      }
      await pause(waitMs, signal);
    }
    await this.#counted.ended();
  }

  /** Stops informers that no quota needs. Returns true if a quota names a resource that nothing measures. */
  #dropUnwanted(): boolean {
    if (!this.quotas.hasSynced()) return true;
    const names = [...new Set(this.quotas.store.list().flatMap((quota) => [...hardOf(quota).keys()]))];
    const wanted = this.#counted.countableFor(names) ?? [];
    this.#counted.keepOnly(wanted);
    return names.some((name) => !wanted.some(({ evaluator }) => evaluator.measures(name)));
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const quota = this.quotas.store.get(key);
    if (quota === undefined) return undefined;
    const tooSoonMs = (this.#calculatedMs.get(key) ?? -this.#paceMs) + this.#paceMs - monotonicClock.now();
    if (tooSoonMs > 0) return { requeueAfterMs: tooSoonMs };
    const countable = this.#counted.countableFor([...hardOf(quota).keys()]);
    if (countable === undefined) return { requeueAfterMs: UNKNOWN_RETRY_MS };
    for (const each of countable) this.#counted.follow(each, this.#shutdownSignal);
    const unknown = countable.filter((each) => this.#objectsFor(quota, each) === undefined);
    if (unknown.some((each) => this.#counted.followedForMs(each) < UNKNOWN_WAIT_MS)) {
      return { requeueAfterMs: UNKNOWN_RETRY_MS };
    }
    this.#calculatedMs.set(key, monotonicClock.now());
    const again = await this.#calculate(quota, countable, signal);
    if (unknown.length > 0) {
      const resources = unknown.map(({ row }) => row.resource).join(', ');
      throw new Error(`failed to list the resources that quotas count: ${resources}`);
    }
    return again;
  }

  #objectsFor({ metadata }: ResourceQuota, countable: Countable): readonly CountedObject[] | undefined {
    return this.#counted.in(metadata.namespace ?? '', countable);
  }

  async #calculate(
    quota: ResourceQuota,
    countable: readonly Countable[],
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const nowMs = this.#clock.now();
    let { next, nextChangeMs } = this.#computeStatus(quota, countable, { nowMs, current: countable });
    if (givesBack(quota, next)) {
      const current = await this.#currentOf(quota, countable, signal);
      // Calculate again: the result before the confirmation is unreliable.
      ({ next, nextChangeMs } = this.#computeStatus(quota, countable, { nowMs, current }));
    }
    if (next.isChanged && !(await this.#write(quota, next, signal))) return { requeueAfterMs: PACE_MS };
    if (!next.isSettled) return { requeueAfterMs: this.#lookAgainMs };
    return nextChangeMs === undefined ? undefined : { requeueAfterMs: nextChangeMs - nowMs + 1 };
  }

  /** Computes the status from what is known now. Only usage that current resources measure is released. */
  #computeStatus(
    quota: ResourceQuota,
    countable: readonly Countable[],
    { nowMs, current }: { readonly nowMs: number; readonly current: readonly Countable[] },
  ): { readonly next: NextStatus; readonly nextChangeMs: number | undefined } {
    const groups = countable.flatMap((each) => {
      const objects = this.#objectsFor(quota, each);
      return objects === undefined ? [] : [{ countable: each, objects }];
    });
    const { counted, nextChangeMs } = tally(quota, groups, nowMs);
    const key = keyOfObject(quota);
    if (!this.#charges.has(key)) this.#charges.open(key, statusOf(quota).used, counted);
    // If an event may have been missed just now, no charge is released.
    const doubtful = countable.filter(
      (each) => !current.includes(each) || this.#counted.watchedForMs(each) < this.#lookAgainMs,
    );
    const held = [...statusOf(quota).used].filter(([name]) =>
      doubtful.some(({ evaluator }) => evaluator.measures(name)),
    );
    const recent = new Map([...this.#charges.of(key), ...held]);
    return { next: nextStatus(quota, { counted, recent }), nextChangeMs };
  }

  /** Returns the resources whose objects are confirmed to be current. One that cannot be read does not hold up the others. */
  async #currentOf(
    { metadata: { namespace = '' } }: ResourceQuota,
    countable: readonly Countable[],
    signal: AbortSignal,
  ): Promise<readonly Countable[]> {
    const answers = await Promise.allSettled(
      countable.map(async (each) => this.#counted.isCurrent(namespace, each, signal)),
    );
    signal.throwIfAborted();
    return countable.filter((_each, index) => {
      const answer = answers[index];
      return answer?.status === 'fulfilled' && answer.value;
    });
  }

  /** Returns false if the quota was charged meanwhile: the calculation is outdated. */
  async #write(quota: ResourceQuota, { hard, used }: NextStatus, signal: AbortSignal): Promise<boolean> {
    const status = { hard: formatResourceList(hard), used: formatResourceList(used) };
    try {
      const { metadata } = await this.#client.updateStatus(
        RESOURCE.resourcequotas,
        { ...quota, status },
        { signal },
      );
      this.#charges.wrote(keyOfObject(quota), Number(metadata.resourceVersion));
      return true;
    } catch (error) {
      if (hasCode(error, 409)) return false;
      if (hasCode(error, 404)) return true;
      throw error;
    }
  }

  #onQuota(before: ResourceQuota | undefined, after: ResourceQuota): void {
    const key = keyOfObject(after);
    const { hard, used } = statusOf(after);
    const usedBefore = before === undefined ? NOTHING : statusOf(before).used;
    this.#charges.charged(key, Number(after.metadata.resourceVersion), { before: usedBefore, after: used });
    if (before === undefined || !areEqual(hardOf(after), hard)) this.queue.add(key);
    else if (!areEqual(used, usedBefore)) this.queue.addAfter(key, this.#lookAgainMs);
  }

  /** Additional usage of the object was charged and has arrived. */
  #settle(
    quota: ResourceQuota,
    evaluator: Evaluator,
    { before, after }: { readonly before: CountedObject | undefined; readonly after: CountedObject },
  ): void {
    const nowMs = this.#clock.now();
    const usedBy = (objects: readonly CountedObject[]): Amounts =>
      tally(quota, [{ countable: { evaluator }, objects }], nowMs).counted;
    const uses = before === undefined ? usedBy([after]) : subtractAmounts(usedBy([after]), usedBy([before]));
    this.#charges.stored(keyOfObject(quota), Number(after.metadata.resourceVersion), uses);
  }

  #forget(key: string): void {
    this.#charges.forget(key);
    this.#calculatedMs.delete(key);
  }

  /** Released usage is free at once; new usage was charged and is confirmed later. */
  #onObject(evaluator: Evaluator, before?: CountedObject, after?: CountedObject): void {
    if (before !== undefined && after !== undefined && isSame(before, after)) return;
    const { namespace = '' } = (after ?? before)?.metadata ?? {};
    for (const quota of this.quotas.store.byIndex(BY_NAMESPACE, namespace)) {
      if (![...hardOf(quota).keys()].some((name) => evaluator.measures(name))) continue;
      if (after !== undefined) this.#settle(quota, evaluator, { before, after });
      if (before === undefined) this.queue.addAfter(keyOfObject(quota), this.#lookAgainMs);
      else this.queue.add(keyOfObject(quota));
    }
  }
}

/** Reports whether the status would release anything. */
function givesBack(quota: ResourceQuota, { used }: NextStatus): boolean {
  const before = statusOf(quota).used;
  return [...used].some(([name, amount]) => {
    const was = before.get(name);
    return was !== undefined && isMore(was, amount);
  });
}

function isSame({ measured: a }: CountedObject, { measured: b }: CountedObject): boolean {
  if (a === b) return true;
  if (!areEqual(a.usage, b.usage) || a.later?.fromMs !== b.later?.fromMs) return false;
  return deepEqual(a.scopes, b.scopes);
}
