import type {
  Container,
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  Secret,
  ServiceAccount,
  Volume,
} from '../../../../shared/api/types/core-v1';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import { generateName } from '../../../../shared/meta/generate-name';
import { ANNOTATION, ROOT_CA, SECRET_TYPE, SERVICE_ACCOUNT_MOUNT_PATH } from '../../../../shared/names';
import { withSpec } from './with-spec';

/** Prefix of generated token volume names. */
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour and seven seconds; the seconds identify tokens made for pods. */
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
 * Returns the pod with a volume that holds a token of its service account, the CA certificate and the namespace, mounted in every
 * container that has nothing at that path.
 */
export function withServiceAccountToken(pod: Pod, randomInt: RandomInt): Pod {
  return withTokenVolume(pod, {
    isIt: ({ name }) => name.startsWith(VOLUME_PREFIX),
    create: () => ({ name: generateName(VOLUME_PREFIX, randomInt), projected: TOKEN_SOURCES }),
  });
}

/** Does the same with a volume of a token Secret, named after it if that name is free. */
export function withTokenOfSecret(pod: Pod, secretName: string, randomInt: RandomInt): Pod {
  const plain = secretName.replaceAll('.', '-');
  const isTaken = pod.spec.volumes?.some(({ name }) => name === plain) === true;
  return withTokenVolume(pod, {
    isIt: ({ secret }) => secret?.secretName === secretName,
    create: () => ({
      name: isTaken ? generateName(`${plain}-`, randomInt) : plain,
      secret: { secretName, defaultMode: READ_BY_ALL },
    }),
  });
}

/** Returns the account's first existing Secret with a token of it; undefined if there is none. */
export function tokenSecretOf(
  { metadata: { name, uid }, secrets = [] }: ServiceAccount,
  find: (secret: string) => Secret | undefined,
): string | undefined {
  return secrets
    .map(({ name: secret = '' }) => secret)
    .find((each) => {
      const { type, metadata: { annotations = {} } = {} } = find(each) ?? {};
      return (
        type === SECRET_TYPE.serviceAccountToken &&
        annotations[ANNOTATION.serviceAccountName] === name &&
        annotations[ANNOTATION.serviceAccountUid] === uid
      );
    });
}

interface TokenVolume {
  /** Reports whether the volume is already there. */
  readonly isIt: (volume: Volume) => boolean;
  readonly create: () => Volume;
}

function withTokenVolume(pod: Pod, { isIt, create }: TokenVolume): Pod {
  const { spec } = pod;
  const lists = CONTAINER_LISTS.filter((list) => spec[list]?.some(lacksMount));
  if (lists.length === 0) return pod;
  const { volumes = [] } = spec;
  const existing = volumes.find(isIt);
  const volume = existing ?? create();
  const mounted = lists.map((list) => [list, spec[list]?.map((each) => withMount(each, volume.name))]);
  return withSpec(pod, {
    ...(Object.fromEntries(mounted) as Partial<PodSpec>),
    ...(existing === undefined ? { volumes: [...volumes, volume] } : {}),
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
