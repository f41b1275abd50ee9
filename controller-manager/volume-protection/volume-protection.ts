import type { Requeue } from '../../shared/concurrency/work-loop';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { FINALIZER } from '../../shared/names';
import type { ControllerContext } from '../controller';
import { withoutFinalizer } from '../garbage-collector/live-object';
import { runInformedLoop } from '../informed-loop';
import { changeFinalizers, isLeaving, withFinalizer } from './protection';
import type { Volume } from './storage-objects';
import { VOLUMES } from './storage-objects';

const WORKERS = 5;

/** Lets volumes that are being deleted go once no claim is bound to them, and protects those that are not protected. */
export async function runVolumeProtection(
  { client, log }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const queue = createWorkQueue();
  const volumes = createInformer<Volume>({ client, resource: VOLUMES, log });
  const enqueue = (volume: Volume): void => queue.add(keyOfObject(volume));
  volumes.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });

  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const volume = volumes.store.get(key);
    if (volume === undefined) return undefined;
    const target = { resource: VOLUMES, known: volume };
    if (!isLeaving(volume)) {
      await changeFinalizers(client, { ...target, change: withFinalizer(FINALIZER.volumeProtection) }, stop);
    } else if (volume.status?.phase !== 'Bound') {
      await changeFinalizers(
        client,
        { ...target, change: withoutFinalizer(FINALIZER.volumeProtection) },
        stop,
      );
    }
    return undefined;
  };

  await runInformedLoop({ informers: [volumes], queue, workers: WORKERS, log, reconcile }, signal);
}
