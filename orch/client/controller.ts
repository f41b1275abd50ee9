import { runInformedLoop } from '../../controller-manager/runtime/informed-loop';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { WorkQueueOptions } from '../../shared/concurrency/work-queue';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Store } from '../../shared/informer/store';
import { keyOfObject } from '../../shared/informer/store';
import type { Log } from '../../shared/log/log';
import { silentLog } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import type { Connection } from './connect';
import type { ResourceDefinition } from './resource-client';

/**
 * Brings the world in line for one object.
 *
 * @param object Undefined once it is gone.
 * @param key `namespace/name`, or `name`.
 * @returns When to look at it again though nothing changes. What it throws is logged and retried with backoff.
 */
export type Reconcile<T extends ApiObject> = (
  object: T | undefined,
  key: string,
  signal: AbortSignal,
) => Promise<Requeue | undefined | void>;

/** What a controller reconciles, and how. */
export interface ControllerOptions<T extends ApiObject> {
  readonly client: Connection;
  readonly resource: ResourceDefinition<T>;
  /** All namespaces if not given. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly reconcile: Reconcile<T>;
  /** Resources whose objects lead back to those of the controller: by default to their controlling owner. */
  readonly owns?: readonly (ResourceDefinition & {
    /** The keys of the objects to reconcile when this one changes. */
    readonly keysOf?: (object: ApiObject) => readonly string[];
  })[];
  /** How many objects are reconciled at once; 1 if absent. One object never is twice at once. */
  readonly workers?: number;
  readonly queue?: WorkQueueOptions;
  readonly log?: Log;
  /** Called once all lists are read, with the objects of the controller. */
  readonly onSynced?: (store: Store<T>) => void;
}

/**
 * Reconciles every object when it appears, after each change of it or of what it owns, and when it is gone. Resolves when the signal has
 * aborted and all work has ended. Combine it with `runWithLeadership` where several processes run it.
 */
export async function runController<T extends ApiObject>(
  options: ControllerOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { client, resource, namespace, labelSelector, owns = [], log = silentLog } = options;
  const queue = createWorkQueue(options.queue);
  const informer = createInformer<T>({
    client: client.raw,
    resource,
    namespace,
    labelSelector,
    log,
  });
  const enqueue = (object: T): void => queue.add(keyOfObject(object));
  informer.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after), onDelete: enqueue });
  const owned = owns.map((each) => {
    const keysOf = each.keysOf ?? ((object: ApiObject) => ownerKeys(object, resource));
    const follower: Informer<ApiObject> = createInformer({
      client: client.raw,
      resource: each,
      namespace,
      log,
    });
    const lead = (object: ApiObject): void => {
      for (const key of keysOf(object)) queue.add(key);
    };
    follower.addHandler({
      onAdd: lead,
      onUpdate: (before, after) => {
        lead(before);
        lead(after);
      },
      onDelete: lead,
    });
    return follower;
  });
  const { onSynced } = options;
  if (onSynced !== undefined) {
    Promise.all([informer, ...owned].map(async (each) => each.whenSynced(signal))).then(
      () => onSynced(informer.store),
      () => undefined,
    );
  }
  await runInformedLoop(
    {
      informers: [informer, ...owned],
      queue,
      workers: options.workers ?? 1,
      log,
      reconcile: async (key, stop) =>
        (await options.reconcile(informer.store.get(key), key, stop)) ?? undefined,
    },
    signal,
  );
}

function ownerKeys({ metadata }: ApiObject, resource: ResourceDefinition): readonly string[] {
  const { namespace, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(
    ({ controller, kind, apiVersion }) =>
      controller === true && kind === resource.kind && groupOf(apiVersion) === resource.group,
  );
  if (owner === undefined) return [];
  return [
    keyOfObject({
      metadata: resource.namespaced ? { namespace: namespace ?? '', name: owner.name } : { name: owner.name },
    }),
  ];
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
