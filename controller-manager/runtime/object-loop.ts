import type { Requeue } from '../../shared/concurrency/work-loop';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { ApiObject } from '../../shared/object/object';
import type { ControllerContext } from './controller';
import { runInformedLoop } from './informed-loop';

export interface ObjectLoopOptions<T extends ApiObject> {
  readonly context: Pick<ControllerContext, 'log' | 'createQueue'>;
  readonly informer: Informer<T>;
  /** Number of objects processed concurrently. */
  readonly workers: number;
  /** Returns the flow of an object: flows take turns. By default its namespace; each object of the cluster is a flow of its own. */
  readonly flowOf?: (object: T) => string;
  /** Reports whether an object needs work; all do if absent. */
  readonly concerns?: (object: T) => boolean;
  /** Reconciles one object, given its newest known state. Failures are retried with backoff. */
  readonly reconcile: (object: T, signal: AbortSignal) => Promise<Requeue | undefined>;
}

/** Reconciles every object when it appears and after each change. Resolves when everything has ended. */
export async function runObjectLoop<T extends ApiObject>(
  { context, informer, workers, flowOf, concerns = () => true, reconcile }: ObjectLoopOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { log } = context;
  const flowOfKey = (key: string): string => {
    const object = informer.store.get(key);
    return object === undefined || flowOf === undefined ? key : flowOf(object);
  };
  const queue = context.createQueue(flowOf === undefined ? {} : { flowOf: flowOfKey });
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
