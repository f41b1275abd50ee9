import type {
  Container,
  EnvFromSource,
  EphemeralContainer,
  PodSpec,
  ServiceAccount,
  Volume,
  VolumeProjection,
} from '../../../shared/api/types/core-v1';

const CONTAINER_LISTS = ['initContainers', 'containers'] as const;

/** Why a pod that a node agent runs from a file of its own may not be shown: it would give the node what is not the node's. */
export function mirrorPodProblem(spec: PodSpec): string | undefined {
  if ((spec.serviceAccountName ?? '') !== '') return 'a mirror pod may not reference service accounts';
  if (usesSecrets(spec)) return 'a mirror pod may not reference secrets';
  const usesTokens = (spec.volumes ?? [])
    .flatMap(projectionsOf)
    .some(({ serviceAccountToken }) => serviceAccountToken !== undefined);
  return usesTokens ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

/** Which secret of the pod its service account does not list. */
export function unlistedSecretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  const who = account.metadata.name ?? '';
  const secrets = new Set((account.secrets ?? []).map(({ name = '' }) => name));
  const why = `is not allowed because service account ${who} does not reference that`;
  for (const { secret } of spec.volumes ?? []) {
    const name = secret?.secretName ?? '';
    if (secret !== undefined && !secrets.has(name)) {
      return `volume with secret.secretName="${name}" ${why} secret`;
    }
  }
  for (const { container, variable, name } of variables(spec)) {
    if (!secrets.has(name)) {
      return `container ${container} with envVar ${variable} referencing secret.secretName="${name}" ${why} secret`;
    }
  }
  const pullSecrets = new Set((account.imagePullSecrets ?? []).map(({ name = '' }) => name));
  const names = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const at = names.findIndex((name) => !pullSecrets.has(name));
  return at < 0
    ? undefined
    : `imagePullSecrets[${String(at)}].name="${names[at] ?? ''}" ${why} imagePullSecret`;
}

/** Variables whose value comes from a secret. */
function variables(
  spec: PodSpec,
): readonly { readonly container: string; readonly variable: string; readonly name: string }[] {
  return CONTAINER_LISTS.flatMap((list) => spec[list] ?? []).flatMap(({ name: container, env = [] }) =>
    env.flatMap(({ name: variable, valueFrom }) => {
      const reference = valueFrom?.secretKeyRef;
      return reference === undefined ? [] : [{ container, variable, name: reference.name ?? '' }];
    }),
  );
}

/** Whether anything in the pod comes from a ConfigMap. */
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
  return [...CONTAINER_LISTS.flatMap((list) => spec[list] ?? []), ...(spec.ephemeralContainers ?? [])];
}

function projectionsOf({ projected }: Volume): readonly VolumeProjection[] {
  return projected?.sources ?? [];
}

/** Whether anything in the pod comes from a Secret. */
export function usesSecrets(spec: PodSpec): boolean {
  if ((spec.imagePullSecrets ?? []).length > 0 || variables(spec).length > 0) return true;
  if (allContainers(spec).some(({ envFrom = [] }) => envFrom.some(isOfSecret))) return true;
  return (spec.volumes ?? []).some(holdsSecret);
}

function isOfSecret({ secretRef }: EnvFromSource): boolean {
  return secretRef !== undefined;
}

/** The kinds of volumes that name a secret in `secretRef`. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'] as const;

function holdsSecret(volume: Volume): boolean {
  if (volume.secret !== undefined || volume.azureFile !== undefined) return true;
  // A driver that cannot do without one writes null for none.
  if (WITH_SECRET_REF.some((kind) => (volume[kind]?.secretRef ?? null) !== null)) return true;
  if (volume.csi?.nodePublishSecretRef !== undefined) return true;
  return projectionsOf(volume).some(({ secret }) => secret !== undefined);
}
