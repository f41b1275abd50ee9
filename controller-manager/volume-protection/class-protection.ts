import { RESOURCE } from '../../shared/api/resource-names';
import type { PersistentVolume, PersistentVolumeClaim } from '../../shared/api/types/core-v1';
import type { VolumeAttributesClass } from '../../shared/api/types/storage-v1';
import { createInformer } from '../../shared/informer/informer';
import { FINALIZER } from '../../shared/names';
import type { ApiObject, ObjectMeta } from '../../shared/object/object';
import { attributesClassesOf } from '../../shared/quota/persistent-volume-claims';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { withoutFinalizer } from '../runtime/live-object';
import { changeFinalizers, isLeaving, withFinalizer } from '../runtime/protection';

const WORKERS = 5;
const BY_CLASS = 'class';

/** The part of a volume or claim that says which classes it uses. */
interface ClassUser extends ApiObject {
  readonly classes: readonly string[];
}

/**
 * Releases terminating VolumeAttributesClasses that no volume and no claim uses, and protects new ones. Source:
 * `pkg/controller/volume/vacprotection`.
 */
export async function runClassProtection(
  { client, log, createQueue }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const queue = createQueue();
  const resource = RESOURCE.volumeattributesclasses;
  const classes = createInformer({ client, resource, log });
  const indexers = { [BY_CLASS]: (user: ClassUser): readonly string[] => user.classes };
  const users = [
    createInformer({
      client,
      resource: RESOURCE.persistentvolumeclaims,
      log,
      transform: ofClaim,
      indexers,
    }),
    createInformer({ client, resource: RESOURCE.persistentvolumes, log, transform: ofVolume, indexers }),
  ];
  const enqueue = ({ metadata }: VolumeAttributesClass): void => queue.add(metadata.name ?? '');
  const enqueueClasses = (user: ClassUser): void => {
    for (const name of user.classes) queue.add(name);
  };
  classes.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  // Only the end of a use can release a class.
  for (const each of users) each.addHandler({ onUpdate: enqueueClasses, onDelete: enqueueClasses });

  const reconcile = async (name: string, stop: AbortSignal): Promise<undefined> => {
    const known = classes.store.get(name);
    if (known === undefined) return;
    if (!isLeaving(known)) {
      await changeFinalizers(
        client,
        { resource, known, change: withFinalizer(FINALIZER.classProtection) },
        stop,
      );
    } else if (users.every(({ store }) => store.byIndex(BY_CLASS, name).length === 0)) {
      await changeFinalizers(
        client,
        { resource, known, change: withoutFinalizer(FINALIZER.classProtection) },
        stop,
      );
    }
  };

  await runInformedLoop({ informers: [classes, ...users], queue, workers: WORKERS, log, reconcile }, signal);
}

function ofVolume({ metadata, spec }: PersistentVolume): ClassUser {
  const { volumeAttributesClassName: name = '' } = spec;
  return userOf(metadata, name === '' ? [] : [name]);
}

function ofClaim(claim: PersistentVolumeClaim): ClassUser {
  return userOf(claim.metadata, attributesClassesOf(claim));
}

function userOf(
  { name = '', namespace = '', uid = '', resourceVersion = '' }: ObjectMeta,
  classes: readonly string[],
): ClassUser {
  return { metadata: { name, namespace, uid, resourceVersion }, classes };
}
