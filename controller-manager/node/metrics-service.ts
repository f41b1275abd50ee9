import { RESOURCE } from '../../shared/api/resource-names';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import { METRICS_GROUP, MEDIA_TYPE, NAMESPACE } from '../../shared/names';
import type { ApiObject, ResourceOf, Sent } from '../../shared/object/object';

/** How API servers show themselves to extension API servers. */
export interface FrontProxy {
  /** The certificates of their authority, as PEM. */
  readonly caPem: string;
  /** The common names that are accepted; any if empty. */
  readonly allowedNames: readonly string[];
}

const SERVICE = { namespace: NAMESPACE.system, name: 'orch-node-metrics' } as const;
const VERSION = 'v1beta1';
/** The ConfigMap in which API servers publish their authority. */
const AUTHENTICATION = { namespace: NAMESPACE.system, name: 'extension-apiserver-authentication' } as const;

/** The name for which the certificate of the metrics must be valid. */
export const METRICS_HOST = `${SERVICE.name}.${SERVICE.namespace}.svc`;

/** Reads how API servers show themselves; undefined if they have no certificate for extension API servers. */
export async function readFrontProxy(client: Client, signal: AbortSignal): Promise<FrontProxy | undefined> {
  const { data = {} } = await client.get(RESOURCE.configmaps, AUTHENTICATION, { signal });
  const caPem = data['requestheader-client-ca-file'] ?? '';
  if (caPem === '') return undefined;
  const names: unknown = JSON.parse(data['requestheader-allowed-names'] ?? '[]');
  const allowedNames = Array.isArray(names) ? names.map(String) : [];
  return { caPem, allowedNames };
}

/**
 * Registers the group of metrics: an APIService that leads to `host` and `port`, by a Service with an external name because a Service cannot have
 * endpoints on the loopback address.
 */
export async function registerMetrics(
  client: Client,
  { host, port, caPem }: { readonly host: string; readonly port: number; readonly caPem: string },
  signal: AbortSignal,
): Promise<void> {
  const service = { metadata: SERVICE, spec: { type: 'ExternalName', externalName: host } };
  await put(client, RESOURCE.services, service, signal);
  const apiService = {
    metadata: { name: `${VERSION}.${METRICS_GROUP}` },
    spec: {
      group: METRICS_GROUP,
      version: VERSION,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { ...SERVICE, port },
      caBundle: Buffer.from(caPem).toString('base64'),
    },
  };
  await put(client, RESOURCE.apiservices, apiService, signal);
}

/** Creates an object, or merges it into the one that is there. */
async function put<T extends ApiObject>(
  client: Client,
  resource: ResourceOf<T>,
  object: Sent<NoInfer<T>>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '' } = object.metadata;
  try {
    const patch = { contentType: MEDIA_TYPE.mergePatch, body: object };
    await client.patch(resource, { namespace, name }, patch, { signal });
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
    await client.create(resource, object, { signal });
  }
}
