import type { Client } from '../../shared/client/client';
import type { DeleteOptions } from '../../shared/client/options';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ApiObject } from '../../shared/meta/object';
import { FINALIZER } from '../../shared/names';
import type { Located, OwnershipGraph } from './graph';
import { addressOf, changeMetadata, getLive, withoutBlocking, withoutOwners } from './live-object';
import type { OwnerState } from './owners';
import { OwnerStates, isDeleting, isWaiting } from './owners';

const PARALLEL_DEPENDENTS = 8;

interface Scene {
  readonly client: Client;
  readonly graph: OwnershipGraph;
}

/** Every dependent forgets this owner and stays. */
export async function orphanDependents(scene: Scene, owner: ApiObject, signal: AbortSignal): Promise<void> {
  const change = withoutOwners(new Set([owner.metadata.uid ?? '']));
  await forEachLimited(scene.graph.dependentsOf(owner), PARALLEL_DEPENDENTS, async ({ resource, object }) => {
    const address = addressOf(resource, object);
    await changeMetadata(scene.client, { address, known: object, change }, signal);
  });
}

/**
 * Every dependent goes, in the foreground where it has dependents itself; one that another owner keeps forgets its owners that are
 * going. Those already on their way are left alone.
 */
export async function deleteDependents(scene: Scene, owner: ApiObject, signal: AbortSignal): Promise<void> {
  const states = new OwnerStates(scene.client, scene.graph, owner);
  const dependents = scene.graph.dependentsOf(owner).filter(({ object }) => !isDeleting(object));
  await forEachLimited(dependents, PARALLEL_DEPENDENTS, async (dependent) =>
    deleteDependent({ ...scene, states, owner }, dependent, signal),
  );
}

/** Those that keep the owner from going. An object that owns itself does not wait for itself. */
export function blockingDependents(graph: OwnershipGraph, owner: ApiObject): readonly Located[] {
  const { uid = '' } = owner.metadata;
  return graph
    .dependentsOf(owner)
    .filter(
      ({ object: { metadata } }) =>
        metadata.uid !== uid &&
        metadata.ownerReferences?.some((each) => each.uid === uid && each.blockOwnerDeletion === true) ===
          true,
    );
}

async function deleteDependent(
  { client, graph, states, owner }: Scene & { readonly states: OwnerStates; readonly owner: ApiObject },
  { resource, object }: Located,
  signal: AbortSignal,
): Promise<void> {
  const address = addressOf(resource, object);
  const live = await getLive(client, address, signal);
  if (live === undefined || isDeleting(live)) return;
  const references = live.metadata.ownerReferences ?? [];
  if (!references.some(({ uid }) => uid === owner.metadata.uid)) return;
  const stateOf = new Map<string, OwnerState>();
  for (const reference of references) {
    stateOf.set(reference.uid, await states.stateOf(reference, live, signal));
  }
  if ([...stateOf.values()].includes('solid')) {
    const going = [...stateOf].filter(([, state]) => state !== 'solid').map(([uid]) => uid);
    await changeMetadata(client, { address, known: live, change: withoutOwners(new Set(going)) }, signal);
    return;
  }
  const own = graph.dependentsOf(live);
  if (own.length > 0) await breakCircles({ client, dependent: live, own }, signal);
  const propagationPolicy = own.length > 0 ? 'Foreground' : policyOf(live);
  const { uid = '', resourceVersion = '' } = live.metadata;
  try {
    await client.delete(
      resource,
      { namespace: address.namespace, name: address.name },
      { propagationPolicy, preconditions: { uid, resourceVersion } },
      { signal },
    );
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
  }
}

/** Two objects that own each other would wait for each other: the one already being deleted no longer holds this one. */
async function breakCircles(
  {
    client,
    dependent,
    own,
  }: { readonly client: Client; readonly dependent: ApiObject; readonly own: readonly Located[] },
  signal: AbortSignal,
): Promise<void> {
  const change = withoutBlocking(dependent.metadata.uid ?? '');
  for (const { resource, object } of own) {
    if (!isWaiting(object)) continue;
    await changeMetadata(client, { address: addressOf(resource, object), known: object, change }, signal);
  }
}

/** As the object's own finalizers ask, else in the background. */
function policyOf({
  metadata: { finalizers = [] },
}: ApiObject): NonNullable<DeleteOptions['propagationPolicy']> {
  if (finalizers.includes(FINALIZER.orphan)) return 'Orphan';
  return finalizers.includes(FINALIZER.foregroundDeletion) ? 'Foreground' : 'Background';
}
