import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { Registry } from '../../engine/registry/registry';
import type { VerbContext } from '../../engine/handlers/context';
import { apiGroup, apiResourceList } from './documents';

/** Limit in ms for the confirmation of the registry, if the document can be built without it. */
const WAIT_MS = 1_000;

/**
 * Returns the registry for a document below this path. If the path can contain custom resources, it includes all that any replica served
 * before this call. If that cannot be confirmed now, known groups use the known state. An unknown group returns the error of
 * `confirmRegistry`, because it may well be served.
 */
export async function confirmedRegistry(
  { registry, confirmRegistry }: Pick<VerbContext, 'registry' | 'confirmRegistry'>,
  path: string,
  signal: AbortSignal,
): Promise<Registry> {
  const [root = '', group = '', version = ''] = path.split('/').filter((part) => part !== '');
  const isWhole = root === '' || root === 'openapi' || (root === 'apis' && group === '');
  if (!isWhole && root !== 'apis') return registry();
  if (version !== '' && isBuiltIn(registry(), group, version)) return registry();
  try {
    await withTimeLimit(signal, WAIT_MS, confirmRegistry);
  } catch (error) {
    if (signal.aborted || !(isWhole || isKnown(registry(), group, version))) throw error;
  }
  return registry();
}

function isBuiltIn(registry: Registry, group: string, version: string): boolean {
  const [first] = registry.endpointsOf(group, version);
  return first !== undefined && first.custom === undefined;
}

function isKnown(registry: Registry, group: string, version: string): boolean {
  return (
    (version === ''
      ? apiGroup(registry, group)
      : apiResourceList(registry, { group, version, isHashed: false })) !== undefined
  );
}
