import { RESOURCE } from '../../shared/api/resource-names';
import { deepEqual } from '../../shared/object/clone';
import { ROOT_CA } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { keepInEveryNamespace } from './keep-in-every-namespace';

/** Keeps the CA certificate of the API server in a ConfigMap of every namespace. */
export async function runRootCaPublisher(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const data = { [ROOT_CA.key]: context.options.rootCa ?? '' };
  await keepInEveryNamespace(
    context,
    {
      resource: RESOURCE.configmaps,
      name: ROOT_CA.configMap,
      objectIn: (namespace) => ({ metadata: { namespace, name: ROOT_CA.configMap }, data }),
      corrected: (current) => (deepEqual(current.data, data) ? undefined : { ...current, data }),
    },
    signal,
  );
}
