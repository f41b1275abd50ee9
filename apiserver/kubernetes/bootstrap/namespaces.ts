import { GROUP, NAMESPACE } from '../../../shared/names';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import { createMissing } from './create-missing';

const FIRST_NAMESPACES: readonly string[] = [
  NAMESPACE.default,
  NAMESPACE.system,
  NAMESPACE.public,
  NAMESPACE.nodeLease,
];

/** Creates the missing namespaces that every cluster has. Replicas may do so concurrently. */
export async function createFirstNamespaces(
  store: WriteContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'namespaces');
  if (endpoint === undefined) throw new Error('namespaces are not served');
  for (const name of FIRST_NAMESPACES) await createMissing(store, endpoint, { metadata: { name } }, signal);
}
