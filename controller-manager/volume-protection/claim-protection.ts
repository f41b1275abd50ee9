import { RESOURCE } from '../../shared/api/resource-names';
import type { PersistentVolumeClaim } from '../../shared/api/types/core-v1';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { FINALIZER } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { withoutFinalizer } from '../runtime/live-object';
import { runInformedLoop } from '../runtime/informed-loop';
import { changeFinalizers, isLeaving, withFinalizer } from '../runtime/protection';
import type { PodWithClaims } from './storage-objects';
import { claimKeysOf, isUsing, podOf } from './storage-objects';

const WORKERS = 5;
const LOOK_AGAIN_MS = 5_000;
const BY_CLAIM = 'claim';

/** Releases terminating claims that no running pod uses, and protects new claims. */
export async function runClaimProtection(
  { client, log, createQueue }: ControllerContext,
  signal: AbortSignal,
  { lookAgainMs = LOOK_AGAIN_MS }: { readonly lookAgainMs?: number } = {},
): Promise<void> {
  const queue = createQueue();
  const claims = createInformer({ client, resource: RESOURCE.persistentvolumeclaims, log });
  const pods = createInformer({
    client,
    resource: RESOURCE.pods,
    log,
    transform: podOf,
    indexers: { [BY_CLAIM]: claimKeysOf },
  });
  const enqueue = (claim: PersistentVolumeClaim): void => queue.add(keyOfObject(claim));
  const enqueueClaims = (pod: PodWithClaims): void => {
    for (const key of claimKeysOf(pod)) queue.add(key);
  };
  claims.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  pods.addHandler({
    // Only the end of a use can release a claim; a new use blocks nothing new.
    onUpdate: (before) => enqueueClaims(before),
    onDelete: enqueueClaims,
  });

  /** Asked with a consistent read: the informer may not know a pod yet. */
  const isUsedByUnknown = async (claim: PersistentVolumeClaim, stop: AbortSignal): Promise<boolean> => {
    const { namespace = '' } = claim.metadata;
    const { items } = await client.listAll(RESOURCE.pods, { namespace, signal: stop });
    return items.some((pod) => isUsing(podOf(pod), claim));
  };

  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const claim = claims.store.get(key);
    if (claim === undefined) return undefined;
    const target = { resource: RESOURCE.persistentvolumeclaims, known: claim };
    if (!isLeaving(claim)) {
      await changeFinalizers(client, { ...target, change: withFinalizer(FINALIZER.claimProtection) }, stop);
      return undefined;
    }
    if (!(claim.metadata.finalizers ?? []).includes(FINALIZER.claimProtection)) return undefined;
    // The end of the pod is an event.
    if (pods.store.byIndex(BY_CLAIM, key).some((pod) => isUsing(pod, claim))) return undefined;
    // A pod that the informer does not know causes no event.
    if (await isUsedByUnknown(claim, stop)) return { requeueAfterMs: lookAgainMs };
    await changeFinalizers(client, { ...target, change: withoutFinalizer(FINALIZER.claimProtection) }, stop);
    return undefined;
  };

  await runInformedLoop({ informers: [claims, pods], queue, workers: WORKERS, log, reconcile }, signal);
}
