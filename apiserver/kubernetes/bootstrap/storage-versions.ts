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

/** Interval in ms between rounds that restore changes of other writers. */
const ROUND_MS = 600_000;
/** Delay in ms after a failed round, while writes wait for it. */
const RETRY_MS = 1_000;

export interface StorageVersionParts {
  readonly store: WriteContext;
  /** The built-in registry: custom resources have no StorageVersion. */
  readonly registry: Registry;
  /** The id of this replica. */
  readonly id: string;
  /** Called after each round that registered everything. */
  readonly onComplete: () => void;
  readonly log: Log;
}

/** Publishes the versions in which this replica encodes and decodes each stored resource. */
export interface StorageVersions {
  /** Returns why the resource (`pods`, `deployments.apps`) may not be written yet; undefined if it may. */
  pending(name: string): { readonly lastError: string | undefined } | undefined;
  /** Runs one round: this replica has an entry in the StorageVersion of every resource. Rejects if one of them failed. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round every ten minutes, and soon after a failed one, until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

/** Returns undefined if StorageVersions are not served. */
export function createStorageVersions(parts: StorageVersionParts): StorageVersions | undefined {
  const { registry, onComplete, log } = parts;
  const endpoint = registry.endpoint(GROUP.apiserverinternal, 'v1alpha1', 'storageversions');
  if (endpoint === undefined) return undefined;
  const resources = registeredResources(registry);
  const waiting = new Map(
    resources.flatMap((each) =>
      each.served.map((name) => [name, { lastError: undefined as string | undefined }]),
    ),
  );
  let hasFailed = false;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const failures: string[] = [];
    for (const resource of resources) {
      try {
        await writeStorageVersion(parts, { endpoint, resource }, signal);
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
      const failure = 'failed to register the storage versions of this replica';
      await reconcileLoop({ reconcile, untilNext, log, failure }, signal);
    },
  };
}

/** A stored resource with its served names; some resources are served in two groups. */
interface RegisteredResource {
  /** The name of its StorageVersion: `core.pods`. */
  readonly name: string;
  /** For example `pods`, `deployments.apps`. */
  readonly served: readonly string[];
  readonly stored: StoredResource;
}

/** The alphabetically first group names the resource, so that all replicas choose the same. */
function registeredResources(registry: Registry): readonly RegisteredResource[] {
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

async function writeStorageVersion(
  { store, id }: StorageVersionParts,
  { endpoint, resource }: { readonly endpoint: Endpoint; readonly resource: RegisteredResource },
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

/** Returns all versions to which stored objects can be decoded, served or not. */
function decodableVersions({ group, version, resource }: StoredResource): readonly string[] {
  return RESOURCES.filter(
    ({ hub, ...row }) => row.resource === resource && hub.group === group && hub.version === version,
  ).map(apiVersionOf);
}
