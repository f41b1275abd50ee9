import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../shared/meta/dns-names';
import { compareQuantity, ZERO_QUANTITY } from '../../../shared/meta/quantity';
import type { Json } from '../../../shared/object/accessors';
import {
  integer,
  optionalRecord,
  optionalText,
  record,
  strings,
  text,
} from '../../../shared/object/accessors';
import { namedReference } from './env';
import { configMapVolume, downwardApiVolume, projectedVolume, secretVolume } from './file-volumes';
import type { Rule } from '../rules/primitives';
import {
  choice,
  fields,
  ifPresent,
  inRange,
  localDescendingPath,
  needed,
  optionalForm,
  pathWithoutBacksteps,
} from '../rules/primitives';
import { csiVolume, flexOptions, iscsiVolume } from '../rules/storage-drivers';
import { quantityOf } from './resource-requirements';

const partition: Rule = (value, path) => {
  const given = integer(value) ?? 0;
  return given < 0 || given > 255 ? [invalid(path, given, 'must be between 1 and 255, inclusive')] : [];
};
const lun: Rule = (value, path) => inRange(value, path, { min: 0, max: 255 });
const someOf: Rule = (value, path) => (strings(value).length === 0 ? [required(path)] : []);
const secretRef: Rule = namedReference;

/** Several rules for one value. */
const all =
  (...rules: readonly Rule[]): Rule =>
  (value, path) =>
    rules.flatMap((rule) => rule(value, path));

/** Types that upstream calls otherwise where it tells what is wrong with them, or that there are too many. */
const OTHER_NAMES: Readonly<Record<string, { readonly inside?: string; readonly surplus?: string }>> = {
  gcePersistentDisk: { inside: 'persistentDisk' },
  cephfs: { surplus: 'cephFS' },
  downwardAPI: { surplus: 'downwarAPI' },
};

/** Exactly one of the sources must be there; its own rule runs too. */
export function oneSource(value: Json, path: string, rules: Readonly<Record<string, Rule>>): FieldError[] {
  const given = Object.keys(rules).filter((type) => optionalRecord(value[type]) !== undefined);
  const [first, ...others] = given;
  if (first === undefined) return [required(path, 'must specify a volume type')];
  return [
    ...(rules[first]?.(value[first], `${path}.${OTHER_NAMES[first]?.inside ?? first}`) ?? []),
    ...others.map((type) =>
      forbiddenField(
        `${path}.${OTHER_NAMES[type]?.surplus ?? type}`,
        'may not specify more than 1 volume type',
      ),
    ),
  ];
}

/** Every type of volume that is a single source, with its rule. `ephemeral` needs the pod and is not here. */
export const VOLUME_SOURCES: Readonly<Record<string, Rule>> = {
  emptyDir: (value, path) => {
    const limit = text(record(value)['sizeLimit']);
    if (limit === '' || compareQuantity(quantityOf(limit), ZERO_QUANTITY) >= 0) return [];
    return [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
  },
  hostPath: (value, path) => {
    const given = text(record(value)['path']);
    if (given === '') return [required(`${path}.path`)];
    return [
      ...pathWithoutBacksteps(given, `${path}.path`),
      ...ifPresent((type, at) => choice(type, at, HOST_PATH_TYPES))(record(value)['type'], `${path}.type`),
    ];
  },
  gitRepo: fields({ repository: needed, directory: localDescendingPath }),
  gcePersistentDisk: fields({ pdName: needed, partition }),
  awsElasticBlockStore: fields({ volumeID: needed, partition }),
  secret: secretVolume,
  nfs: fields({ server: needed, path: all(needed, absolutePath) }),
  iscsi: iscsiVolume('must be valid format starting with iqn, eui, or naa'),
  glusterfs: fields({ endpoints: needed, path: needed }),
  flexVolume: all(fields({ driver: needed }), flexOptions),
  configMap: configMapVolume,
  rbd: fields({ monitors: someOf, image: needed }),
  cephfs: fields({ monitors: someOf }),
  quobyte: quobyte,
  flocker: flocker,
  downwardAPI: downwardApiVolume,
  fc: fibreChannel,
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
  persistentVolumeClaim: fields({ claimName: needed }),
  cinder: fields({ volumeID: needed, secretRef }),
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
function quobyte(value: unknown, path: string): FieldError[] {
  const volume = record(value);
  return [...registryOf(volume, path), ...needed(volume['volume'], `${path}.volume`)];
}

function registryOf(volume: Json, path: string): FieldError[] {
  const at = `${path}.registry`;
  const registry = text(volume['registry']);
  const why = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') return [required(at, why)];
  if (Buffer.byteLength(text(volume['tenant'])) > TENANT_BYTES_MAX) {
    return [required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')];
  }
  return registry.split(',').every((pair) => HOST_PORT.test(pair)) ? [] : [invalid(at, registry, why)];
}

function flocker(value: unknown, path: string): FieldError[] {
  const name = text(record(value)['datasetName']);
  const uuid = text(record(value)['datasetUUID']);
  return [
    ...(name === '' && uuid === '' ? [required(path, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== ''
      ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [invalid(`${path}.datasetName`, name, "must not contain '/'")] : []),
  ];
}

function fibreChannel(value: unknown, path: string): FieldError[] {
  const disk = record(value);
  const byName = strings(disk['targetWWNs']).length > 0;
  const byId = strings(disk['wwids']).length > 0;
  const at = `${path}.targetWWNs`;
  return [
    ...(!byName && !byId ? [required(at, 'must specify either targetWWNs or wwids, but not both')] : []),
    ...(byName && byId
      ? [invalid(at, disk['targetWWNs'], 'targetWWNs and wwids can not be specified simultaneously')]
      : []),
    ...(byName && disk['lun'] === undefined
      ? [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
      : []),
    ...(byName && disk['lun'] !== undefined ? lun(disk['lun'], `${path}.lun`) : []),
  ];
}

function azureDisk(value: unknown, path: string): FieldError[] {
  const disk = record(value);
  const kind = optionalText(disk['kind']);
  const uri = text(disk['diskURI']);
  const isManaged = kind === 'Managed';
  const form = isManaged
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
  const begin = isManaged ? '/subscriptions/' : 'https://';
  return [
    ...ifPresent((mode, at) => choice(mode, at, ['None', 'ReadOnly', 'ReadWrite']))(
      disk['cachingMode'],
      `${path}.cachingMode`,
    ),
    ...ifPresent((given, at) => choice(given, at, ['Dedicated', 'Managed', 'Shared']))(kind, `${path}.kind`),
    ...(kind !== undefined && !uri.startsWith(begin) ? [notSupported(`${path}.diskURI`, uri, [form])] : []),
  ];
}
