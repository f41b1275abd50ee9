import type { StorageVersion } from '../../../shared/api/types/apiserverinternal-v1alpha1';
import { RESOURCES } from '../../../shared/api/resources';
import { pause } from '../../../shared/concurrency/pause';
import type { Log } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { withServer, withServers } from '../../../shared/meta/storage-versions';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint, StoredResource } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import type { WriteContext } from '../../engine/registry/write-context';
import { createMissing } from './create-missing';
import { ownRequest } from './own-request';
import { reconcileLoop } from './reconcile-loop';

/** How often it is looked whether somebody has changed what this replica says. */
const ROUND_MS = 600_000;
/** After a round in which something failed, while writes wait for it. */
const RETRY_MS = 1_000;

export interface StorageVersionParts {
  readonly store: WriteContext;
  /** What is built in: of custom resources nothing is said. */
  readonly registry: Registry;
  /** Of this replica. */
  readonly id: string;
  /** Called after each round in which everything was said. */
  readonly onComplete: () => void;
  readonly log: Log;
}

/** What this replica says of the versions in which it stores resources, and those that it can read. */
export interface StorageVersions {
  /** Why the resource (`pods`, `deployments.apps`) may not be written yet; undefined when it may. */
  pending(name: string): { readonly lastError: string | undefined } | undefined;
  /** One round: every resource has a StorageVersion in which this replica stands. Rejects if one of them could not be had. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** A round every ten minutes, and soon after one that failed, until the signal aborts. A round that fails is logged. */
  run(signal: AbortSignal): Promise<void>;
}

/** Undefined where StorageVersions are not served. */
export function createStorageVersions(parts: StorageVersionParts): StorageVersions | undefined {
  const { registry, onComplete, log } = parts;
  const endpoint = registry.endpoint(GROUP.apiserverinternal, 'v1alpha1', 'storageversions');
  if (endpoint === undefined) return undefined;
  const told = toldResources(registry);
  const waiting = new Map(
    told.flatMap((each) => each.served.map((name) => [name, { lastError: undefined as string | undefined }])),
  );
  let hasFailed = false;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const failures: string[] = [];
    for (const resource of told) {
      try {
        await tell(parts, { endpoint, resource }, signal);
        for (const name of resource.served) waiting.delete(name);
      } catch (error) {
        const text = String(error);
        failures.push(`${resource.name}: ${text}`);
        for (const name of resource.served) if (waiting.has(name)) waiting.set(name, { lastError: text });
      }
    }
    hasFailed = failures.length > 0;
    if (hasFailed) throw new Error(failures.join('; '));
    onComplete();
  };
  return {
    pending: (name) => waiting.get(name),
    reconcile,
    async run(signal) {
      const untilNext = async (): Promise<void> => pause(hasFailed ? RETRY_MS : ROUND_MS, signal);
      const failure = 'failed to tell in which versions this replica stores resources';
      await reconcileLoop({ reconcile, untilNext, log, failure }, signal);
    },
  };
}

/** A resource that is stored, with the names by which clients know it: some are served in two groups. */
interface ToldResource {
  /** Of its StorageVersion: `core.pods`. */
  readonly name: string;
  /** `pods`, `deployments.apps`. */
  readonly served: readonly string[];
  readonly stored: StoredResource;
}

/** Of several groups the first in alphabetical order names it, so that all replicas choose the same. */
function toldResources(registry: Registry): readonly ToldResource[] {
  const endpoints = registry.groups.flatMap(({ group, versions }) =>
    versions.flatMap((version) => registry.endpointsOf(group, version)),
  );
  return registry.stored.map((stored) => {
    const groups = endpoints.filter((each) => each.stored === stored).map(({ row }) => row.group);
    const [first = stored.group] = groups.toSorted();
    const { resource } = stored;
    return {
      name: `${first === '' ? 'core' : first}.${resource}`,
      served: [...new Set(groups)].map((group) => (group === '' ? resource : `${resource}.${group}`)),
      stored,
    };
  });
}

async function tell(
  { store, id }: StorageVersionParts,
  { endpoint, resource }: { readonly endpoint: Endpoint; readonly resource: ToldResource },
  signal: AbortSignal,
): Promise<void> {
  const metadata = { name: resource.name };
  await createMissing(store, endpoint, { metadata, spec: {} }, signal);
  const server = {
    apiServerID: id,
    encodingVersion: resource.stored.apiVersion,
    decodableVersions: decodableVersions(resource.stored),
  };
  const change = (current: ApiObject | undefined): ApiObject => {
    const found = (current ?? { metadata, spec: {} }) as StorageVersion;
    const next = withServers(found, withServer(found, server), store.clock.now());
    return deepEqual(next, found) ? found : next;
  };
  const request = { ...ownRequest(endpoint, metadata), subresource: 'status' };
  await updateObject(store, request, { change, options: { creates: 'never' } }, signal);
}

/** All versions from which what is stored can be made, whether they are served or not. */
function decodableVersions({ group, version, resource }: StoredResource): readonly string[] {
  return RESOURCES.filter(
    ({ hub, ...row }) => row.resource === resource && hub.group === group && hub.version === version,
  ).map(apiVersionOf);
}
