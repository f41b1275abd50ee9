import type { ApiClient } from './client';
import { namespace } from './objects';

/** The path of the configmaps in a new namespace, so that no test sees another's events. */
export async function freshCollection(client: ApiClient, name: string): Promise<string> {
  const { status } = await client.create('/api/v1/namespaces', namespace(name));
  if (status !== 201) throw new Error(`cannot create namespace ${name}: ${String(status)}`);
  return `/api/v1/namespaces/${name}/configmaps`;
}
