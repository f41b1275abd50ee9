import { FINALIZER } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import type { ResourceName } from '../../cluster/cluster-reader';
import { ATTRIBUTES_CLASSES, CLAIMS, VOLUMES } from '../../cluster/resources';
import type { AdmissionPlugin } from '../plugin';
import { anyOf, pluginOf, writesOf } from '../plugin';

/** What is protected, and by which finalizer. */
export interface InUseProtection {
  readonly claimsAndVolumes: boolean;
  /** VolumeAttributesClasses. */
  readonly classes: boolean;
}

/** Adds the protection finalizer to new objects; the controller-manager removes it when they are unused. */
export function storageObjectInUseProtection({
  claimsAndVolumes,
  classes,
}: InUseProtection): AdmissionPlugin {
  const rows: readonly (readonly [ResourceName, boolean, string])[] = [
    [CLAIMS, claimsAndVolumes, FINALIZER.claimProtection],
    [VOLUMES, claimsAndVolumes, FINALIZER.volumeProtection],
    [ATTRIBUTES_CLASSES, classes, FINALIZER.classProtection],
  ];
  const volumes = anyOf(writesOf(CLAIMS, ['CREATE']), writesOf(VOLUMES, ['CREATE']));
  return pluginOf(anyOf(volumes, writesOf(ATTRIBUTES_CLASSES, ['CREATE'])), {
    mutate({ write: { endpoint }, object }) {
      const row = rows.find(([{ resource }]) => resource === endpoint.row.resource);
      return row?.[1] === true && object !== undefined ? withFinalizer(object, row[2]) : object;
    },
  });
}

function withFinalizer<T extends ApiObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}
