import { randomUUID } from 'node:crypto';
import type { Backend } from '../../engine/storage/backend';
import { StorageError } from '../../engine/storage/backend';
import { readOrCreate } from './own-record';

/** Returns the id that all replicas on one store share. The first replica that needs it writes it. */
export async function clusterIdOf(backend: Backend, prefix: string, signal: AbortSignal): Promise<string> {
  const id = await readOrCreate(backend, { key: `${prefix}.cluster-id`, make: randomUUID }, signal);
  if (id === undefined)
    throw new StorageError('unavailable', 'the id of the cluster was removed while it was read');
  return id;
}
