import { isIP } from 'node:net';
import type { Log } from '../../../shared/log/log';
import { API_SERVICE_NAME, GROUP, NAMESPACE } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import { createMissing } from './create-missing';
import apiServiceData from './data/api-service.json';
import { reconcileLoop } from './reconcile-loop';
import type { LiveReplicas, ReplicaAddress } from './live-replicas';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';
import { endpointSlices, endpointSubsets } from './replica-endpoints';
import { translated } from './translate';

const HTTPS_PORT = 443;

const LABELS = translated(apiServiceData);

export interface ApiServiceOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly replicas: LiveReplicas;
  /** The address of this replica for other members of the cluster. */
  readonly self: ReplicaAddress;
  /** The Service's address: the first of the range. */
  readonly serviceAddress: string;
  readonly log: Log;
}

/** The Service of the API for in-cluster clients; its Endpoints are all live replicas. */
export interface ApiService {
  /** Runs one round: renews this replica's record, ensures the Service, and writes the Endpoints of the live replicas. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round every ten seconds until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
  /** Removes this replica from the Endpoints. The last replica is kept, because empty Endpoints would not help clients. */
  withdraw(signal: AbortSignal): Promise<void>;
}

export function createApiService(options: ApiServiceOptions): ApiService {
  const { replicas, self, log } = options;
  const isReachable = !isLoopback(self.ip);
  let isAnnounced = false;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    await createService(options, signal);
    if (!isReachable) return;
    isAnnounced = true;
    await replicas.announce(self, signal);
    await reconcileEndpoints(options, signal);
  };
  return {
    reconcile,
    async run(signal) {
      if (!isReachable) {
        log.info(
          { address: self.ip },
          'advertise address is a loopback address; the Endpoints of the API are not updated',
        );
      }
      const failure = 'failed to reconcile the Service of the API';
      await reconcileLoop({ reconcile, log, failure }, signal);
    },
    async withdraw(signal) {
      if (!isAnnounced) return;
      await replicas.withdraw(self, signal);
      await reconcileEndpoints(options, signal);
    },
  };
}

/** Endpoints must not contain loopback addresses, because they mean another machine for every other client. */
function isLoopback(ip: string): boolean {
  return isIP(ip) === 4 ? ip.startsWith('127.') : ip === '::1';
}

async function createService(
  { store, registry, self, serviceAddress }: ApiServiceOptions,
  signal: AbortSignal,
): Promise<void> {
  const service: ApiObject = {
    metadata: { name: API_SERVICE_NAME, namespace: NAMESPACE.default, labels: LABELS.service },
    spec: {
      type: 'ClusterIP',
      clusterIP: serviceAddress,
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      ports: [{ name: 'https', protocol: 'TCP', port: HTTPS_PORT, targetPort: self.port }],
    },
  };
  await createMissing(store, endpointOf(registry(), GROUP.core, 'services'), service, signal);
}

async function reconcileEndpoints(options: ApiServiceOptions, signal: AbortSignal): Promise<void> {
  const { registry, replicas } = options;
  const live = await replicas.list(signal);
  if (live.length === 0) return;
  const endpoints = { labels: LABELS.endpoints, content: { subsets: endpointSubsets(live) } };
  await put(options, { endpoint: endpointOf(registry(), GROUP.core, 'endpoints'), ...endpoints }, signal);
  const slices = registry().endpoint(GROUP.discovery, 'v1', 'endpointslices');
  if (slices === undefined) return;
  // An EndpointSlice has one port for all of its endpoints. Replicas on other ports are only in the Endpoints.
  const [slice] = endpointSlices(live);
  if (slice !== undefined)
    await put(options, { endpoint: slices, labels: LABELS.slice, content: slice }, signal);
}

interface Wanted {
  readonly endpoint: Endpoint;
  readonly labels: Readonly<Record<string, string>>;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Creates or updates the object. Other labels and annotations on it are kept. */
async function put(
  { store }: ApiServiceOptions,
  { endpoint, labels, content }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { name: API_SERVICE_NAME, namespace: NAMESPACE.default, labels };
  await createMissing(store, endpoint, { metadata, ...content }, signal);
  const change = (current: ApiObject | undefined): ApiObject => {
    if (current === undefined) return ownObject(endpoint, { metadata, ...content });
    const merged = { ...current.metadata, labels: { ...current.metadata.labels, ...labels } };
    const next = ownObject(endpoint, { ...current, ...content, metadata: merged });
    return deepEqual(next, current) ? current : next;
  };
  await updateObject(store, ownRequest(endpoint, metadata), { change, options: { creates: 'kind' } }, signal);
}

function endpointOf(registry: Registry, group: string, resource: string): Endpoint {
  const endpoint = registry.endpoint(group, 'v1', resource);
  if (endpoint === undefined) throw new Error(`${resource} are not served`);
  return endpoint;
}
