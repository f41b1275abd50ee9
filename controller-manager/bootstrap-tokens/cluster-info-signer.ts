import { RESOURCE } from '../../shared/api/resource-names';
import { hasCode } from '../../shared/client/status';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createInformer } from '../../shared/informer/informer';
import { deepEqual } from '../../shared/object/clone';
import { CLUSTER_INFO } from '../../shared/client/cluster-info';
import { NAMESPACE } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { detachedSignature } from './detached-signature';
import type { BootstrapToken } from './token-secret';
import { TOKEN_SECRETS, expirationOf, signingToken } from './token-secret';
const SIGNATURE_PREFIX = 'jws-kubeconfig-';
const WORKERS = 1;

/**
 * Keeps a signature of every signing bootstrap token in the ConfigMap `cluster-info`. A joining node that knows a token can verify the
 * kubeconfig that it reads anonymously.
 */
export async function runClusterInfoSigner(
  { client, reader, log, createQueue, clock }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const queue = createQueue();
  const secrets = createInformer({ ...TOKEN_SECRETS, client: reader, log });
  const maps = createInformer({
    client: reader,
    resource: RESOURCE.configmaps,
    namespace: NAMESPACE.public,
    fieldSelector: `metadata.name=${CLUSTER_INFO.configMap}`,
    log,
  });
  const key = `${NAMESPACE.public}/${CLUSTER_INFO.configMap}`;
  const enqueue = (): void => queue.add(key);
  maps.addHandler({ onAdd: enqueue, onUpdate: enqueue });
  secrets.addHandler({ onAdd: enqueue, onUpdate: enqueue, onDelete: enqueue });

  const reconcile = async (_key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const map = maps.store.get(key);
    const content = map?.data?.[CLUSTER_INFO.key];
    if (map?.data === undefined || content === undefined) return undefined;
    const now = clock.now();
    const valid = secrets.store.list().filter((secret) => expirationOf(secret) > now);
    const tokens = valid.flatMap((secret) => signingToken(secret) ?? []);
    const data = signed(map.data, { content, tokens });
    if (!deepEqual(data, map.data)) {
      try {
        await client.update(RESOURCE.configmaps, { ...map, data }, { signal: stop });
        log.info({ tokens: tokens.length }, 'cluster-info signed');
      } catch (error) {
        // A deleted or replaced ConfigMap has its own event.
        if (!hasCode(error, 404, 409)) throw error;
      }
    }
    const nextEnd = Math.min(...valid.map(expirationOf));
    return nextEnd === Infinity ? undefined : { requeueAfterMs: nextEnd - now };
  };

  await runInformedLoop({ informers: [maps, secrets], queue, workers: WORKERS, log, reconcile }, signal);
}

/** Returns the data with the signatures of exactly these tokens. */
function signed(
  data: Readonly<Record<string, string>>,
  { content, tokens }: { readonly content: string; readonly tokens: readonly BootstrapToken[] },
): Readonly<Record<string, string>> {
  const rest = Object.entries(data).filter(([each]) => !each.startsWith(SIGNATURE_PREFIX));
  const signatures = tokens.map((token) => [
    `${SIGNATURE_PREFIX}${token.id}`,
    detachedSignature(content, token),
  ]);
  return Object.fromEntries([...rest, ...signatures]) as Readonly<Record<string, string>>;
}
