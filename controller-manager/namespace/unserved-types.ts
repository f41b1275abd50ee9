import { RESOURCE } from '../../shared/api/resource-names';
import type { CustomResourceDefinition } from '../../shared/api/types/apiextensions-v1';
import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import type { GroupVersionFailure, ResourceRow } from '../../shared/client/discovery';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';

const PARALLEL_READS = 8;

/**
 * Returns the custom types that a replica serves and discovery of another replica does not list yet: a namespace may hold objects of
 * them. Definitions are read after discovery, with a consistent read.
 */
export async function unservedTypes(
  client: Client,
  served: readonly ResourceRow[],
  signal: AbortSignal,
): Promise<readonly GroupVersionFailure[]> {
  const known = new Set(served.map(({ group, resource }) => `${resource}.${group}`));
  if (
    !known.has(`${RESOURCE.customresourcedefinitions.resource}.${RESOURCE.customresourcedefinitions.group}`)
  )
    return [];
  const { items } = await client.listAll(RESOURCE.customresourcedefinitions, {
    accept: METADATA_ONLY.list,
    signal,
  });
  const names = items.map(({ metadata }) => metadata.name ?? '').filter((name) => !known.has(name));
  const missing: GroupVersionFailure[] = [];
  await forEachLimited(names, PARALLEL_READS, async (name) => {
    const version = await servedVersion(client, name, signal);
    if (version === undefined) return;
    missing.push({ groupVersion: version, error: new Error(`${name} is not served everywhere yet`) });
  });
  return missing;
}

/** Returns the first version in which objects of the definition can be created; undefined if there is none. */
async function servedVersion(client: Client, name: string, signal: AbortSignal): Promise<string | undefined> {
  let definition: CustomResourceDefinition;
  try {
    definition = await client.get(RESOURCE.customresourcedefinitions, { name }, { signal });
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
  const { spec, status } = definition;
  const isEstablished = (status?.conditions ?? []).some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
  const version = spec.versions?.find(({ served }) => served);
  return isEstablished && version !== undefined ? `${spec.group}/${version.name}` : undefined;
}
