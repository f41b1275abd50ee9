import { RESOURCE } from '../../../shared/api/resource-names';
import type { Client } from '../../../shared/client/client';
import { createClient } from '../../../shared/client/client';
import type { ClientOptions } from '../../../shared/client/options';
import { NAMESPACE, namesIn } from '../../../shared/names';
import { discoverDialect, withClient } from '../api-server';

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
    const connectTo = parseServer(server);
    if (connectTo === undefined) throw new Error(`"${server}" is no address of a replica`);
    return { server, client: createClient({ ...options, connectTo }) };
  });
}

/** `<host>:<port>`, with or without `https://` before it and a slash after it. The host may be an IPv6 address in brackets. */
const SERVER = /^(?:https:\/\/)?(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})\/?$/iu;
const PORT_MAX = 65_535;

/** Reads an element of `--servers`; undefined if it is malformed. */
export function parseServer(server: string): { readonly host: string; readonly port: number } | undefined {
  const [, address, name, digits] = SERVER.exec(server) ?? [];
  const host = address ?? name;
  const port = Number(digits);
  return host === undefined || port < 1 || port > PORT_MAX ? undefined : { host, port };
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
  return withClient(options, async (client) => {
    const { subsets = [] } = await client.get(RESOURCE.endpoints, {
      namespace: NAMESPACE.default,
      name: namesIn(await discoverDialect(client)).apiService,
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
  });
}
