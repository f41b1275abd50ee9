import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  LocalObjectReference,
  QuobyteVolumeSource,
  VolumeSource,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../../shared/meta/dns-names';
import { compareQuantity, ZERO_QUANTITY } from '../../../../shared/meta/quantity';
import { text } from '../../../../shared/object/accessors';
import { PULL_POLICIES } from './containers';
import { namedReference } from './env';
import { configMapVolume, downwardApiVolume, projectedVolume, secretVolume } from './file-volumes';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import type { Rule } from '../rules/primitives';
import {
  choice,
  fields,
  inRange,
  localDescendingPath,
  needed,
  optionalForm,
  pathWithoutBacksteps,
  requiredChoice,
} from '../rules/primitives';
import { csiVolume, flexOptions, iscsiVolume } from '../rules/storage-drivers';
import { quantityOf } from './resource-requirements';
import { ownKeyMap } from '../../../../shared/own-key-map';

const partition: Rule<number | undefined> = (given = 0, path) =>
  given < 0 || given > 255 ? [invalid(path, given, 'must be between 1 and 255, inclusive')] : [];
const lun: Rule = (value, path) => inRange(value, path, { min: 0, max: 255 });
const someOf: Rule<readonly string[] | null> = (list, path) =>
  list === null || list.length === 0 ? [required(path)] : [];
const secretRef: Rule<LocalObjectReference | undefined> = namedReference;

/** Several rules for one value. */
const all =
  <Value>(...rules: readonly Rule<Value>[]): Rule<Value> =>
  (value, path) =>
    rules.flatMap((rule) => rule(value, path));

/** Types that upstream calls otherwise where it tells what is wrong with them, or that there are too many. */
const OTHER_NAMES = ownKeyMap<OtherName>({
  gcePersistentDisk: { inside: 'persistentDisk' },
  cephfs: { surplus: 'cephFS' },
  downwardAPI: { surplus: 'downwarAPI' },
} satisfies { readonly [Type in keyof VolumeSource]?: OtherName });

interface OtherName {
  readonly inside?: string;
  readonly surplus?: string;
}

/** Exactly one of the sources must be there; its own rule runs too. */
export function oneSource<Message extends object>(
  message: Message,
  path: string,
  rules: MemberRules<Message>,
): FieldError[] {
  const [first, ...others] = membersOf(message, rules);
  if (first === undefined) return [required(path, 'must specify a volume type')];
  return [
    ...memberErrors(message, first, rules, `${path}.${OTHER_NAMES.get(first)?.inside ?? first}`),
    ...others.map((type) =>
      forbiddenField(
        `${path}.${OTHER_NAMES.get(type)?.surplus ?? type}`,
        'may not specify more than 1 volume type',
      ),
    ),
  ];
}

/** Every type of volume that is a single source, with its rule, in the order in which they are looked at. `ephemeral` comes after `csi`; it needs the pod and is not here. That pods need a reference of an image says the rule of volumes. */
export const VOLUME_SOURCES: Required<MemberRules<Omit<VolumeSource, 'ephemeral'>>> = {
  emptyDir: ({ sizeLimit: limit = '' }, path) => {
    if (limit === '' || compareQuantity(quantityOf(limit), ZERO_QUANTITY) >= 0) return [];
    return [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
  },
  hostPath: ({ path: given, type }, path) => {
    if (given === '') return [required(`${path}.path`)];
    return [
      ...pathWithoutBacksteps(given, `${path}.path`),
      ...(type === undefined ? [] : choice(type, `${path}.type`, HOST_PATH_TYPES)),
    ];
  },
  gitRepo: fields({ repository: needed, directory: localDescendingPath }),
  gcePersistentDisk: fields({ pdName: needed, partition }),
  awsElasticBlockStore: fields({ volumeID: needed, partition }),
  secret: secretVolume,
  nfs: fields({ server: needed, path: all(needed, absolutePath) }),
  iscsi: iscsiVolume('must be valid format starting with iqn, eui, or naa'),
  glusterfs: fields({ endpoints: needed, path: needed }),
  flocker: flocker,
  persistentVolumeClaim: fields({ claimName: needed }),
  rbd: fields({ monitors: someOf, image: needed }),
  cinder: fields({ volumeID: needed, secretRef }),
  cephfs: fields({ monitors: someOf }),
  quobyte: quobyte,
  downwardAPI: downwardApiVolume,
  fc: fibreChannel,
  flexVolume: all(fields({ driver: needed }), flexOptions),
  configMap: configMapVolume,
  azureFile: fields({ secretName: needed, shareName: needed }),
  vsphereVolume: fields({ volumePath: needed }),
  photonPersistentDisk: fields({ pdID: needed }),
  portworxVolume: fields({ volumeID: needed }),
  azureDisk: all(fields({ diskName: needed, diskURI: needed }), azureDisk),
  storageos: fields({
    volumeName: (value, path) => (text(value) === '' ? [required(path)] : dnsLabel(value, path)),
    volumeNamespace: dnsLabel,
    secretRef,
  }),
  projected: projectedVolume,
  scaleIO: fields({ gateway: needed, system: needed, volumeName: needed }),
  csi: csiVolume,
  image: ({ pullPolicy }, path) => requiredChoice(pullPolicy, `${path}.pullPolicy`, PULL_POLICIES),
};

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function dnsLabel(value: unknown, path: string): FieldError[] {
  return optionalForm(value, path, dns1123LabelProblems);
}

function absolutePath(value: unknown, path: string): FieldError[] {
  return text(value).startsWith('/') ? [] : [invalid(path, value ?? '', 'must be an absolute path')];
}

const TENANT_BYTES_MAX = 64;

const HOST_PORT = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;

/** The tenant is looked at only where there is a registry, and the registry where the tenant is good. */
function quobyte(volume: QuobyteVolumeSource, path: string): FieldError[] {
  return [...registryOf(volume, path), ...needed(volume.volume, `${path}.volume`)];
}

function registryOf({ registry, tenant = '' }: QuobyteVolumeSource, path: string): FieldError[] {
  const at = `${path}.registry`;
  const why = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') return [required(at, why)];
  if (Buffer.byteLength(tenant) > TENANT_BYTES_MAX) {
    return [required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')];
  }
  return registry.split(',').every((pair) => HOST_PORT.test(pair)) ? [] : [invalid(at, registry, why)];
}

function flocker(volume: FlockerVolumeSource, path: string): FieldError[] {
  const { datasetName: name = '', datasetUUID: uuid = '' } = volume;
  return [
    ...(name === '' && uuid === '' ? [required(path, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== ''
      ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [invalid(`${path}.datasetName`, name, "must not contain '/'")] : []),
  ];
}

function fibreChannel(disk: FCVolumeSource, path: string): FieldError[] {
  const byName = (disk.targetWWNs ?? []).length > 0;
  const byId = (disk.wwids ?? []).length > 0;
  const at = `${path}.targetWWNs`;
  return [
    ...(!byName && !byId ? [required(at, 'must specify either targetWWNs or wwids, but not both')] : []),
    ...(byName && byId
      ? [invalid(at, disk.targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
      : []),
    ...(byName && disk.lun === undefined
      ? [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
      : []),
    ...(byName && disk.lun !== undefined ? lun(disk.lun, `${path}.lun`) : []),
  ];
}

function azureDisk({ kind, diskURI: uri, cachingMode }: AzureDiskVolumeSource, path: string): FieldError[] {
  const isManaged = kind === 'Managed';
  const form = isManaged
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
  const begin = isManaged ? '/subscriptions/' : 'https://';
  return [
    ...(cachingMode === undefined
      ? []
      : choice(cachingMode, `${path}.cachingMode`, ['None', 'ReadOnly', 'ReadWrite'])),
    ...(kind === undefined ? [] : choice(kind, `${path}.kind`, ['Dedicated', 'Managed', 'Shared'])),
    ...(kind !== undefined && !uri.startsWith(begin) ? [notSupported(`${path}.diskURI`, uri, [form])] : []),
  ];
}
