import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import { FINALIZER } from '../../shared/names';
import { blockingDependents, deleteDependents, orphanDependents } from './dependents';
import type { ObjectAddress } from '../runtime/live-object';
import { addressOf, changeMetadata, getLive, withoutFinalizer } from '../runtime/live-object';
import type { OwnerSources } from './owners';
import { isOrphaning, isWaiting } from './owners';
import type { Located } from './references';

/** Retry interval while the graph has gaps, in milliseconds. */
const GAP_RETRY_MS = 250;
/** Retry interval for an owner with blocking dependents if no event arrives, in milliseconds. */
const BLOCKED_RETRY_MS = 30_000;

/** Counts changes of resource definitions. */
export interface DefinitionCounts {
  /** Changes seen so far. */
  readonly noted: number;
  /** Changes seen when discovery was last requested; -1 while discovery fails. */
  readonly discovered: number;
}

export interface FinalizerParts extends OwnerSources {
  readonly queue: WorkQueue;
  readonly log: Log;
  readonly definitions: DefinitionCounts;
  /**
   * How long watches must have been open, and how long an owner waits after its deletion was seen, in milliseconds. Watches of different
   * resources are not ordered, so a dependent created just before may be seen a little later.
   */
  readonly settleMs: number;
  /**
   * How long a foreground deletion waits for resources that cannot be listed, in milliseconds. Then it continues without them, as v1.21
   * does at once; their dependents are deleted once they are seen.
   */
  readonly gapPatienceMs: number;
}

interface Pending {
  readonly address: ObjectAddress;
  /** Earliest time of the next attempt, by the monotonic clock. */
  readonly readyMs: number;
  /** Definition changes seen when it became ready. Dependents from before its deletion belong only to these definitions. */
  definitions?: number;
}

/** Carries out and removes the finalizers `orphan` and `foregroundDeletion` of terminating objects. */
export class Finalizers {
  readonly #parts: FinalizerParts;
  /** Terminating objects with one of these finalizers, by uid. */
  readonly #pending = new Map<string, Pending>();

  constructor(parts: FinalizerParts) {
    this.#parts = parts;
  }

  /** The number of pending objects. */
  get size(): number {
    return this.#pending.size;
  }

  has(uid: string): boolean {
    return this.#pending.has(uid);
  }

  onPresent(before: ApiObject | undefined, { resource, object }: Located): void {
    const { queue, settleMs } = this.#parts;
    const { uid = '' } = object.metadata;
    if (isOrphaning(object) || isWaiting(object)) {
      const address = addressOf(resource, object);
      const { readyMs = monotonicClock.now() + settleMs, ...known } = this.#pending.get(uid) ?? {};
      this.#pending.set(uid, { ...known, address, readyMs });
      queue.add(uid);
    } else {
      this.#pending.delete(uid);
    }
    if (before !== undefined) this.#wakeOwnersOf(before);
    this.#wakeOwnersOf(object);
  }

  onGone({ object }: Located): void {
    this.#pending.delete(object.metadata.uid ?? '');
    this.#wakeOwnersOf(object);
  }

  async reconcile(uid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const pending = this.#pending.get(uid);
    if (pending === undefined) return undefined;
    const { address, readyMs } = pending;
    const { client, graph, settleMs, gapPatienceMs, definitions } = this.#parts;
    const earlyMs = readyMs - monotonicClock.now();
    if (earlyMs > 0) return { requeueAfterMs: earlyMs };
    // Absence of dependents proves nothing while some of them may be unseen.
    pending.definitions ??= definitions.noted;
    const isOutdated = definitions.discovered < pending.definitions;
    const retry = { requeueAfterMs: GAP_RETRY_MS };
    if (isOutdated || graph.youngGaps(settleMs, gapPatienceMs).length > 0) return retry;
    const owner = await getLive(client, address, signal);
    if (owner === undefined) return undefined;
    const gaps = graph.gaps(settleMs);
    if (isOrphaning(owner)) {
      // An unseen dependent that keeps its owner reference would be deleted after the owner.
      if (gaps.length > 0) return retry;
      await orphanDependents(this.#parts, owner, signal);
      await this.#release(address, FINALIZER.orphan, signal);
      return undefined;
    }
    if (!isWaiting(owner)) return undefined;
    await deleteDependents(this.#parts, owner, signal);
    if (blockingDependents(graph, owner).length > 0) return { requeueAfterMs: BLOCKED_RETRY_MS };
    if (gaps.length > 0) this.#tellOfGaps(address, gaps);
    await this.#release(address, FINALIZER.foregroundDeletion, signal);
    return undefined;
  }

  /** An owner may be waiting for this change of its dependent. */
  #wakeOwnersOf({ metadata: { ownerReferences = [] } }: ApiObject): void {
    for (const { uid } of ownerReferences) {
      if (this.#pending.has(uid)) this.#parts.queue.add(uid);
    }
  }

  #tellOfGaps({ resource, namespace, name }: ObjectAddress, gaps: readonly string[]): void {
    this.#parts.log.warn(
      { resource: resource.resource, namespace, object: name, gaps },
      'owner deleted without waiting for dependents that cannot be listed',
    );
  }

  async #release(address: ObjectAddress, finalizer: string, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#parts;
    await changeMetadata(client, { address, change: withoutFinalizer(finalizer) }, signal);
    const { resource, namespace, name } = address;
    log.debug({ resource: resource.resource, namespace, object: name, finalizer }, 'finalizer removed');
  }
}
