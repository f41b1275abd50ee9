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

/** How soon to look again while the graph is not complete, in milliseconds. */
const GAP_RETRY_MS = 250;
/** How soon to look again at an owner whose dependents are going, should no event come, in milliseconds. */
const BLOCKED_RETRY_MS = 30_000;

/** How often resources were defined, or have gone. */
export interface DefinitionCounts {
  /** As the server has told by now. */
  readonly noted: number;
  /** As had been told when the server was asked what it has; -1 while it does not answer that. */
  readonly discovered: number;
}

export interface FinalizerParts extends OwnerSources {
  readonly queue: WorkQueue;
  readonly log: Log;
  readonly definitions: DefinitionCounts;
  /**
   * How long the watches must have been open, and how long an owner is left alone after its deletion was seen. Watches of different
   * resources are not ordered among each other: a dependent made just before may be told a little after.
   */
  readonly settleMs: number;
  /**
   * How long a foreground deletion waits for resources that nobody can list. After that it goes on without them, as v1.21 does at once:
   * what depends on the owner there is deleted once it is seen.
   */
  readonly gapPatienceMs: number;
}

interface Pending {
  readonly address: ObjectAddress;
  /** Not to be worked on before this reading of the monotonic clock. */
  readonly readyMs: number;
  /** How many definitions had been noted when it was ready: dependents from before its deletion are of these only. */
  definitions?: number;
}

/** Does what the finalizers `orphan` and `foregroundDeletion` ask for on objects that are being deleted, and takes them off. */
export class Finalizers {
  readonly #parts: FinalizerParts;
  /** The objects that wait for us, by uid: one entry per object that is being deleted with one of our finalizers. */
  readonly #pending = new Map<string, Pending>();

  constructor(parts: FinalizerParts) {
    this.#parts = parts;
  }

  /** How many objects wait for us. */
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
    // Nothing is concluded from the absence of dependents while some could be unseen.
    pending.definitions ??= definitions.noted;
    const isOutdated = definitions.discovered < pending.definitions;
    const retry = { requeueAfterMs: GAP_RETRY_MS };
    if (isOutdated || graph.youngGaps(settleMs, gapPatienceMs).length > 0) return retry;
    const owner = await getLive(client, address, signal);
    if (owner === undefined) return undefined;
    const gaps = graph.gaps(settleMs);
    if (isOrphaning(owner)) {
      // An unseen dependent that is not told to forget its owner would be deleted after it.
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

  /** An owner may wait for exactly this change of its dependent. */
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
