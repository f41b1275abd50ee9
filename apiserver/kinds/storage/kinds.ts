import { GROUP } from '../../../shared/names';
import type { Strategy } from '../../registry/strategy';
import { createdAtRow } from '../columns/created-at';
import { csiDriverRow, csiNodeRow, storageClassRow, volumeAttachmentRow } from './columns';
import { csiDriverRules, csiNodeRules } from './csi-drivers-rules';
import { storageClassRules } from './storage-classes-rules';
import { storageCapacityRules, volumeAttachmentRules } from './volume-attachments-rules';
import type { KindGroup } from '../kind';

const common: Strategy = { requiresResourceVersion: true, returnsDeletedObject: true };

export const storage: KindGroup = {
  group: GROUP.storage,
  kinds: {
    csidrivers: { strategy: { ...common, ...csiDriverRules }, row: csiDriverRow },
    csinodes: { strategy: { ...common, ...csiNodeRules }, row: csiNodeRow },
    csistoragecapacities: { strategy: { ...common, ...storageCapacityRules }, row: createdAtRow },
    storageclasses: { strategy: { returnsDeletedObject: true, ...storageClassRules }, row: storageClassRow },
    volumeattachments: {
      strategy: { statusLeavesMetadata: true, ...common, ...volumeAttachmentRules },
      row: volumeAttachmentRow,
    },
  },
};
