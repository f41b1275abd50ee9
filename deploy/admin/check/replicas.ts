import { RESOURCE } from '../../../shared/api/resource-names';
import type { Client } from '../../../shared/client/client';
import { createClient } from '../../../shared/client/client';
import type { ClientOptions } from '../../../shared/client/options';
import { API_SERVICE_NAME, NAMESPACE } from '../../../shared/names';

/** One API server. */
export interface Replica {
  /** `<host>:<port>`. */
  readonly server: string;
  /** Asks it alone, by the name and with the credentials of the kubeconfig. */
  readonly client: Client;
}

export interface ReplicaState {
  readonly server: string;
  readonly isReady: boolean;
  /** Empty where it could not be had. */
  readonly version: string;
  /** Why it is not ready; else empty. */
  readonly problem: string;
}

/** Those that are named, or else those that the Endpoints of the API name. Rejects if no server can list them. */
export async function findReplicas(
  options: ClientOptions,
  named: readonly string[],
): Promise<readonly Replica[]> {
  const servers = named.length > 0 ? named : await endpointsOf(options);
  return servers.map((server) => {
    const at = server.lastIndexOf(':');
    const host = server.slice(0, at).replace(/^\[(.*)\]$/, '$1');
    const connectTo = { host, port: Number(server.slice(at + 1)) };
    return { server, client: createClient({ ...options, connectTo }) };
  });
}

/** Never rejects: a replica that does not answer is what is looked for. */
export async function stateOf({ server, client }: Replica): Promise<ReplicaState> {
  try {
    const { code, body } = await client.request({ method: 'GET', path: '/readyz?verbose' });
    const { gitVersion } = (await client.getJson('/version')) as { readonly gitVersion: string };
    const isReady = code === 200;
    return { server, isReady, version: gitVersion, problem: isReady ? '' : failedChecks(body.toString()) };
  } catch (error) {
    return {
      server,
      isReady: false,
      version: '',
      problem: error instanceof Error ? error.message : String(error),
    };
  }
}

function failedChecks(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith('[-]'))
    .join(', ');
}

async function endpointsOf(options: ClientOptions): Promise<readonly string[]> {
  const client = createClient(options);
  try {
    const { subsets = [] } = await client.get(RESOURCE.endpoints, {
      namespace: NAMESPACE.default,
      name: API_SERVICE_NAME,
    });
    const found = (subsets ?? []).flatMap(({ addresses, ports }) =>
      (addresses ?? []).flatMap(({ ip }) =>
        (ports ?? []).map(({ port }) =>
          ip.includes(':') ? `[${ip}]:${String(port)}` : `${ip}:${String(port)}`,
        ),
      ),
    );
    if (found.length === 0)
      throw new Error('the Endpoints of the API name no replica; name them by --servers');
    return found;
  } finally {
    client.close();
  }
}
