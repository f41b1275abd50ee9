import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../shared/meta/dns-names';
import { optionalRecord, optionalText, record, text } from '../../../shared/object/accessors';
import type { Rule } from '../rules/primitives';
import {
  fields,
  ifPresent,
  invalidForEach,
  needed,
  optionalForm,
  pathWithoutBacksteps,
  requiredDnsLabel,
} from '../rules/primitives';
import { namedReference } from '../pod-template/env';
import { csiDriverName, iscsiVolume } from '../rules/storage-drivers';
import { VOLUME_SOURCES } from '../pod-template/volume-sources';

/** Outside a namespace a secret needs one. */
const secretOfNamespace: Rule = (value, path) => {
  const secret = optionalRecord(value);
  return secret === undefined ? [] : fields({ name: needed, namespace: needed })(secret, path);
};

const iscsi: Rule = (value, path) => [
  ...iscsiVolume('must be valid format')(value, path),
  ...namedReference(record(value)['secretRef'], `${path}.secretRef`),
];

/** Every type of persistent volume, with its rule, in the order in which they are looked at. */
export const PERSISTENT_SOURCES: Readonly<Record<string, Rule>> = {
  ...sharedRules('hostPath', 'gcePersistentDisk', 'awsElasticBlockStore'),
  glusterfs: fields({ endpoints: needed, path: needed, endpointsNamespace: ifPresent(namespaceName) }),
  ...sharedRules('flocker', 'nfs', 'rbd', 'quobyte', 'cephfs'),
  iscsi,
  cinder: fields({ volumeID: needed, secretRef: secretOfNamespace }),
  ...sharedRules('fc', 'flexVolume'),
  azureFile: fields({ secretName: needed, shareName: needed, secretNamespace: ifPresent(needed) }),
  ...sharedRules('vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'scaleIO'),
  local: (value, path) => {
    const given = text(record(value)['path']);
    return given === '' ? [required(`${path}.path`)] : pathWithoutBacksteps(given, `${path}.path`);
  },
  storageos: fields({
    volumeName: requiredDnsLabel,
    volumeNamespace: (value, path) => optionalForm(value, path, dns1123LabelProblems),
    secretRef: secretOfNamespace,
  }),
  csi: (value, path) => [
    ...fields({ driver: csiDriverName, volumeHandle: needed })(value, path),
    ...CSI_SECRETS.flatMap(([field, name]) => csiSecret(record(value)[field], path, name)),
  ],
};

/** The secrets of a CSI volume, and how upstream calls them. That of staging is free there. */
const CSI_SECRETS = [
  ['controllerPublishSecretRef', 'controllerPublishSecretRef'],
  ['controllerExpandSecretRef', 'controllerExpandSecretRef'],
  ['nodePublishSecretRef', 'nodePublishSecretRef '],
] as const;

/** Upstream leaves the secret out of the path of a wrong form. */
function csiSecret(value: unknown, path: string, name: string): FieldError[] {
  const secret = optionalRecord(value);
  if (secret === undefined) return [];
  return ['name', 'namespace'].flatMap((field) => [
    ...needed(secret[field], `${path}.${name}.${field}`),
    ...optionalForm(secret[field], `${path}.${field}`, dns1123LabelProblems),
  ]);
}

/** Of types whose source is the same in pods. */
function sharedRules(...types: readonly string[]): Readonly<Record<string, Rule>> {
  return Object.fromEntries(
    types.flatMap((type) => {
      const rule = VOLUME_SOURCES[type];
      return rule === undefined ? [] : [[type, rule]];
    }),
  );
}

function namespaceName(value: unknown, path: string): FieldError[] {
  const name = optionalText(value) ?? '';
  return name === ''
    ? [invalid(path, name, 'if the endpointnamespace is set, it must be a valid namespace name')]
    : invalidForEach(dns1123LabelProblems(name), name, path);
}
