import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import { hasCode } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ApiObject } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';

/** What is left in a namespace after everything that can be deleted was asked to go. */
export interface ContentReport {
  /** How many objects remain, by `resource.group`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** How many objects each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** How long the rest may take to go by itself, in seconds; 0 if nothing remains that is on its way. */
  readonly estimateSeconds: number;
  readonly errors: readonly Error[];
}

const PARALLEL_RESOURCES = 8;
const PARALLEL_DELETES = 8;
/** What is assumed for a finalizer, whose time nobody knows. */
const FINALIZER_SECONDS = 15;

/**
 * Asks every object of the namespace to go, resource by resource; a failure of one does not stop the others. Objects that vanish or
 * appear meanwhile are no failure: the next pass sees them.
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

/** Returns what is there after the deletion. */
async function deleteResource(target: Target): Promise<readonly ApiObject[]> {
  const found = await listAll(target);
  if (found.length === 0) return [];
  await deleteObjects(target, found);
  return listAll(target);
}

async function deleteObjects(target: Target, objects: readonly ApiObject[]): Promise<void> {
  const { client, resource, namespace, signal } = target;
  // Never orphan: nothing of the namespace is to stay behind.
  const policy = { propagationPolicy: 'Background' } as const;
  if (resource.verbs.includes('deletecollection')) {
    try {
      await client.deleteCollection(resource, { namespace }, policy, { signal });
      return;
    } catch (error) {
      // Discovery and server may disagree for a moment; one by one is always possible.
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
    // The type itself has gone: a custom resource whose definition was deleted.
    if (hasCode(error, 404, 405)) return [];
    throw error;
  }
}

/** How long an object that is being deleted may still need; 0 if nothing is known to hold it. */
function secondsToGo({ metadata }: ApiObject): number {
  const graceSeconds = metadata.deletionGracePeriodSeconds ?? 0;
  return Math.max(graceSeconds, (metadata.finalizers ?? []).length > 0 ? FINALIZER_SECONDS : 0);
}
