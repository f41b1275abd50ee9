import { RESOURCE } from '../../shared/api/resource-names';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels } from '../../shared/meta/labels';
import { MEDIA_TYPE } from '../../shared/names';
import { deepEqual } from '../../shared/object/clone';
import type { ApiObject, OwnerReference, ResourceOf } from '../../shared/object/object';
import type { KindOfResource } from '../runtime/owner';
import { isBeingDeleted, ownerOf, ownerReferenceTo } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';

export interface ChildWatch<Parent extends ApiObject, Child extends ApiObject> {
  readonly children: Informer<Child>;
  readonly parents: Informer<Parent>;
  /** The kind in owner references to the parents. */
  readonly kind: string;
  readonly queue: Pick<WorkQueue, 'add'>;
  readonly selectorOf: (parent: Parent) => LabelSelector;
  /** Called for each deletion, before the parent is enqueued. */
  readonly onDelete?: (child: Child) => void;
}

/**
 * Enqueues the parents of children that change: the parent that an owner reference names, before and after the change, and for orphans all
 * parents whose selector matches, since one of them may adopt it. These are upstream's handlers of pods in every workload controller.
 */
export function watchChildren<Parent extends ApiObject, Child extends ApiObject>({
  children,
  parents,
  kind,
  queue,
  selectorOf,
  onDelete,
}: ChildWatch<Parent, Child>): void {
  const enqueueOwner = (child: Child, owner: OwnerReference | undefined): void => {
    if (owner?.kind !== kind) return;
    const key = keyIn(child, owner.name);
    if (parents.store.get(key)?.metadata.uid === owner.uid) queue.add(key);
  };
  const enqueueMatching = (child: Child): void => {
    const { namespace = '', labels } = child.metadata;
    for (const parent of parents.store.byIndex(INDEX.namespace, namespace))
      if (matchesLabels(selectorOf(parent), labels)) queue.add(keyOfObject(parent));
  };
  children.addHandler({
    onAdd: (child) => {
      const owner = ownerOf(child);
      if (owner !== undefined) enqueueOwner(child, owner);
      else if (!isBeingDeleted(child)) enqueueMatching(child);
    },
    onUpdate: (before, after) => {
      const [ownerBefore, owner] = [ownerOf(before), ownerOf(after)];
      const isMoved = ownerBefore?.uid !== owner?.uid;
      if (isMoved) enqueueOwner(after, ownerBefore);
      if (owner !== undefined) enqueueOwner(after, owner);
      else if (isMoved || !deepEqual(before.metadata.labels, after.metadata.labels)) enqueueMatching(after);
    },
    onDelete: (last) => {
      onDelete?.(last);
      enqueueOwner(last, ownerOf(last));
    },
  });
}

function keyIn({ metadata }: ApiObject, name: string): string {
  const { namespace = '' } = metadata;
  return namespace === '' ? name : `${namespace}/${name}`;
}

export interface Claim<Parent extends ApiObject, Child extends ApiObject> {
  readonly client: Client;
  readonly parent: Parent;
  readonly parentResource: ResourceOf<Parent> & KindOfResource;
  readonly childResource: ResourceOf<Child>;
  /** Reports whether the parent selects the child. */
  readonly matches: (child: Child) => boolean;
  /** A finalizer that adopted children get, and that released ones lose. */
  readonly finalizer?: string | undefined;
}

/**
 * Returns those of the candidates that belong to the parent: it adopts matching orphans and releases its own that match no more, as
 * upstream's `ControllerRefManager`. A parent that is being deleted does neither, and the first adoption reads it from the server.
 */
export async function claimChildren<Parent extends ApiObject, Child extends ApiObject>(
  claim: Claim<Parent, Child>,
  candidates: readonly Child[],
  signal: AbortSignal,
): Promise<readonly Child[]> {
  const { parent, matches } = claim;
  const claimed: Child[] = [];
  let mayAdopt: Promise<boolean> | undefined;
  for (const child of candidates) {
    const owner = ownerOf(child);
    if (owner !== undefined) {
      if (owner.uid !== parent.metadata.uid) continue;
      if (matches(child)) claimed.push(child);
      else if (!isBeingDeleted(parent)) await release(claim, child, signal);
    } else if (!isBeingDeleted(parent) && !isBeingDeleted(child) && matches(child)) {
      mayAdopt ??= isStillThere(claim, signal);
      if ((await mayAdopt) && (await adopt(claim, child, signal))) claimed.push(child);
    }
  }
  return claimed;
}

/** A cached parent may be deleted already, and adoption would undo its orphaning. */
async function isStillThere<Parent extends ApiObject, Child extends ApiObject>(
  { client, parent, parentResource }: Claim<Parent, Child>,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name = '', uid } = parent.metadata;
  try {
    const fresh = await client.get(parentResource, { namespace, name }, { signal });
    return fresh.metadata.uid === uid && !isBeingDeleted(fresh);
  } catch (error) {
    if (hasCode(error, 404)) return false;
    throw error;
  }
}

async function adopt<Parent extends ApiObject, Child extends ApiObject>(
  { client, parent, parentResource, childResource, finalizer }: Claim<Parent, Child>,
  child: Child,
  signal: AbortSignal,
): Promise<boolean> {
  const metadata = {
    ownerReferences: [ownerReferenceTo(parentResource, parent)],
    ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
  };
  return patchMetadata({ client, childResource, child, metadata }, [404], signal);
}

async function release<Parent extends ApiObject, Child extends ApiObject>(
  { client, parent, childResource, finalizer }: Claim<Parent, Child>,
  child: Child,
  signal: AbortSignal,
): Promise<void> {
  const metadata = {
    ownerReferences: [{ $patch: 'delete', uid: parent.metadata.uid }],
    ...(finalizer === undefined ? {} : removedFinalizer(finalizer)),
  };
  // 422: the object of this uid is gone, or another client has released it.
  await patchMetadata({ client, childResource, child, metadata }, [404, 422], signal);
}

/** Returns the metadata of a strategic merge patch that removes this finalizer. */
export function removedFinalizer(finalizer: string): object {
  return { '$deleteFromPrimitiveList/finalizers': [finalizer] };
}

export interface MetadataPatch<Child extends ApiObject> {
  readonly client: Client;
  readonly childResource: ResourceOf<Child>;
  readonly child: Child;
  readonly metadata: object;
}

/** Patches the metadata of exactly this object. Reports whether the patch was made; false after one of these codes. */
export async function patchMetadata<Child extends ApiObject>(
  { client, childResource, child, metadata }: MetadataPatch<Child>,
  ignored: readonly number[],
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name = '', uid } = child.metadata;
  try {
    await client.patch(
      childResource,
      { namespace, name },
      { contentType: MEDIA_TYPE.strategicMergePatch, body: { metadata: { ...metadata, uid } } },
      { signal },
    );
    return true;
  } catch (error) {
    if (hasCode(error, ...ignored)) return false;
    throw error;
  }
}

/** Returns the children that a parent manages or may adopt: its own, and the orphans of its namespace. */
export function candidatesOf<Child extends ApiObject>(
  children: Informer<Child>,
  { metadata }: ApiObject,
): readonly Child[] {
  const { store } = children;
  return [
    ...store.byIndex(INDEX.controller, metadata.uid ?? ''),
    ...store.byIndex(INDEX.orphan, metadata.namespace ?? ''),
  ];
}

/** Returns a function that reads selectors, and parses each only once for as long as its object is kept. */
export function selectorReader<T extends object>(
  read: (object: T) => LabelSelector,
): (object: T) => LabelSelector {
  const known = new WeakMap<T, LabelSelector>();
  return (object) => {
    const selector = known.get(object) ?? read(object);
    known.set(object, selector);
    return selector;
  };
}

/** The resources of parents with their kinds, for owner references and events. */
export const PARENT = {
  replicaSets: { ...RESOURCE.replicasets, kind: 'ReplicaSet' },
  replicationControllers: { ...RESOURCE.replicationcontrollers, kind: 'ReplicationController' },
  deployments: { ...RESOURCE.deployments, kind: 'Deployment' },
  statefulSets: { ...RESOURCE.statefulsets, kind: 'StatefulSet' },
  daemonSets: { ...RESOURCE.daemonsets, kind: 'DaemonSet' },
  jobs: { ...RESOURCE.jobs, kind: 'Job' },
  cronJobs: { ...RESOURCE.cronjobs, kind: 'CronJob' },
} as const;
