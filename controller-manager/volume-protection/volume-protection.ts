import { RESOURCE } from '../../shared/api/resource-names';
import type { PersistentVolume } from '../../shared/api/types/core-v1';
import { createInformer } from '../../shared/informer/informer';
import { FINALIZER } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { withoutFinalizer } from '../runtime/live-object';
import { runObjectLoop } from '../runtime/object-loop';
import { changeFinalizers, isLeaving, withFinalizer } from '../runtime/protection';

const WORKERS = 5;

/** Releases terminating volumes without a bound claim, and protects new volumes. */
export async function runVolumeProtection(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { client, log } = context;
  const informer = createInformer({ client, resource: RESOURCE.persistentvolumes, log });
  const reconcile = async (volume: PersistentVolume, stop: AbortSignal): Promise<undefined> => {
    const target = { resource: RESOURCE.persistentvolumes, known: volume };
    if (!isLeaving(volume)) {
      await changeFinalizers(client, { ...target, change: withFinalizer(FINALIZER.volumeProtection) }, stop);
    } else if (volume.status?.phase !== 'Bound') {
      await changeFinalizers(
        client,
        { ...target, change: withoutFinalizer(FINALIZER.volumeProtection) },
        stop,
      );
    }
  };

  await runObjectLoop({ context, informer, workers: WORKERS, reconcile }, signal);
}
