import { RESOURCE } from '../api/resource-names';
import type { Dialect } from '../names';
import { dialect, fromNeutral, namesIn, NODE_USER, USER } from '../names';
import type { ApiObject, ResourceOf } from '../object/object';
import type { Client } from './client';
import { hasCode } from './status';

/** What a joining node needs to know of a cluster. */
export interface ClusterInfo {
  /** `https://host:port`, as nodes reach it. */
  readonly server: string;
  /** The certificates of its authority, as PEM. */
  readonly authorities: string;
  /** The dialect of the servers; that of this process if absent. */
  readonly dialect?: Dialect;
}

/** The ConfigMap that a joining node reads anonymously in the public namespace. */
export const CLUSTER_INFO = {
  configMap: 'cluster-info',
  key: 'kubeconfig',
  /** The key of bootstrap signatures: the whole token by the specification, or its second half, as kubeadm expects. */
  signedWith: dialect === 'orch' ? 'token' : 'secret',
} as const;
/** The common name of the certificate with which API servers connect to kubelets. The plans of `orch-admin certs` have the same. */
export const KUBELET_CLIENT_USER = 'orch-apiserver-kubelet-client';
/** Number of attempts when another writer, such as the signer, conflicts. */
const TRIES_MAX = 5;

/**
 * Creates or updates the ConfigMap `cluster-info` of the public namespace, and creates missing grants: for anonymous readers, and for API servers at
 * the kubelets of nodes, as kubeadm creates it. The controller-manager adds signatures. Returns `<namespace>/<name>` of the ConfigMap.
 */
export async function ensureClusterInfo(
  client: Client,
  info: ClusterInfo,
  signal: AbortSignal,
): Promise<string> {
  const { dialect: served = dialect } = info;
  const { publicNamespace: namespace, rbacGroup: group } = namesIn(served);
  const name = `${rolePrefix(served)}:bootstrap-signer-clusterinfo`;
  const metadata = { name, namespace };
  await ensureText(client, namespace, { text: textOf(info), signal });
  await createMissing(
    client,
    { ...RESOURCE.roles, group },
    {
      metadata,
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [NAME] }],
    },
    signal,
  );
  await createMissing(
    client,
    { ...RESOURCE.rolebindings, group },
    {
      metadata,
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects: [{ kind: 'User', apiGroup: group, name: USER.anonymous }],
    },
    signal,
  );
  await createBinding(client, served, KUBELET_ACCESS, signal);
  return `${namespace}/${NAME}`;
}

/**
 * Creates the missing bindings of a new control plane, as kubeadm creates them: of cluster administrators, whose certificates are in no group
 * that skips authorization, and of API servers at kubelets. Returns the names of the bindings.
 */
export async function ensureBindings(
  client: Client,
  served: Dialect,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const binding of [CLUSTER_ADMINS, KUBELET_ACCESS])
    names.push(await createBinding(client, served, binding, signal));
  return names;
}

/**
 * Lets nodes join with bootstrap tokens: creates the missing bindings by which a token requests a client certificate, and by which such requests and
 * the renewals of nodes are approved, as kubeadm creates them. They are for tokens with the group for nodes: other tokens get no rights.
 */
export async function ensureNodesMayJoin(
  client: Client,
  served: Dialect,
  signal: AbortSignal,
): Promise<void> {
  const approved = `system:${namesIn(served).certificatesGroup}:certificatesigningrequests`;
  const tokens = `system:bootstrappers:${rolePrefix(served)}:default-node-token`;
  for (const [name, role, subject] of [
    ['kubelet-bootstrap', 'system:node-bootstrapper', tokens],
    ['node-autoapprove-bootstrap', `${approved}:nodeclient`, tokens],
    ['node-autoapprove-certificate-rotation', `${approved}:selfnodeclient`, NODE_USER.group],
  ] as const)
    await createBinding(client, served, { name, role, kind: 'Group', subject }, signal);
}

const NAME = CLUSTER_INFO.configMap;

interface Binding {
  readonly name: string;
  readonly role: string;
  readonly kind: 'User' | 'Group';
  /** Undefined for the name of the binding. */
  readonly subject: string | undefined;
}

/** Kubelets ask the API server what its own user may do. */
const KUBELET_ACCESS = {
  name: 'apiserver-kubelet-client',
  role: 'system:node-agent-api-admin',
  kind: 'User',
  subject: KUBELET_CLIENT_USER,
} as const satisfies Binding;

/** The group has the name of its binding: `kubeadm:cluster-admins`. */
const CLUSTER_ADMINS = {
  name: 'cluster-admins',
  role: 'cluster-admin',
  kind: 'Group',
  subject: undefined,
} as const satisfies Binding;

/** Creates a binding of a ClusterRole if it is missing. Returns its name. */
async function createBinding(
  client: Client,
  served: Dialect,
  { name, role, kind, subject }: Binding,
  signal: AbortSignal,
): Promise<string> {
  const { rbacGroup: group } = namesIn(served);
  const fullName = `${rolePrefix(served)}:${name}`;
  await createMissing(
    client,
    { ...RESOURCE.clusterrolebindings, group },
    {
      metadata: { name: fullName },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: fromNeutral(role, served) },
      subjects: [{ kind, apiGroup: group, name: subject ?? fullName }],
    },
    signal,
  );
  return fullName;
}

/** What the names of roles and bindings begin with; kubeadm's own are known by it. */
function rolePrefix(served: Dialect): string {
  return served === 'orch' ? 'orch' : 'kubeadm';
}

/** Returns a kubeconfig with one unnamed cluster, as kubeadm expects, and no user. */
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

async function ensureText(
  client: Client,
  namespace: string,
  { text, signal }: { readonly text: string; readonly signal: AbortSignal },
): Promise<void> {
  const ref = { namespace, name: NAME };
  for (let tries = 1; ; tries += 1) {
    try {
      const data = { [CLUSTER_INFO.key]: text };
      if (await createMissing(client, RESOURCE.configmaps, { metadata: ref, data }, signal)) return;
      const found = await client.get(RESOURCE.configmaps, ref, { signal });
      if (found.data?.[CLUSTER_INFO.key] === text) return;
      await client.update(RESOURCE.configmaps, { ...found, data: { ...found.data, ...data } }, { signal });
      return;
    } catch (error) {
      if (tries === TRIES_MAX || !hasCode(error, 404, 409)) throw error;
    }
  }
}

/** Returns false if it exists. */
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
