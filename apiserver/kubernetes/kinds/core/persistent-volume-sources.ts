import { isInForce } from '../../../../shared/api/changes';
import type {
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  SecretReference,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { MemberRules } from '../rules/members';
import type { Rule } from '../rules/primitives';
import {
  fields,
  ifPresent,
  invalidForEach,
  needed,
  optionalForm,
  pathWithoutBacksteps,
  requiredDnsLabel,
  requiredText,
} from '../rules/primitives';
import { namedReference } from '../pod-template/env';
import { csiDriverName, iscsiVolume } from '../rules/storage-drivers';
import { VOLUME_SOURCES } from '../pod-template/volume-sources';

/** Outside a namespace a secret needs one. */
const secretOfNamespace = ifPresent(fields<SecretReference>({ name: needed, namespace: needed }));

const iscsiTarget = iscsiVolume('must be valid format');
const iscsi: Rule<ISCSIPersistentVolumeSource> = (volume, path) => [
  ...iscsiTarget(volume, path),
  ...namedReference(volume.secretRef, `${path}.secretRef`),
];

/** Every type of persistent volume, with its rule, in the order in which they are looked at. Most are those of pods. */
export const PERSISTENT_SOURCES: Required<MemberRules<PersistentVolumeSource>> = {
  hostPath: VOLUME_SOURCES.hostPath,
  gcePersistentDisk: VOLUME_SOURCES.gcePersistentDisk,
  awsElasticBlockStore: VOLUME_SOURCES.awsElasticBlockStore,
  glusterfs: fields({ endpoints: needed, path: needed, endpointsNamespace: ifPresent(namespaceName) }),
  flocker: VOLUME_SOURCES.flocker,
  nfs: VOLUME_SOURCES.nfs,
  rbd: VOLUME_SOURCES.rbd,
  quobyte: VOLUME_SOURCES.quobyte,
  cephfs: VOLUME_SOURCES.cephfs,
  iscsi,
  cinder: fields({ volumeID: needed, secretRef: secretOfNamespace }),
  fc: VOLUME_SOURCES.fc,
  flexVolume: VOLUME_SOURCES.flexVolume,
  azureFile: fields({ secretName: needed, shareName: needed, secretNamespace: ifPresent(needed) }),
  vsphereVolume: VOLUME_SOURCES.vsphereVolume,
  photonPersistentDisk: VOLUME_SOURCES.photonPersistentDisk,
  portworxVolume: VOLUME_SOURCES.portworxVolume,
  azureDisk: VOLUME_SOURCES.azureDisk,
  scaleIO: VOLUME_SOURCES.scaleIO,
  local: ({ path: given }, path) =>
    given === '' ? [required(`${path}.path`)] : pathWithoutBacksteps(given, `${path}.path`),
  storageos: fields({
    volumeName: requiredDnsLabel,
    volumeNamespace: (value, path) => optionalForm(value, path, dns1123LabelProblems),
    secretRef: secretOfNamespace,
  }),
  csi: (volume, path) => [
    ...csiDriverName(volume.driver, `${path}.driver`),
    ...needed(volume.volumeHandle, `${path}.volumeHandle`),
    ...(isInForce('csiSecretNames')
      ? NAMED_SECRETS.flatMap((field) => namedSecret(volume[field], `${path}.${field}`))
      : CSI_SECRETS.flatMap(([field, name]) => csiSecret(volume[field], path, name))),
  ],
};

/** The secrets of a CSI volume, and how upstream calls them. That of staging is free there. */
const CSI_SECRETS = [
  ['controllerPublishSecretRef', 'controllerPublishSecretRef'],
  ['controllerExpandSecretRef', 'controllerExpandSecretRef'],
  ['nodePublishSecretRef', 'nodePublishSecretRef '],
] as const;

const NAMED_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

function namedSecret(secret: SecretReference | undefined, path: string): FieldError[] {
  if (secret === undefined) return [];
  return [
    ...requiredText(secret.name, `${path}.name`, dns1123SubdomainProblems),
    ...requiredText(secret.namespace, `${path}.namespace`, dns1123LabelProblems),
  ];
}

/** Upstream leaves the secret out of the path of a wrong form. */
function csiSecret(secret: SecretReference | undefined, path: string, name: string): FieldError[] {
  if (secret === undefined) return [];
  return (['name', 'namespace'] as const).flatMap((field) => [
    ...needed(secret[field], `${path}.${name}.${field}`),
    ...optionalForm(secret[field], `${path}.${field}`, dns1123LabelProblems),
  ]);
}

function namespaceName(name: string, path: string): FieldError[] {
  return name === ''
    ? [invalid(path, name, 'if the endpointnamespace is set, it must be a valid namespace name')]
    : invalidForEach(dns1123LabelProblems(name), name, path);
}
