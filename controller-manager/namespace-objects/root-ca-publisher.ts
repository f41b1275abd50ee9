import { deepEqual } from '../../shared/object/clone';
import type { ApiObject } from '../../shared/object/object';
import { GROUP, ROOT_CA } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { keepInEveryNamespace } from './keep-in-every-namespace';

const CONFIG_MAPS = { group: GROUP.core, version: 'v1', resource: 'configmaps' } as const;

/** Keeps the certificate by which pods know the API server in a ConfigMap of every namespace, and puts it right when it is changed. */
export async function runRootCaPublisher(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const data = { [ROOT_CA.key]: context.options.rootCa ?? '' };
  await keepInEveryNamespace(
    context,
    {
      resource: CONFIG_MAPS,
      name: ROOT_CA.configMap,
      objectIn: (namespace): ApiObject => ({ metadata: { namespace, name: ROOT_CA.configMap }, data }),
      corrected: (current) => (deepEqual(current['data'], data) ? undefined : { ...current, data }),
    },
    signal,
  );
}
