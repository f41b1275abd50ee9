import type { Strategy } from '../../registry/strategy';
import { csiDriverRules, csiNodeRules } from './csi-drivers-rules';
import { storageClassRules } from './storage-classes-rules';
import { storageCapacityRules, volumeAttachmentRules } from './volume-attachments-rules';

const stored: Strategy = { requiresResourceVersion: true, returnsDeletedObject: true };

/** storage. */
export const storage: Readonly<Record<string, Strategy>> = {
  csidrivers: { ...stored, ...csiDriverRules },
  csinodes: { ...stored, ...csiNodeRules },
  csistoragecapacities: { ...stored, ...storageCapacityRules },
  storageclasses: { returnsDeletedObject: true, ...storageClassRules },
  volumeattachments: { statusLeavesMetadata: true, ...stored, ...volumeAttachmentRules },
};
