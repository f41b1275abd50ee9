import type { Requeue } from '../../shared/concurrency/work-loop';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { ApiObject } from '../../shared/object/object';
import type { ControllerContext } from './controller';
import { runInformedLoop } from './informed-loop';

export interface ObjectLoopOptions<T extends ApiObject> {
  readonly context: Pick<ControllerContext, 'log' | 'createQueue'>;
  readonly informer: Informer<T>;
  /** How many objects are worked on at once. */
  readonly workers: number;
  /** Whether there is work for an object as it is now; there is for all if not given. */
  readonly concerns?: (object: T) => boolean;
  /** Brings the world in line for one object, the newest state that is known of it. Failures are as with any loop. */
  readonly reconcile: (object: T, signal: AbortSignal) => Promise<Requeue | undefined>;
}

/**
 * Works on every object once it is there, and again whenever it has changed. Resolves when everything has ended.
 *
 * For a controller of one collection whose objects are worked on one by one, and that has nothing to do once one is gone. Others take
 * `runInformedLoop`, on which this one stands.
 */
export async function runObjectLoop<T extends ApiObject>(
  { context, informer, workers, concerns = () => true, reconcile }: ObjectLoopOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { log } = context;
  const queue = context.createQueue();
  const enqueue = (object: T): void => {
    if (concerns(object)) queue.add(keyOfObject(object));
  };
  informer.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  const reconcileKey = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const object = informer.store.get(key);
    return object !== undefined && concerns(object) ? reconcile(object, stop) : undefined;
  };
  await runInformedLoop({ informers: [informer], queue, workers, log, reconcile: reconcileKey }, signal);
}
