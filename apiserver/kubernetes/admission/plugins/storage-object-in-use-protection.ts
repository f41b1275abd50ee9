import { FINALIZER } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionPlugin } from '../plugin';
import { anyOf, pluginOf, writesOf } from '../plugin';
import { CLAIMS, VOLUMES } from '../../cluster/resources';

/** Adds the protection finalizer to new claims and volumes; the controller-manager removes it when they are unused. */
export function storageObjectInUseProtection(isOn: boolean): AdmissionPlugin {
  return pluginOf(anyOf(writesOf(CLAIMS, ['CREATE']), writesOf(VOLUMES, ['CREATE'])), {
    mutate({ write: { endpoint }, object }) {
      if (!isOn) return object;
      const isClaim = endpoint.row.resource === CLAIMS.resource;
      return (
        object && withFinalizer(object, isClaim ? FINALIZER.claimProtection : FINALIZER.volumeProtection)
      );
    },
  });
}

function withFinalizer<T extends ApiObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}
