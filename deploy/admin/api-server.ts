import path from 'node:path';
import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { ClientOptions } from '../../shared/client/options';
import type { Dialect } from '../../shared/names';
import { DIALECTS, namesIn } from '../../shared/names';

/** How commands say that they need a kubeconfig. */
export const KUBECONFIG_REQUIRED = '--kubeconfig is required, or KUBECONFIG in the environment';

/** The flag that names the API servers and the credentials for them. `whose` completes "Path of the kubeconfig file". */
export function kubeconfigFlag<const Group extends string>(group: Group, whose: string) {
  return {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group,
    help: `Path of the kubeconfig file ${whose}. If empty, the files of $KUBECONFIG.`,
  } as const;
}

/** Returns whether the flag or KUBECONFIG names a kubeconfig. */
export function hasKubeconfig(flag: string): boolean {
  return flag !== '' || listKubeconfigs().length > 0;
}

/** Reads the kubeconfig that the flag names, or else those of KUBECONFIG. Throws KubeconfigError. */
export function readClientOptions(flag: string): ClientOptions {
  const source = flag === '' ? { paths: listKubeconfigs() } : { path: flag };
  return { ...loadKubeconfig(source).client, userAgent: 'orch-admin' };
}

/** Runs `work` with a client of the API servers, and closes the client after it. */
export async function withClient<T>(
  options: ClientOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(options);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Asks the server for its API groups, and returns the dialect of their names. */
export async function discoverDialect(client: Client): Promise<Dialect> {
  const { groups } = (await client.getJson('/apis')) as {
    readonly groups: readonly { readonly name: string }[];
  };
  const found = DIALECTS.find((each) => groups.some(({ name }) => name === namesIn(each).rbacGroup));
  if (found === undefined) throw new Error('the dialect of the server is unknown: it serves no RBAC');
  return found;
}

function listKubeconfigs(): readonly string[] {
  return (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
}
