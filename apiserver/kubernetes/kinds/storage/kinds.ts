import { kindsOf } from '../kind';
import { csiDrivers } from './csi-drivers';
import { csiNodes } from './csi-nodes';
import { csiStorageCapacities } from './csi-storage-capacities';
import { storageClasses } from './storage-classes';
import { volumeAttachments } from './volume-attachments';

export const storage = kindsOf('storage', {
  csidrivers: csiDrivers,
  csinodes: csiNodes,
  csistoragecapacities: csiStorageCapacities,
  storageclasses: storageClasses,
  volumeattachments: volumeAttachments,
});
