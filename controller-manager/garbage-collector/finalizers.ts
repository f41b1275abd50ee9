import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import { FINALIZER } from '../../shared/names';
import { blockingDependents, deleteDependents, orphanDependents } from './dependents';
import type { ObjectAddress } from '../runtime/live-object';
import { addressOf, changeMetadata, getLive, withoutFinalizer } from '../runtime/live-object';
import { recordWarning } from '../runtime/record-event';
import { COMPONENT } from './invalid-owner-event';
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
  readonly clock: Clock;
  readonly definitions: DefinitionCounts;
  /**
   * How long watches must have been open, and how long an owner waits after its deletion was seen, in milliseconds. Watches of different
   * resources are not ordered, so a dependent created just before may be seen a little later.
   */
  readonly settleMs: number;
  /**
   * How long an owner waits for resources that cannot be listed, in milliseconds. Then it continues without them, as v1.21 does at
   * once; their dependents are orphaned or deleted once they are seen.
   */
  readonly gapPatienceMs: number;
}

interface Pending {
  readonly address: ObjectAddress;
  readonly kind: string;
  /** Earliest time of the next attempt, by the monotonic clock. */
  readonly readyMs: number;
  /** Definition changes seen when it became ready. Dependents from before its deletion belong only to these definitions. */
  definitions?: number;
}

interface GapReport {
  readonly pending: Pending;
  readonly owner: ApiObject;
  readonly gaps: readonly string[];
  readonly reason: 'DependentsSkipped' | 'DependentsUnavailable';
  readonly message: string;
}

/** Number of group versions and resources that an Event names. */
const GAPS_SHOWN_MAX = 20;

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
      this.#pending.set(uid, { ...known, address, kind: resource.kind, readyMs });
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
    const { client, graph, absent, settleMs, gapPatienceMs, definitions } = this.#parts;
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
    const isOrphan = isOrphaning(owner);
    if (!isOrphan && !isWaiting(owner)) return undefined;
    try {
      await (isOrphan ? orphanDependents : deleteDependents)(this.#parts, owner, signal);
    } catch (error) {
      if (hasCode(error, 503)) {
        const message = `waits for dependents of resources that do not answer: ${shownNames(gaps)}`;
        await this.#reportGaps({ pending, owner, gaps, reason: 'DependentsUnavailable', message }, signal);
      }
      throw error;
    }
    if (!isOrphan && blockingDependents(graph, owner).length > 0) return { requeueAfterMs: BLOCKED_RETRY_MS };
    // An unseen dependent keeps its owner reference and would be deleted after the owner.
    if (isOrphan && gaps.length > 0) absent.addOrphaned(uid);
    const later = isOrphan
      ? 'they are orphaned once they can be listed, unless the controller-manager has restarted by then'
      : 'they are deleted once they can be listed';
    const message = `deleted without dependents that cannot be listed: ${shownNames(gaps)}; ${later}`;
    await this.#reportGaps({ pending, owner, gaps, reason: 'DependentsSkipped', message }, signal);
    await this.#release(address, isOrphan ? FINALIZER.orphan : FINALIZER.foregroundDeletion, signal);
    return undefined;
  }

  /** An owner may be waiting for this change of its dependent. */
  #wakeOwnersOf({ metadata: { ownerReferences = [] } }: ApiObject): void {
    for (const { uid } of ownerReferences) {
      if (this.#pending.has(uid)) this.#parts.queue.add(uid);
    }
  }

  /** Reports what may keep dependents from being seen by a log entry, and by an Event about the owner. Reports nothing without gaps. */
  async #reportGaps(
    { pending: { address, kind }, owner, gaps, reason, message }: GapReport,
    signal: AbortSignal,
  ): Promise<void> {
    if (gaps.length === 0) return;
    const { resource, namespace, name } = address;
    this.#parts.log.warn(
      { resource: resource.resource, namespace, object: name, gaps, reason },
      'some dependents of the owner cannot be reached',
    );
    const about = { resource: { ...resource, kind }, object: owner };
    await recordWarning(this.#parts, { about, reason, message, component: COMPONENT, key: reason }, signal);
  }

  async #release(address: ObjectAddress, finalizer: string, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#parts;
    await changeMetadata(client, { address, change: withoutFinalizer(finalizer) }, signal);
    const { resource, namespace, name } = address;
    log.debug({ resource: resource.resource, namespace, object: name, finalizer }, 'finalizer removed');
  }
}

function shownNames(gaps: readonly string[]): string {
  const more = gaps.length - GAPS_SHOWN_MAX;
  return gaps.slice(0, GAPS_SHOWN_MAX).join(', ') + (more > 0 ? `, and ${String(more)} more` : '');
}
