import type { Client } from '../../shared/client/client';
import type { ApiObject, OwnerReference } from '../../shared/meta/object';
import { FINALIZER } from '../../shared/names';
import type { OwnershipGraph } from './graph';
import { getLive } from './live-object';

/**
 * `solid`: it is there and keeps its dependents. `waiting`: it is being deleted and waits for its dependents to go first.
 * `absent`: it has gone.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent';

/** Answers for owners by asking the server, each once per pass. */
export class OwnerStates {
  private readonly client: Client;
  private readonly graph: OwnershipGraph;
  private readonly known = new Map<string, OwnerState>();

  /** `waiting` is the owner this pass is about. */
  constructor(client: Client, graph: OwnershipGraph, waiting: ApiObject) {
    this.client = client;
    this.graph = graph;
    this.known.set(waiting.metadata.uid ?? '', 'waiting');
  }

  async stateOf(reference: OwnerReference, dependent: ApiObject, signal: AbortSignal): Promise<OwnerState> {
    const known = this.known.get(reference.uid);
    if (known !== undefined) return known;
    const resource = this.graph.resourceOf(reference);
    // A kind that nobody serves, or one that cannot own across scopes, cannot be looked up: nothing is deleted on such grounds.
    const { namespace } = dependent.metadata;
    if (resource === undefined || (resource.namespaced && namespace === undefined)) return 'solid';
    const live = await getLive(
      this.client,
      {
        resource,
        namespace: resource.namespaced ? namespace : undefined,
        name: reference.name,
        uid: reference.uid,
      },
      signal,
    );
    const state = live === undefined ? 'absent' : isWaiting(live) ? 'waiting' : 'solid';
    this.known.set(reference.uid, state);
    return state;
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
