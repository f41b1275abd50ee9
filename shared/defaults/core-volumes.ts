import type {
  PersistentVolumeSpec,
  RBDPersistentVolumeSource,
  RBDVolumeSource,
  ScaleIOPersistentVolumeSource,
  ScaleIOVolumeSource,
} from '../api/types/core-v1';
import type { Part } from '../object/object';
import type { DefaultsTable, MessageDefaults } from './contract';

/** Default mode of files in volumes, rw-r--r--. */
const FILE_MODE = 0o644;

const files: MessageDefaults<{ readonly defaultMode?: number }> = { values: { defaultMode: FILE_MODE } };
const iscsi: MessageDefaults<{ readonly iscsiInterface?: string }> = {
  values: { iscsiInterface: 'default' },
};
const rbd: MessageDefaults<RBDPersistentVolumeSource | RBDVolumeSource> = {
  values: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
};
const scaleIo: MessageDefaults<ScaleIOPersistentVolumeSource | ScaleIOVolumeSource> = {
  values: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** Defaults of volumes of pods, persistent volumes and claims. */
export const CORE_VOLUMES: DefaultsTable = {
  'core/v1.Volume': {
    derive: (volume) =>
      Object.entries(volume).every(
        ([name, value]) => name === 'name' || value === undefined || value === null,
      )
        ? { emptyDir: {} }
        : undefined,
  },
  'core/v1.SecretVolumeSource': files,
  'core/v1.ConfigMapVolumeSource': files,
  'core/v1.DownwardAPIVolumeSource': files,
  'core/v1.ProjectedVolumeSource': files,
  'core/v1.ServiceAccountTokenProjection': { values: { expirationSeconds: 3600 } },
  'core/v1.HostPathVolumeSource': { values: { type: '' } },
  'core/v1.ISCSIVolumeSource': iscsi,
  'core/v1.ISCSIPersistentVolumeSource': iscsi,
  'core/v1.RBDVolumeSource': rbd,
  'core/v1.RBDPersistentVolumeSource': rbd,
  'core/v1.ScaleIOVolumeSource': scaleIo,
  'core/v1.ScaleIOPersistentVolumeSource': scaleIo,
  'core/v1.AzureDiskVolumeSource': {
    values: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  },
  // An inline volume of a VolumeAttachment gets no defaults.
  'core/v1.PersistentVolume': {
    derive: ({ spec }) => {
      const left = defaultsOfVolume(spec);
      return Object.keys(left).length === 0 ? undefined : { spec: { ...spec, ...left } };
    },
  },
  'core/v1.PersistentVolumeStatus': { values: { phase: 'Pending' } },
  'core/v1.PersistentVolumeClaimSpec': { values: { volumeMode: 'Filesystem' } },
  'core/v1.PersistentVolumeClaimStatus': { values: { phase: 'Pending' } },
};

function defaultsOfVolume({
  persistentVolumeReclaimPolicy: policy = '',
  volumeMode,
}: PersistentVolumeSpec): Part<PersistentVolumeSpec> {
  return {
    ...(policy === '' ? { persistentVolumeReclaimPolicy: 'Retain' } : {}),
    ...(volumeMode === undefined ? { volumeMode: 'Filesystem' } : {}),
  };
}
