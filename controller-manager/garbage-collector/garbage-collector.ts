import type { Client } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import { pause } from '../../shared/concurrency/pause';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { runWorkers } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { ApiObject } from '../../shared/meta/object';
import { FINALIZER } from '../../shared/names';
import type { ControllerContext } from '../controller';
import { blockingDependents, deleteDependents, orphanDependents } from './dependents';
import { OwnershipGraph } from './graph';
import type { ObjectAddress } from './live-object';
import { addressOf, changeMetadata, getLive, withoutFinalizer } from './live-object';
import { isOrphaning, isWaiting } from './owners';

/** How often the server is asked for new resources, in milliseconds. */
const DISCOVERY_PERIOD_MS = 30_000;
const DISCOVERY_RETRY_MS = 1_000;
/**
 * How long the watches must have been open, and how long an owner is left alone after its deletion was seen, in milliseconds. Watches
 * of different resources are not ordered among each other: a dependent made just before may be told a little after.
 */
const SETTLE_MS = 500;
/** How soon to look again while the graph is not complete, in milliseconds. */
const GAP_RETRY_MS = 250;
/** How soon to look again at an owner whose dependents are going, should no event come, in milliseconds. */
const BLOCKED_RETRY_MS = 30_000;

export interface CollectorTimings {
  readonly discoveryPeriodMs?: number;
  readonly settleMs?: number;
}

/** Does what the finalizers `orphan` and `foregroundDeletion` ask for on objects that are being deleted, and takes them off. */
export async function runGarbageCollector(
  { client, log, options }: ControllerContext,
  signal: AbortSignal,
  timings: CollectorTimings = {},
): Promise<void> {
  const collector = new FinalizerCollector({ client, log, settleMs: timings.settleMs ?? SETTLE_MS });
  await Promise.all([
    collector.keepGraph(timings.discoveryPeriodMs ?? DISCOVERY_PERIOD_MS, signal),
    runWorkers(
      {
        queue: collector.queue,
        workers: options.concurrentGcSyncs,
        log,
        reconcile: async (uid, stop) => collector.reconcile(uid, stop),
      },
      signal,
    ),
  ]);
}

interface Pending {
  readonly address: ObjectAddress;
  /** Not to be worked on before this reading of the monotonic clock. */
  readonly readyMs: number;
}

class FinalizerCollector {
  /** Of uids. */
  readonly queue: WorkQueue = createWorkQueue();
  private readonly client: Client;
  private readonly log: Log;
  private readonly settleMs: number;
  private readonly graph: OwnershipGraph;
  /** The objects that wait for us, by uid: one entry per object that is being deleted with one of our finalizers. */
  private readonly pending = new Map<string, Pending>();

  constructor({
    client,
    log,
    settleMs,
  }: {
    readonly client: Client;
    readonly log: Log;
    readonly settleMs: number;
  }) {
    this.client = client;
    this.log = log;
    this.settleMs = settleMs;
    this.graph = new OwnershipGraph(client, log, (resource, before, after) => {
      this.onChange(resource, before, after);
    });
  }

  /** Keeps the graph up to date until the signal aborts and everything has ended. */
  async keepGraph(periodMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = periodMs;
      try {
        await this.graph.refresh(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.log.warn({ error: error instanceof Error ? error.message : String(error) }, 'discovery failed');
        waitMs = Math.min(DISCOVERY_RETRY_MS, periodMs);
      }
      await pause(waitMs, signal);
      const gaps = this.graph.gaps(0);
      if (gaps.length > 0 && this.pending.size > 0 && !signal.aborted) {
        this.log.warn({ gaps, waiting: this.pending.size }, 'dependents may be unknown, finalizers are kept');
      }
    }
    await this.graph.ended();
  }

  async reconcile(uid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const pending = this.pending.get(uid);
    if (pending === undefined) return undefined;
    const { address, readyMs } = pending;
    const earlyMs = readyMs - monotonicClock.now();
    if (earlyMs > 0) return { requeueAfterMs: earlyMs };
    // Nothing is concluded from the absence of dependents while some could be unseen.
    if (this.graph.gaps(this.settleMs).length > 0) return { requeueAfterMs: GAP_RETRY_MS };
    const owner = await getLive(this.client, address, signal);
    if (owner === undefined) return undefined;
    const scene = { client: this.client, graph: this.graph };
    if (isOrphaning(owner)) {
      await orphanDependents(scene, owner, signal);
      await this.release(address, FINALIZER.orphan, signal);
      return undefined;
    }
    if (!isWaiting(owner)) return undefined;
    await deleteDependents(scene, owner, signal);
    const blocking = blockingDependents(this.graph, owner);
    if (blocking.length > 0) return { requeueAfterMs: BLOCKED_RETRY_MS };
    await this.release(address, FINALIZER.foregroundDeletion, signal);
    return undefined;
  }

  private async release(address: ObjectAddress, finalizer: string, signal: AbortSignal): Promise<void> {
    await changeMetadata(this.client, { address, change: withoutFinalizer(finalizer) }, signal);
    const { resource, namespace, name } = address;
    this.log.debug(
      { resource: resource.resource, namespace, object: name, finalizer },
      'released a finalizer',
    );
  }

  private onChange(resource: ResourceRow, before?: ApiObject, after?: ApiObject): void {
    const uid = (after ?? before)?.metadata.uid ?? '';
    if (after !== undefined && (isOrphaning(after) || isWaiting(after))) {
      const readyMs = this.pending.get(uid)?.readyMs ?? monotonicClock.now() + this.settleMs;
      this.pending.set(uid, { address: addressOf(resource, after), readyMs });
      this.queue.add(uid);
    } else {
      this.pending.delete(uid);
    }
    // An owner may wait for exactly this change of its dependent.
    for (const object of [before, after]) {
      for (const reference of object?.metadata.ownerReferences ?? []) {
        if (this.pending.has(reference.uid)) this.queue.add(reference.uid);
      }
    }
  }
}
