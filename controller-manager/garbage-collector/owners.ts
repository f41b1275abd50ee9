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
 * `solid`: it is there and keeps its dependents. `waiting`: it is being deleted and waits for its dependents to go first. `absent`: the
 * server has said that it is not there. `unknown`: nobody serves its kind now, so that nobody can tell. `impossible`: an object without a
 * namespace cannot have an owner that is in one.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unknown' | 'impossible';

/** Whether an owner in this state keeps its dependents: nothing is deleted where nobody can tell. */
export function keeps(state: OwnerState): boolean {
  return state !== 'absent' && state !== 'waiting';
}

/** Many more than are worked on at once: the objects of a custom resource go together with what could be asked for them. */
const ABSENT_OWNERS_MAX = 10_000;
/** Long enough for all that is found at once to have left. */
const ABSENT_FOR_MS = 60_000;

/** Who an owner is: the same uid may be claimed under several names and from several namespaces, and be there for one of them only. */
export interface OwnerIdentity {
  readonly group: string;
  readonly kind: string;
  /** Undefined for an owner that is in none. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/**
 * Owners of whom the server said lately that they are not there. A uid never comes back but with a store that
 * is restored from a backup: what it said before that does not count for long.
 */
export class AbsentOwners {
  readonly #clock: Clock;
  /** When it was said, by owner. */
  readonly #saidMs = new LRUCache<string, number>({ max: ABSENT_OWNERS_MAX });

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

/** Answers for owners by what the server says of them, asked once per pass at most. */
export class OwnerStates {
  readonly #sources: OwnerSources;
  readonly #waitingUid: string | undefined;
  readonly #asked = new Map<string, Promise<OwnerState>>();

  /** `waiting` is the owner this pass is about, if there is one. */
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

/** Whether it is being deleted in the foreground. */
export function isWaiting(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).includes(FINALIZER.foregroundDeletion);
}

/** Whether it is being deleted and wants its dependents to stay. */
export function isOrphaning(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).includes(FINALIZER.orphan);
}
