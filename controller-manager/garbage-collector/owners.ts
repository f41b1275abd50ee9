import { LRUCache } from 'lru-cache';
import type { Client } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { FINALIZER } from '../../shared/names';
import type { OwnershipGraph } from './graph';
import { getLive } from '../runtime/live-object';
import type { Located } from './references';
import { groupOf } from './references';

/**
 * `solid`: it exists and keeps its dependents. `waiting`: it is terminating and waits for its dependents. `absent`: the server confirmed
 * that it does not exist. `unknown`: its kind is not served now. `impossible`: a cluster-scoped object cannot have a namespaced owner.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unknown' | 'impossible';

/** Reports whether an owner in this state keeps its dependents. Unknown owners do. */
export function keeps(state: OwnerState): boolean {
  return state !== 'absent' && state !== 'waiting';
}

/**
 * Far more than the concurrent work: objects of a custom resource are deleted together with the definition that would answer for them.
 */
const ABSENT_OWNERS_MAX = 10_000;
/** Long enough for all dependents found at once to be deleted. */
const ABSENT_FOR_MS = 60_000;

/** Identity of an owner: the same uid may be claimed under several names and namespaces and exist under only one. */
export interface OwnerIdentity {
  readonly group: string;
  readonly kind: string;
  /** Undefined for a cluster-scoped owner. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/** Owners whose absence the server confirmed recently. A uid returns only with a restored store, so a confirmation expires quickly. */
export class AbsentOwners {
  readonly #clock: Clock;
  /** Time of the confirmation, by owner. */
  readonly #saidMs = new LRUCache<string, number>({ max: ABSENT_OWNERS_MAX });
  /** Uids of owners that were removed before all of their dependents could be orphaned. */
  readonly #orphaned = new LRUCache<string, true>({ max: ABSENT_OWNERS_MAX });

  constructor(clock: Clock = monotonicClock) {
    this.#clock = clock;
  }

  has(owner: OwnerIdentity): boolean {
    const saidMs = this.#saidMs.get(keyOf(owner));
    return saidMs !== undefined && this.#clock.now() - saidMs <= ABSENT_FOR_MS;
  }

  add(owner: OwnerIdentity): void {
    this.#saidMs.set(keyOf(owner), this.#clock.now());
  }

  /** Records that dependents of this owner which appear later are orphaned instead of deleted. */
  addOrphaned(uid: string): void {
    this.#orphaned.set(uid, true);
  }

  hasOrphaned(uid: string): boolean {
    return this.#orphaned.has(uid);
  }
}

export function identityOf({ resource, object }: Located): OwnerIdentity {
  const { namespace, name = '', uid = '' } = object.metadata;
  return { group: resource.group, kind: resource.kind, namespace, name, uid };
}

function keyOf({ group, kind, namespace = '', name, uid }: OwnerIdentity): string {
  return JSON.stringify([group, kind, namespace, name, uid]);
}

export interface OwnerSources {
  readonly client: Client;
  readonly graph: OwnershipGraph;
  readonly absent: AbsentOwners;
}

/** Determines the state of owners from the server, with at most one request per owner and pass. */
export class OwnerStates {
  readonly #sources: OwnerSources;
  readonly #waitingUid: string | undefined;
  readonly #asked = new Map<string, Promise<OwnerState>>();

  /** `waiting` is the terminating owner of this pass, if any. */
  constructor(sources: OwnerSources, waiting?: ApiObject) {
    this.#sources = sources;
    this.#waitingUid = waiting?.metadata.uid;
  }

  async stateOf(reference: OwnerReference, dependent: ApiObject, signal: AbortSignal): Promise<OwnerState> {
    const { graph, absent } = this.#sources;
    const { kind, name, uid } = reference;
    if (uid === this.#waitingUid) return 'waiting';
    const { namespace } = dependent.metadata;
    const clusterWide = { group: groupOf(reference), kind, namespace: undefined, name, uid };
    const nearby = { ...clusterWide, namespace };
    if (absent.has(clusterWide) || absent.has(nearby)) return 'absent';
    const resource = graph.resourceOf(reference);
    if (resource === undefined) return 'unknown';
    if (resource.namespaced && namespace === undefined) return 'impossible';
    const owner = resource.namespaced ? nearby : clusterWide;
    const key = keyOf(owner);
    const asked = this.#asked.get(key) ?? this.#ask(resource, owner, signal);
    this.#asked.set(key, asked);
    return asked;
  }

  async #ask(resource: ResourceRow, owner: OwnerIdentity, signal: AbortSignal): Promise<OwnerState> {
    const { client, absent } = this.#sources;
    const { namespace, name, uid } = owner;
    const live = await getLive(client, { resource, namespace, name, uid }, signal);
    if (live !== undefined) return isWaiting(live) ? 'waiting' : 'solid';
    absent.add(owner);
    return 'absent';
  }
}

export function isDeleting({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Reports whether the object is being deleted in the foreground. */
export function isWaiting(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).includes(FINALIZER.foregroundDeletion);
}

/** Reports whether the object is being deleted and orphans its dependents. */
export function isOrphaning(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).includes(FINALIZER.orphan);
}
