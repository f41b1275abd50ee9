import { RESOURCE } from '../../shared/api/resource-names';
import { deepEqual } from '../../shared/object/clone';
import { ROOT_CA } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runWithRootCa } from '../runtime/root-ca-file';
import { keepInEveryNamespace } from './keep-in-every-namespace';

/** Keeps the CA certificate of the API server in a ConfigMap of every namespace. */
export async function runRootCaPublisher(context: ControllerContext, signal: AbortSignal): Promise<void> {
  await runWithRootCa(context.options.rootCa, signal, async (pem = '', current) => {
    const data = { [ROOT_CA.key]: pem };
    await keepInEveryNamespace(
      context,
      {
        resource: RESOURCE.configmaps,
        name: ROOT_CA.configMap,
        objectIn: (namespace) => ({ metadata: { namespace, name: ROOT_CA.configMap }, data }),
        corrected: (found) => (deepEqual(found.data, data) ? undefined : { ...found, data }),
      },
      current,
    );
  });
}
