import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ApiObject } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';

/** What remains in a namespace after deletion of everything was requested. */
export interface ContentReport {
  /** Number of remaining objects, by `resource.group`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Number of objects held by each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Estimated time until the rest is gone, in seconds; 0 if nothing remains that is terminating. */
  readonly estimateSeconds: number;
  readonly errors: readonly Error[];
}

const PARALLEL_RESOURCES = 8;
const PARALLEL_DELETES = 8;
/** The assumed time of a finalizer, in seconds. */
const FINALIZER_SECONDS = 15;

/**
 * Requests deletion of every object of the namespace, resource by resource; a failure of one does not stop the others. Objects that
 * vanish or appear meanwhile are seen by the next pass.
 */
export async function deleteContent(
  client: Client,
  place: { readonly namespace: string; readonly resources: readonly ResourceRow[] },
  signal: AbortSignal,
): Promise<ContentReport> {
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const errors: Error[] = [];
  let estimateSeconds = 0;
  const deletable = place.resources.filter(isDeletableContent);
  await forEachLimited(deletable, PARALLEL_RESOURCES, async (resource) => {
    try {
      const left = await deleteResource({ client, resource, namespace: place.namespace, signal });
      if (left.length === 0) return;
      remaining.set(`${resource.resource}.${resource.group}`, left.length);
      for (const name of left.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
        finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
      }
      const seconds = Math.max(...left.map(secondsToGo));
      estimateSeconds = Math.max(estimateSeconds, seconds);
      if (seconds === 0) {
        const gvr = `${apiVersionOf(resource)}, Resource=${resource.resource}`;
        errors.push(
          new Error(`unexpected items still remain in namespace: ${place.namespace} for gvr: ${gvr}`),
        );
      }
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error instanceof Error ? error : new Error(String(error)));
    }
  });
  return { remaining, finalizers, estimateSeconds, errors };
}

function isDeletableContent({ namespaced, verbs }: ResourceRow): boolean {
  return namespaced && verbs.includes('list') && verbs.includes('delete');
}

interface Target {
  readonly client: Client;
  readonly resource: ResourceRow;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Returns the objects that remain after the deletion. */
async function deleteResource(target: Target): Promise<readonly ApiObject[]> {
  const found = await listAll(target);
  if (found.length === 0) return [];
  await deleteObjects(target, found);
  return listAll(target);
}

async function deleteObjects(target: Target, objects: readonly ApiObject[]): Promise<void> {
  const { client, resource, namespace, signal } = target;
  // Never Orphan: no object of the namespace may stay.
  const policy = { propagationPolicy: 'Background' } as const;
  if (resource.verbs.includes('deletecollection')) {
    try {
      await client.deleteCollection(resource, { namespace }, policy, { signal });
      return;
    } catch (error) {
      // Discovery and server may disagree briefly; deletion one by one always works.
      if (!hasCode(error, 404, 405)) throw error;
    }
  }
  await forEachLimited(objects, PARALLEL_DELETES, async ({ metadata: { name = '' } }) => {
    try {
      await client.delete(resource, { namespace, name }, policy, { signal });
    } catch (error) {
      if (!hasCode(error, 404, 405)) throw error;
    }
  });
}

async function listAll({ client, resource, namespace, signal }: Target): Promise<readonly ApiObject[]> {
  try {
    return (await client.listAll(resource, { namespace, accept: METADATA_ONLY.list, signal })).items;
  } catch (error) {
    // The resource is gone: the definition of a custom resource was deleted.
    if (hasCode(error, 404, 405)) return [];
    throw error;
  }
}

/** Returns how long a terminating object may still need, in seconds; 0 if nothing is known to hold it. */
function secondsToGo({ metadata }: ApiObject): number {
  const graceSeconds = metadata.deletionGracePeriodSeconds ?? 0;
  return Math.max(graceSeconds, (metadata.finalizers ?? []).length > 0 ? FINALIZER_SECONDS : 0);
}
