import { RESOURCE } from '../../shared/api/resource-names';
import type { Namespace } from '../../shared/api/types/core-v1';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createInformer } from '../../shared/informer/informer';
import type { ApiObject, ResourceOf, Sent } from '../../shared/object/object';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { isTerminating } from '../runtime/namespace-object';

/** An object that exists in every namespace. */
export interface KeptObject<T extends ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly name: string;
  readonly objectIn: (namespace: string) => Sent<T>;
  /** Returns the object as it should be, or undefined if it is correct. */
  readonly corrected: (current: T) => Sent<T> | undefined;
}

const WORKERS = 5;

/** Creates the object in every active namespace, and creates or corrects it again when needed. */
export async function keepInEveryNamespace<T extends ApiObject>(
  { client, reader, log, createQueue }: ControllerContext,
  { resource, name, objectIn, corrected }: KeptObject<T>,
  signal: AbortSignal,
): Promise<void> {
  const queue = createQueue();
  const namespaces = createInformer({ client: reader, resource: RESOURCE.namespaces, log });
  const fieldSelector = `metadata.name=${name}`;
  const objects = createInformer({ client: reader, resource, fieldSelector, log });
  const enqueue = (namespace: Namespace): void => {
    if (!isTerminating(namespace)) queue.add(namespace.metadata.name ?? '');
  };
  const enqueueOf = ({ metadata }: ApiObject): void => queue.add(metadata.namespace ?? '');
  namespaces.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  objects.addHandler({
    // An object that another client created may need a correction.
    onAdd: enqueueOf,
    onUpdate: (_before, after) => enqueueOf(after),
    onDelete: enqueueOf,
  });

  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const namespace = namespaces.store.get(key);
    if (namespace === undefined || isTerminating(namespace)) return undefined;
    const current = objects.store.get(`${key}/${name}`);
    try {
      if (current === undefined) await client.create(resource, objectIn(key), { signal: stop });
      else {
        const better = corrected(current);
        if (better !== undefined) await client.update(resource, better, { signal: stop });
      }
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return undefined;
  };

  await runInformedLoop(
    { informers: [namespaces, objects], queue, workers: WORKERS, log, reconcile },
    signal,
  );
}

/** Reports errors after which an event brings the next attempt: a conflict, or a deleted or terminating namespace. */
function isOvertaken(error: unknown): boolean {
  if (hasReason(error, 'AlreadyExists') || hasCode(error, 404)) return true;
  if (!hasReason(error, 'Forbidden')) return false;
  return (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
