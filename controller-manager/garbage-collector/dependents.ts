import type { Client } from '../../shared/client/client';
import type { DeleteOptions } from '../../shared/client/options';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ApiObject } from '../../shared/object/object';
import { FINALIZER } from '../../shared/names';
import type { OwnershipGraph } from './graph';
import { addressOf, changeMetadata, getLive, withoutBlocking, withoutOwners } from '../runtime/live-object';
import type { OwnerSources, OwnerState } from './owners';
import { OwnerStates, isDeleting, isWaiting, keeps } from './owners';
import type { Located } from './references';

const PARALLEL_DEPENDENTS = 8;

/** Every dependent forgets this owner and stays. */
export async function orphanDependents(
  scene: OwnerSources,
  owner: ApiObject,
  signal: AbortSignal,
): Promise<void> {
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
export async function deleteDependents(
  scene: OwnerSources,
  owner: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const pass = { ...scene, states: new OwnerStates(scene, owner) };
  const dependents = scene.graph.dependentsOf(owner).filter(({ object }) => !isDeleting(object));
  await forEachLimited(dependents, PARALLEL_DEPENDENTS, async (dependent) => {
    await collect(pass, dependent, signal);
  });
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

/**
 * Deletes an object none of whose owners keeps it: in the foreground if one of them waits for it and it has dependents itself, else as
 * its own finalizers ask. If one keeps it, it only forgets those that do not. All is decided on the object as the server has it now, and
 * done only if it is still the same: a conflict is thrown. Returns the states of its owners, none if there was nothing to decide.
 */
export async function collect(
  { client, graph, states }: OwnerSources & { readonly states: OwnerStates },
  { resource, object }: Located,
  signal: AbortSignal,
): Promise<readonly OwnerState[]> {
  const address = addressOf(resource, object);
  const live = await getLive(client, address, signal);
  const references = live?.metadata.ownerReferences ?? [];
  if (live === undefined || isDeleting(live) || references.length === 0) return [];
  const judged = [];
  for (const reference of references) {
    judged.push({ uid: reference.uid, state: await states.stateOf(reference, live, signal) });
  }
  const found = judged.map(({ state }) => state);
  const keepers = new Set(judged.filter(({ state }) => keeps(state)).map(({ uid }) => uid));
  if (keepers.size > 0) {
    const going = new Set(judged.map(({ uid }) => uid).filter((uid) => !keepers.has(uid)));
    await changeMetadata(client, { address, known: live, change: withoutOwners(going) }, signal);
    return found;
  }
  const own = found.includes('waiting') ? graph.dependentsOf(live) : [];
  if (own.length > 0) await breakCircles({ client, dependent: live, own }, signal);
  const { uid = '', resourceVersion = '' } = live.metadata;
  try {
    await client.delete(
      resource,
      { namespace: address.namespace, name: address.name },
      {
        propagationPolicy: own.length > 0 ? 'Foreground' : policyOf(live),
        preconditions: { uid, resourceVersion },
      },
      { signal },
    );
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
  }
  return found;
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
