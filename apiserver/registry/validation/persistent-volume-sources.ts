import type { FieldError } from '../../../shared/errors/field-error';
import { required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../shared/meta/dns-names';
import { optionalRecord, optionalText, record, text } from './accessors';
import type { Rule } from './primitives';
import { fields, ifPresent, invalidForEach, needed, pathWithoutBacksteps } from './primitives';
import { csiDriverName } from './storage-drivers';
import { VOLUME_SOURCES } from './volume-sources';

/** Types whose source is the same in pods and in persistent volumes, in the order in which they are looked at. */
const SHARED = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'fc',
  'flexVolume',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
] as const;

/** Outside a namespace a secret needs one. */
const secretOfNamespace: Rule = (value, path) => {
  const secret = optionalRecord(value);
  return secret === undefined ? [] : fields({ name: needed, namespace: needed })(secret, path);
};

/** Every type of persistent volume, with its rule. */
export const PERSISTENT_SOURCES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(SHARED.flatMap((type) => ruleOf(type))),
  glusterfs: fields({ endpoints: needed, path: needed, endpointsNamespace: ifPresent(namespaceName) }),
  cinder: fields({ volumeID: needed, secretRef: secretOfNamespace }),
  azureFile: fields({ secretName: needed, shareName: needed, secretNamespace: ifPresent(needed) }),
  local: (value, path) => {
    const given = text(record(value)['path']);
    return given === '' ? [required(`${path}.path`)] : pathWithoutBacksteps(given, `${path}.path`);
  },
  storageos: fields({ volumeName: needed, secretRef: secretOfNamespace }),
  csi: fields({
    driver: csiDriverName,
    volumeHandle: needed,
    controllerPublishSecretRef: secretOfNamespace,
    controllerExpandSecretRef: secretOfNamespace,
    nodePublishSecretRef: secretOfNamespace,
    nodeStageSecretRef: secretOfNamespace,
  }),
};

function ruleOf(type: string): [string, Rule][] {
  const rule = VOLUME_SOURCES[type];
  return rule === undefined ? [] : [[type, rule]];
}

function namespaceName(value: unknown, path: string): FieldError[] {
  const name = optionalText(value) ?? '';
  return invalidForEach(dns1123LabelProblems(name), name, path);
}
