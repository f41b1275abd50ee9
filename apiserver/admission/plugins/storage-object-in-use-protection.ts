import { FINALIZER } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionPlugin } from '../plugin';
import { anyOf, writesOf } from '../plugin';
import { CLAIMS, VOLUMES } from './resources';

/** New claims and volumes get a finalizer, so that none goes while it is in use; the controller-manager takes it away again. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  concerns: anyOf(writesOf(CLAIMS, ['CREATE']), writesOf(VOLUMES, ['CREATE'])),
  mutate({ write: { endpoint }, object }) {
    const isClaim = endpoint.row.resource === CLAIMS.resource;
    return object && withFinalizer(object, isClaim ? FINALIZER.claimProtection : FINALIZER.volumeProtection);
  },
};

function withFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}
