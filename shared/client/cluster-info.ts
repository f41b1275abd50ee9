import { RESOURCE } from '../api/resource-names';
import { dialect, GROUP, NAMESPACE, USER } from '../names';
import type { ApiObject, ResourceOf } from '../object/object';
import type { Client } from './client';
import { hasCode } from './status';

/** What a node that joins has to know of a cluster. */
export interface ClusterInfo {
  /** `https://host:port`, as nodes reach it. */
  readonly server: string;
  /** The certificates of its authority, as PEM. */
  readonly authorities: string;
}

/** What a node that joins reads as nobody in particular, in the public namespace. */
export const CLUSTER_INFO = {
  configMap: 'cluster-info',
  key: 'kubeconfig',
  /** The Role, and the RoleBinding, of its anonymous readers. */
  grant: `${dialect === 'orch' ? 'orch' : 'kubeadm'}:bootstrap-signer-clusterinfo`,
  /**
   * What the signatures of a bootstrap token are made with: the whole token, as the interface of the project says, or its second half,
   * as kubeadm expects.
   */
  signedWith: dialect === 'orch' ? 'token' : 'secret',
} as const;
/** How often it is begun with anew because somebody else, such as who signs it, writes at the same time. */
const TRIES_MAX = 5;

/**
 * Makes what a node that joins reads without credentials: the ConfigMap of the public namespace, brought up to date where it says something
 * else, and the grant for anonymous readers, made only where it is missing. Signatures are left to the controller-manager.
 */
export async function ensureClusterInfo(
  client: Client,
  info: ClusterInfo,
  signal: AbortSignal,
): Promise<void> {
  await ensureText(client, textOf(info), signal);
  const metadata = { name: CLUSTER_INFO.grant, namespace: NAMESPACE.public };
  await createMissing(
    client,
    RESOURCE.roles,
    {
      metadata,
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [NAME] }],
    },
    signal,
  );
  await createMissing(
    client,
    RESOURCE.rolebindings,
    {
      metadata,
      roleRef: { apiGroup: GROUP.rbac, kind: 'Role', name: CLUSTER_INFO.grant },
      subjects: [{ kind: 'User', apiGroup: GROUP.rbac, name: USER.anonymous }],
    },
    signal,
  );
}

const NAME = CLUSTER_INFO.configMap;
const REF = { namespace: NAMESPACE.public, name: NAME };

/** A kubeconfig of the one cluster, without a name, by which kubeadm finds it, and without a user. */
function textOf({ server, authorities }: ClusterInfo): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(authorities).toString('base64')}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`;
}

async function ensureText(client: Client, text: string, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const data = { [CLUSTER_INFO.key]: text };
      if (await createMissing(client, RESOURCE.configmaps, { metadata: REF, data }, signal)) return;
      const found = await client.get(RESOURCE.configmaps, REF, { signal });
      if (found.data?.[CLUSTER_INFO.key] === text) return;
      await client.update(RESOURCE.configmaps, { ...found, data: { ...found.data, ...data } }, { signal });
      return;
    } catch (error) {
      if (tries === TRIES_MAX || !hasCode(error, 404, 409)) throw error;
    }
  }
}

/** False where there is one already. */
async function createMissing<T extends ApiObject>(
  client: Client,
  resource: ResourceOf<T>,
  object: Parameters<typeof client.create<T>>[1],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.create(resource, object, { signal });
    return true;
  } catch (error) {
    if (hasCode(error, 409)) return false;
    throw error;
  }
}
