import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { createInformer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { ControllerContext } from '../controller';
import { runInformedLoop } from '../informed-loop';
import type { Secret } from './token-secret';
import { SECRETS, TOKEN_SECRETS, expirationOf } from './token-secret';

const WORKERS = 1;

/** Deletes bootstrap tokens at the moment at which they expire. */
export async function runTokenCleaner(
  { client, reader, log }: ControllerContext,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  const queue = createWorkQueue();
  const secrets = createInformer<Secret>({ ...TOKEN_SECRETS, client: reader, log });
  const enqueue = (secret: Secret): void => queue.add(keyOfObject(secret));
  secrets.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });

  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const secret = secrets.store.get(key);
    if (secret === undefined) return undefined;
    const leftMs = expirationOf(secret) - clock.now();
    if (leftMs > 0) return leftMs === Infinity ? undefined : { requeueAfterMs: leftMs };
    const { namespace, name = '', uid = '', resourceVersion = '' } = secret.metadata;
    try {
      // One whose life is made longer at this moment stays.
      const preconditions = { uid, resourceVersion };
      await client.delete(SECRETS, { namespace, name }, { preconditions }, { signal: stop });
      log.info({ secret: name }, 'deleted an expired bootstrap token');
    } catch (error) {
      if (!hasCode(error, 404, 409)) throw error;
    }
    return undefined;
  };

  await runInformedLoop({ informers: [secrets], queue, workers: WORKERS, log, reconcile }, signal);
}
