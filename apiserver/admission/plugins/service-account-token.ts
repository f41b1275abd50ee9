import type { RandomInt } from '../../../shared/meta/generate-name';
import { generateName } from '../../../shared/meta/generate-name';
import type { ApiObject } from '../../../shared/object/object';
import { ROOT_CA, SERVICE_ACCOUNT_MOUNT_PATH } from '../../../shared/names';
import type { Json } from '../../../shared/object/accessors';
import { records, text } from '../../../shared/object/accessors';
import { specOf, withSpec } from './with-spec';

/** What the names of volumes with a token begin with. */
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour, and a little more, by which tokens that were made for pods are told from others. */
const TOKEN_SECONDS = 3_607;
const READ_BY_ALL = 0o644;
const CONTAINER_LISTS = ['initContainers', 'containers'];

const TOKEN_SOURCES: Json = {
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
export function withServiceAccountToken(pod: ApiObject, randomInt: RandomInt): ApiObject {
  const spec = specOf(pod);
  const lists = CONTAINER_LISTS.filter((list) => records(spec[list]).some(lacksMount));
  if (lists.length === 0) return pod;
  const volumes = records(spec['volumes']);
  const existing = volumes.map(({ name }) => text(name)).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = existing ?? generateName(VOLUME_PREFIX, randomInt);
  const mounted = lists.map((list) => [list, records(spec[list]).map((each) => withMount(each, name))]);
  return withSpec(pod, {
    ...(Object.fromEntries(mounted) as Json),
    ...(existing === undefined ? { volumes: [...volumes, { name, projected: TOKEN_SOURCES }] } : {}),
  });
}

function lacksMount(container: Json): boolean {
  return !records(container['volumeMounts']).some(
    ({ mountPath }) => mountPath === SERVICE_ACCOUNT_MOUNT_PATH,
  );
}

function withMount(container: Json, name: string): Json {
  if (!lacksMount(container)) return container;
  const mount = { name, readOnly: true, mountPath: SERVICE_ACCOUNT_MOUNT_PATH };
  return { ...container, volumeMounts: [...records(container['volumeMounts']), mount] };
}
