import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Log } from '../../shared/log/log';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { collect } from './dependents';
import type { GoneHow } from './graph';
import { reportInvalidOwner } from './invalid-owner-event';
import type { OwnerSources, OwnerState } from './owners';
import { OwnerStates, identityOf, isDeleting, keeps } from './owners';
import type { Located } from './references';
import { fits, isForeign, sameOwners } from './references';

export interface GarbageParts extends OwnerSources {
  /** Uids of owners that may be absent and of dependents that may have to be deleted. */
  readonly queue: WorkQueue;
  readonly log: Log;
  readonly clock: Clock;
  /** How much later than its dependents an owner may be seen before it is queried, in milliseconds. */
  readonly settleMs: number;
  /** Retry interval for an owner that exists but is not seen, or whose kind is not served, in milliseconds. */
  readonly retryMs: number;
}

/**
 * Deletes objects whose owners are all absent, and removes absent owners from the others. The graph only says where to look: an owner
 * counts as absent only by the server's answer, and the dependent is read again right before.
 */
export class Garbage {
  readonly #parts: GarbageParts;

  constructor(parts: GarbageParts) {
    this.#parts = parts;
  }

  /** Handles an added or changed object. */
  onPresent(before: ApiObject | undefined, after: Located): void {
    const { queue, graph, settleMs } = this.#parts;
    const { uid = '', ownerReferences = [] } = after.object.metadata;
    if (before === undefined) {
      for (const { object } of graph.claimantsOf(uid)) {
        if (!claimsFit(object, after)) queue.add(object.metadata.uid ?? '');
      }
    }
    if (isDeleting(after.object) || sameOwners(before, after.object)) return;
    for (const reference of ownerReferences) {
      const owner = graph.find(reference.uid);
      if (owner === undefined) queue.addAfter(reference.uid, settleMs);
      else if (!fits(reference, after.object, owner)) queue.add(uid);
    }
  }

  /** Handles a deleted object. With `isReleased`, its dependents have just been orphaned or deleted. */
  onGone(last: Located, { how, isReleased }: { readonly how: GoneHow; readonly isReleased: boolean }): void {
    const { queue, graph, absent, settleMs } = this.#parts;
    const { uid = '' } = last.object.metadata;
    if (graph.claimantsOf(uid).length === 0) return;
    // The definition of a custom resource may be deleted right after its objects, so the owner could not be queried later.
    if (how === 'reported') absent.add(identityOf(last));
    queue.addAfter(uid, isReleased ? settleMs : 0);
  }

  async reconcile(uid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const seen = this.#parts.graph.find(uid);
    return seen === undefined ? this.#askForOwner(uid, signal) : this.#checkDependent(seen, signal);
  }

  /** Queries an unseen owner at every place its dependents name. Where it is absent, its dependents are queued. */
  async #askForOwner(uid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { queue, graph, log, retryMs } = this.#parts;
    const states = new OwnerStates(this.#parts);
    const found = new Set<OwnerState>();
    for (const claimant of graph.claimantsOf(uid)) {
      const { object } = claimant;
      if (isDeleting(object)) continue;
      for (const reference of ownersWith(uid, object)) {
        const state = await states.stateOf(reference, object, signal);
        found.add(state);
        if (state === 'absent') queue.add(object.metadata.uid ?? '');
        if (state === 'impossible') await reportInvalidOwner(this.#parts, claimant, reference, signal);
      }
    }
    // An owner that appeared and disappeared between two watches would be missed.
    const isOpen = found.has('solid') || found.has('waiting') || found.has('unknown');
    if (isOpen) log.debug({ uid, found: [...found] }, 'owner not found in the cache, but it may exist');
    return isOpen ? { requeueAfterMs: retryMs } : undefined;
  }

  async #checkDependent(dependent: Located, signal: AbortSignal): Promise<Requeue | undefined> {
    const { graph, log, retryMs } = this.#parts;
    const { object, resource } = dependent;
    const { namespace, name, ownerReferences = [] } = object.metadata;
    const owners = ownerReferences.map((reference) => ({ reference, owner: graph.find(reference.uid) }));
    // An owner that is seen where expected is not queried: its deletion will be an event.
    const isSettled = owners.every(
      ({ reference, owner }) => owner !== undefined && fits(reference, object, owner),
    );
    if (isSettled || isDeleting(object)) return undefined;
    for (const { reference, owner } of owners) {
      if (owner === undefined || !isForeign(object, owner.object)) continue;
      await reportInvalidOwner(this.#parts, dependent, reference, signal);
    }
    const pass = { ...this.#parts, states: new OwnerStates(this.#parts) };
    const states = await collect(pass, dependent, signal);
    if (states.length > 0 && !states.some(keeps)) {
      log.debug(
        { resource: resource.resource, namespace, object: name },
        'object without remaining owners deleted',
      );
    }
    return states.includes('unknown') ? { requeueAfterMs: retryMs } : undefined;
  }
}

function ownersWith(
  uid: string,
  { metadata: { ownerReferences = [] } }: ApiObject,
): readonly OwnerReference[] {
  return ownerReferences.filter((reference) => reference.uid === uid);
}

function claimsFit(dependent: ApiObject, owner: Located): boolean {
  const { uid = '' } = owner.object.metadata;
  return ownersWith(uid, dependent).every((reference) => fits(reference, dependent, owner));
}
