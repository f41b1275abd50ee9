import { RESOURCE } from '../../shared/api/resource-names';
import type { ServerStorageVersion, StorageVersion } from '../../shared/api/types/apiserverinternal-v1alpha1';
import type { Lease } from '../../shared/api/types/coordination-v1';
import { hasCode } from '../../shared/client/status';
import { createInformer } from '../../shared/informer/informer';
import { withServers } from '../../shared/meta/storage-versions';
import { API_SERVER_MANAGER, LABEL, NAMESPACE } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
const WORKERS = 1;

/** Removes the entries of API servers without an identity lease from StorageVersions. */
export async function runStaleStorageVersions(
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { client, reader, log, createQueue, clock } = context;
  const leases = createInformer({
    resource: RESOURCE.leases,
    namespace: NAMESPACE.system,
    client: reader,
    log,
  });
  const versions = createInformer({ resource: RESOURCE.storageversions, client: reader, log });
  const queue = createQueue();
  const isKnown = (id: string): boolean => isIdentity(leases.store.get(`${NAMESPACE.system}/${id}`));
  const enqueue = (version: StorageVersion): void => {
    if (serverIds(version).some((id) => !isKnown(id))) queue.add(version.metadata.name ?? '');
  };
  versions.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  leases.addHandler({
    onDelete: ({ metadata: { name = '' } }) => {
      for (const version of versions.store.list()) {
        if (serverIds(version).includes(name)) queue.add(version.metadata.name ?? '');
      }
    },
  });
  const reconcile = async (name: string, stop: AbortSignal): Promise<undefined> => {
    // Two informers are not equally current, so the absence of a lease is confirmed by the server.
    const version = await found(client.get(RESOURCE.storageversions, { name }, { signal: stop }));
    if (version === undefined) return;
    const servers = version.status?.storageVersions ?? [];
    const alive: ServerStorageVersion[] = [];
    for (const server of servers) {
      const address = { namespace: NAMESPACE.system, name: server.apiServerID ?? '' };
      if (isIdentity(await found(client.get(RESOURCE.leases, address, { signal: stop })))) alive.push(server);
    }
    if (alive.length === servers.length) return;
    log.info({ storageVersion: name, gone: servers.length - alive.length }, 'stale servers taken out');
    if (alive.length > 0) {
      await client.updateStatus(RESOURCE.storageversions, withServers(version, alive, clock.now()), {
        signal: stop,
      });
      return;
    }
    const { uid = '', resourceVersion = '' } = version.metadata;
    const options = { preconditions: { uid, resourceVersion } };
    await found(client.delete(RESOURCE.storageversions, { name }, options, { signal: stop }));
  };
  await runInformedLoop({ informers: [leases, versions], queue, workers: WORKERS, log, reconcile }, signal);
}

function serverIds({ status }: StorageVersion): readonly string[] {
  return (status?.storageVersions ?? []).map(({ apiServerID = '' }) => apiServerID);
}

function isIdentity(lease: Lease | undefined): boolean {
  return lease?.metadata.labels?.[LABEL.component] === API_SERVER_MANAGER;
}

/** Returns undefined for a 404. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
}
