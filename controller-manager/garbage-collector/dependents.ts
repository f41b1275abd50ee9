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

/** Removes this owner from every dependent (propagation policy Orphan). */
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
 * Deletes every dependent, in the foreground if it has dependents itself. A dependent with another live owner only drops the terminating
 * owners. Terminating dependents are skipped.
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

/** Returns the dependents that block the owner's deletion. An object that owns itself does not block itself. */
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
 * Deletes an object without a live owner: in the foreground if an owner waits for it and it has dependents, else by its own finalizers.
 * With a live owner it only drops the absent owners, and without one it drops those that orphan their dependents. Decides on a live GET
 * with preconditions, so a conflict is thrown. Returns the states of the owners, empty if there was nothing to decide.
 */
export async function collect(
  { client, graph, absent, states }: OwnerSources & { readonly states: OwnerStates },
  { resource, object }: Located,
  signal: AbortSignal,
): Promise<readonly OwnerState[]> {
  const address = addressOf(resource, object);
  const live = await getLive(client, address, signal);
  const references = live?.metadata.ownerReferences ?? [];
  if (live === undefined || isDeleting(live) || references.length === 0) return [];
  const owners = [];
  for (const reference of references) {
    owners.push({ uid: reference.uid, state: await states.stateOf(reference, live, signal) });
  }
  const found = owners.map(({ state }) => state);
  const keepers = new Set(owners.filter(({ state }) => keeps(state)).map(({ uid }) => uid));
  if (keepers.size > 0) {
    const going = new Set(owners.map(({ uid }) => uid).filter((uid) => !keepers.has(uid)));
    await changeMetadata(client, { address, known: live, change: withoutOwners(going) }, signal);
    return found;
  }
  const former = new Set(owners.map(({ uid }) => uid).filter((uid) => absent.hasOrphaned(uid)));
  if (former.size > 0) {
    await changeMetadata(client, { address, known: live, change: withoutOwners(former) }, signal);
    return [];
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

/** Breaks ownership cycles: a terminating dependent stops blocking this owner. */
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

/** Chooses the propagation policy from the object's own finalizers, by default Background. */
function policyOf({
  metadata: { finalizers = [] },
}: ApiObject): NonNullable<DeleteOptions['propagationPolicy']> {
  if (finalizers.includes(FINALIZER.orphan)) return 'Orphan';
  return finalizers.includes(FINALIZER.foregroundDeletion) ? 'Foreground' : 'Background';
}
