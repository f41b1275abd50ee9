import type { Strategy } from '../../../engine/registry/strategy';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import { csiDriverTable, csiNodeTable, storageClassTable, volumeAttachmentTable } from './columns';
import { csiDriverRules, csiNodeRules } from './csi-drivers-rules';
import { storageClassRules } from './storage-classes-rules';
import { storageCapacityRules, volumeAttachmentRules } from './volume-attachments-rules';
import { kindsOf } from '../kind';

const common = { requiresResourceVersion: true, returnsDeletedObject: true } satisfies Strategy;

export const storage = kindsOf('storage', {
  csidrivers: {
    strategy: { metadataChecks: 'old names', ...common, ...csiDriverRules },
    table: csiDriverTable,
  },
  csinodes: { strategy: { ...common, ...csiNodeRules }, table: csiNodeTable },
  csistoragecapacities: {
    strategy: { requiresResourceVersion: true, ...storageCapacityRules },
    table: CREATED_AT_TABLE,
  },
  storageclasses: {
    strategy: { returnsDeletedObject: true, ...storageClassRules },
    table: storageClassTable,
  },
  volumeattachments: {
    strategy: {
      statusLeavesMetadata: true,
      statusTakes: ['deletionGracePeriodSeconds', 'generateName'],
      ...common,
      ...volumeAttachmentRules,
    },
    table: volumeAttachmentTable,
  },
});
