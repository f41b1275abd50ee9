import type {
  Container,
  EphemeralContainer,
  EphemeralContainers,
  PodSpec,
  ServiceAccount,
  Volume,
  VolumeProjection,
} from '../../../../shared/api/types/core-v1';

/** Returns why a mirror pod may not be created: it would give the node access to other objects. */
export function mirrorPodProblem(spec: PodSpec): string | undefined {
  if ((spec.serviceAccountName ?? '') !== '') return 'a mirror pod may not reference service accounts';
  if (usesSecrets(spec)) return 'a mirror pod may not reference secrets';
  const usesTokens = (spec.volumes ?? [])
    .flatMap(projectionsOf)
    .some(({ serviceAccountToken }) => serviceAccountToken !== undefined);
  return usesTokens ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

/**
 * Returns the secret of a pod that its service account does not list. Stricter than v1.21: `envFrom` (CVE-2024-3177) and projected
 * volumes count.
 */
export function unlistedSecretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  return (
    unlistedProblem([...volumeUses(spec), ...uses(spec, INIT), ...uses(spec, MAIN)], account) ??
    unlistedPullSecretProblem(spec, account)
  );
}

/** Returns the secret of ephemeral containers that the service account does not list (CVE-2023-2728). */
export function unlistedEphemeralSecretProblem(
  shown: EphemeralContainers,
  account: ServiceAccount,
): string | undefined {
  const ephemeralContainers = shown.ephemeralContainers ?? [];
  return unlistedProblem(uses({ ephemeralContainers }, EPHEMERAL), account);
}

/** One use of a secret in a pod, with the words of its refusal. */
interface SecretUse {
  readonly by: string;
  readonly secret: string;
}

function unlistedProblem(all: readonly SecretUse[], account: ServiceAccount): string | undefined {
  const secrets = new Set((account.secrets ?? []).map(({ name = '' }) => name));
  const found = all.find(({ secret }) => !secrets.has(secret));
  if (found === undefined) return undefined;
  return `${found.by} secret.secretName="${found.secret}" ${notReferencedBy(account)} secret`;
}

function unlistedPullSecretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  const pullSecrets = new Set((account.imagePullSecrets ?? []).map(({ name = '' }) => name));
  const names = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const at = names.findIndex((name) => !pullSecrets.has(name));
  if (at < 0) return undefined;
  return `imagePullSecrets[${String(at)}].name="${names[at] ?? ''}" ${notReferencedBy(account)} imagePullSecret`;
}

function notReferencedBy({ metadata: { name = '' } }: ServiceAccount): string {
  return `is not allowed because service account ${name} does not reference that`;
}

function volumeUses(spec: PodSpec): readonly SecretUse[] {
  return (spec.volumes ?? []).flatMap((volume) => [
    ...(volume.secret === undefined ? [] : [{ by: 'volume with', secret: volume.secret.secretName ?? '' }]),
    ...projectionsOf(volume).flatMap(({ secret }) =>
      secret === undefined ? [] : [{ by: 'projected volume with', secret: secret.name ?? '' }],
    ),
  ]);
}

/** A list of containers with its field and the word for one of them. */
interface ContainerList {
  readonly field: 'initContainers' | 'containers' | 'ephemeralContainers';
  readonly word: string;
}

const INIT: ContainerList = { field: 'initContainers', word: 'init container' };
const MAIN: ContainerList = { field: 'containers', word: 'container' };
const EPHEMERAL: ContainerList = { field: 'ephemeralContainers', word: 'ephemeral container' };

/** Returns the secrets in the environment of these containers: single variables first, then `envFrom`. */
function uses(spec: Partial<PodSpec>, { field, word }: ContainerList): readonly SecretUse[] {
  const containers: readonly (Container | EphemeralContainer)[] = spec[field] ?? [];
  return containers.flatMap(({ name, env = [], envFrom = [] }) => [
    ...env.flatMap(({ name: variable, valueFrom }) =>
      valueFrom?.secretKeyRef === undefined
        ? []
        : [
            {
              by: `${word} ${name} with envVar ${variable} referencing`,
              secret: valueFrom.secretKeyRef.name ?? '',
            },
          ],
    ),
    ...envFrom.flatMap(({ secretRef }) =>
      secretRef === undefined
        ? []
        : [{ by: `${word} ${name} with envFrom referencing`, secret: secretRef.name ?? '' }],
    ),
  ]);
}

/** Reports whether the pod uses a ConfigMap. */
export function usesConfigMaps(spec: PodSpec): boolean {
  const containers = allContainers(spec);
  const { volumes = [] } = spec;
  return (
    containers.some(({ envFrom = [] }) => envFrom.some(({ configMapRef }) => configMapRef !== undefined)) ||
    containers.some(({ env = [] }) =>
      env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined),
    ) ||
    volumes.some(({ configMap }) => configMap !== undefined) ||
    volumes.flatMap(projectionsOf).some(({ configMap }) => configMap !== undefined)
  );
}

function allContainers(spec: PodSpec): readonly (Container | EphemeralContainer)[] {
  return [INIT, MAIN, EPHEMERAL].flatMap(({ field }) => spec[field] ?? []);
}

function projectionsOf({ projected }: Volume): readonly VolumeProjection[] {
  return projected?.sources ?? [];
}

/** Reports whether the pod uses a Secret. */
export function usesSecrets(spec: PodSpec): boolean {
  if ((spec.imagePullSecrets ?? []).length > 0) return true;
  if ([INIT, MAIN, EPHEMERAL].some((list) => uses(spec, list).length > 0)) return true;
  return (spec.volumes ?? []).some(holdsSecret);
}

/** Volume kinds with a `secretRef`. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'] as const;

function holdsSecret(volume: Volume): boolean {
  if (volume.secret !== undefined || volume.azureFile !== undefined) return true;
  // Some drivers write null for an absent reference.
  if (WITH_SECRET_REF.some((kind) => (volume[kind]?.secretRef ?? null) !== null)) return true;
  if (volume.csi?.nodePublishSecretRef !== undefined) return true;
  return projectionsOf(volume).some(({ secret }) => secret !== undefined);
}
