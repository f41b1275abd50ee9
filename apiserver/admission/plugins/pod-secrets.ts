import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';

const CONTAINER_LISTS = ['initContainers', 'containers'];

/** Why a pod that a node agent runs from a file of its own may not be shown: it would give the node what is not the node's. */
export function mirrorPodProblem(spec: Json): string | undefined {
  if (text(spec['serviceAccountName']) !== '') return 'a mirror pod may not reference service accounts';
  if (usesSecrets(spec)) return 'a mirror pod may not reference secrets';
  const usesTokens = records(spec['volumes'])
    .flatMap((volume) => records(record(volume['projected'])['sources']))
    .some((source) => optionalRecord(source['serviceAccountToken']) !== undefined);
  return usesTokens ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

/** Which secret of the pod its service account does not list. */
export function unlistedSecretProblem(spec: Json, account: ApiObject): string | undefined {
  const who = account.metadata.name ?? '';
  const secrets = new Set(records(account['secrets']).map(({ name }) => text(name)));
  const why = `is not allowed because service account ${who} does not reference that`;
  for (const volume of records(spec['volumes'])) {
    const secret = optionalRecord(volume['secret']);
    const name = text(secret?.['secretName']);
    if (secret !== undefined && !secrets.has(name)) {
      return `volume with secret.secretName="${name}" ${why} secret`;
    }
  }
  for (const { container, variable, name } of variables(spec)) {
    if (!secrets.has(name)) {
      return `container ${container} with envVar ${variable} referencing secret.secretName="${name}" ${why} secret`;
    }
  }
  const pullSecrets = new Set(records(account['imagePullSecrets']).map(({ name }) => text(name)));
  const names = records(spec['imagePullSecrets']).map(({ name }) => text(name));
  const at = names.findIndex((name) => !pullSecrets.has(name));
  return at < 0
    ? undefined
    : `imagePullSecrets[${String(at)}].name="${names[at] ?? ''}" ${why} imagePullSecret`;
}

/** Variables whose value comes from a secret. */
function variables(
  spec: Json,
): readonly { readonly container: string; readonly variable: string; readonly name: string }[] {
  return CONTAINER_LISTS.flatMap((list) => records(spec[list])).flatMap((container) =>
    records(container['env']).flatMap((variable) => {
      const reference = optionalRecord(record(variable['valueFrom'])['secretKeyRef']);
      if (reference === undefined) return [];
      const named = { container: text(container['name']), variable: text(variable['name']) };
      return [{ ...named, name: text(reference['name']) }];
    }),
  );
}

/** Whether anything in the pod comes from a ConfigMap. */
export function usesConfigMaps(spec: Json): boolean {
  const containers = [...CONTAINER_LISTS, 'ephemeralContainers'].flatMap((list) => records(spec[list]));
  const volumes = records(spec['volumes']);
  return (
    containers.some(({ envFrom }) => records(envFrom).some((source) => has(source, 'configMapRef'))) ||
    containers.some(({ env }) =>
      records(env).some(({ valueFrom }) => has(record(valueFrom), 'configMapKeyRef')),
    ) ||
    volumes.some((volume) => has(volume, 'configMap')) ||
    volumes.some((volume) =>
      records(record(volume['projected'])['sources']).some((source) => has(source, 'configMap')),
    )
  );
}

function has(message: Json, field: string): boolean {
  return optionalRecord(message[field]) !== undefined;
}

/** Whether anything in the pod comes from a Secret. */
export function usesSecrets(spec: Json): boolean {
  if (records(spec['imagePullSecrets']).length > 0 || variables(spec).length > 0) return true;
  const containers = [...CONTAINER_LISTS, 'ephemeralContainers'].flatMap((list) => records(spec[list]));
  if (containers.some((container) => records(container['envFrom']).some(isOfSecret))) return true;
  return records(spec['volumes']).some(holdsSecret);
}

function isOfSecret(source: Json): boolean {
  return optionalRecord(source['secretRef']) !== undefined;
}

/** The kinds of volumes that name a secret in `secretRef`. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'];

function holdsSecret(volume: Json): boolean {
  if (optionalRecord(volume['secret']) !== undefined || optionalRecord(volume['azureFile']) !== undefined) {
    return true;
  }
  if (WITH_SECRET_REF.some((kind) => optionalRecord(record(volume[kind])['secretRef']) !== undefined)) {
    return true;
  }
  if (optionalRecord(record(volume['csi'])['nodePublishSecretRef']) !== undefined) return true;
  return records(record(volume['projected'])['sources']).some(
    (source) => optionalRecord(source['secret']) !== undefined,
  );
}
