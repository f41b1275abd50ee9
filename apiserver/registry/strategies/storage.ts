import type { Strategy } from '../strategy';
import { csiDriverRules, csiNodeRules } from '../validation/csi-drivers';
import { storageClassRules } from '../validation/storage-classes';
import { storageCapacityRules, volumeAttachmentRules } from '../validation/volume-attachments';

const stored: Strategy = { requiresResourceVersion: true, returnsDeletedObject: true };

/** storage. */
export const storage: Readonly<Record<string, Strategy>> = {
  csidrivers: { ...stored, ...csiDriverRules },
  csinodes: { ...stored, ...csiNodeRules },
  csistoragecapacities: { ...stored, ...storageCapacityRules },
  storageclasses: { returnsDeletedObject: true, ...storageClassRules },
  volumeattachments: { statusLeavesMetadata: true, ...stored, ...volumeAttachmentRules },
};
