import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { Registry } from '../../engine/registry/registry';
import type { VerbContext } from '../../engine/handlers/context';
import { apiGroup, apiResourceList } from './documents';

/** How long a document that can be made anyway waits for the registry to be confirmed. */
const WAIT_MS = 1_000;

/**
 * The registry that a document below this path is made of. Where custom resources can be in it, it knows all that were served, by any
 * replica, before this call; when that cannot be known now, a document is made of what is known, while a group that is not known is
 * answered with the error of `confirmRegistry`, because it may well be served.
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
