import { RESOURCE } from '../../shared/api/resource-names';
import type { Secret } from '../../shared/api/types/core-v1';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createInformer } from '../../shared/informer/informer';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import { TOKEN_SECRETS, expirationOf } from './token-secret';

const WORKERS = 1;

/** Deletes bootstrap tokens when they expire. */
export async function runTokenCleaner(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { client, reader, log } = context;
  const informer = createInformer({ ...TOKEN_SECRETS, client: reader, log });
  const reconcile = async (secret: Secret, stop: AbortSignal): Promise<Requeue | undefined> => {
    const leftMs = expirationOf(secret) - clock.now();
    if (leftMs > 0) return leftMs === Infinity ? undefined : { requeueAfterMs: leftMs };
    const { namespace, name = '', uid = '', resourceVersion = '' } = secret.metadata;
    try {
      // The preconditions keep a token whose expiration was extended meanwhile.
      const preconditions = { uid, resourceVersion };
      await client.delete(RESOURCE.secrets, { namespace, name }, { preconditions }, { signal: stop });
      log.info({ secret: name }, 'expired bootstrap token deleted');
    } catch (error) {
      if (!hasCode(error, 404, 409)) throw error;
    }
    return undefined;
  };

  await runObjectLoop({ context, informer, workers: WORKERS, reconcile }, signal);
}
