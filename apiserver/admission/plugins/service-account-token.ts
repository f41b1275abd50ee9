import type { Container, Pod, PodSpec, ProjectedVolumeSource } from '../../../shared/api/types/core-v1';
import type { RandomInt } from '../../../shared/meta/generate-name';
import { generateName } from '../../../shared/meta/generate-name';
import { ROOT_CA, SERVICE_ACCOUNT_MOUNT_PATH } from '../../../shared/names';
import { withSpec } from './with-spec';

/** What the names of volumes with a token begin with. */
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour, and a little more, by which tokens that were made for pods are told from others. */
const TOKEN_SECONDS = 3_607;
const READ_BY_ALL = 0o644;
const CONTAINER_LISTS = ['initContainers', 'containers'] as const;

const TOKEN_SOURCES: ProjectedVolumeSource = {
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: ROOT_CA.configMap, items: [{ key: ROOT_CA.key, path: ROOT_CA.key }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
  defaultMode: READ_BY_ALL,
};

/**
 * The pod with a volume that holds a token of its service account, the certificate by which it knows the API server, and its namespace;
 * mounted in every container that has nothing at that path.
 */
export function withServiceAccountToken(pod: Pod, randomInt: RandomInt): Pod {
  const { spec } = pod;
  const lists = CONTAINER_LISTS.filter((list) => spec[list]?.some(lacksMount));
  if (lists.length === 0) return pod;
  const { volumes = [] } = spec;
  const existing = volumes.map(({ name }) => name).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = existing ?? generateName(VOLUME_PREFIX, randomInt);
  const mounted = lists.map((list) => [list, spec[list]?.map((each) => withMount(each, name))]);
  return withSpec(pod, {
    ...(Object.fromEntries(mounted) as Partial<PodSpec>),
    ...(existing === undefined ? { volumes: [...volumes, { name, projected: TOKEN_SOURCES }] } : {}),
  });
}

function lacksMount({ volumeMounts = [] }: Container): boolean {
  return !volumeMounts.some(({ mountPath }) => mountPath === SERVICE_ACCOUNT_MOUNT_PATH);
}

function withMount(container: Container, name: string): Container {
  if (!lacksMount(container)) return container;
  const mount = { name, readOnly: true, mountPath: SERVICE_ACCOUNT_MOUNT_PATH };
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] };
}
