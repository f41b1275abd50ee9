import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';
import type { RowOf } from '../columns/cells';
import { NONE, UNSET } from '../columns/format';
import { ageOf, flagAt, listAt, nameOf, textAt, textOr, textsAt } from '../columns/read';

export const csiDriverRow: RowOf = (driver) => {
  const modes = textsAt(driver, 'spec', 'volumeLifecycleModes');
  const audiences = listAt(driver, 'spec', 'tokenRequests').map((each) => textAt(each, 'audience'));
  return [
    nameOf(driver),
    flagAt(true, driver, 'spec', 'attachRequired'),
    flagAt(false, driver, 'spec', 'podInfoOnMount'),
    flagAt(false, driver, 'spec', 'storageCapacity'),
    audiences.length === 0 ? UNSET : audiences.join(','),
    flagAt(false, driver, 'spec', 'requiresRepublish'),
    modes.length === 0 ? NONE : modes.join(','),
    ageOf(driver),
  ];
};

export const csiNodeRow: RowOf = (node) => [
  nameOf(node),
  listAt(node, 'spec', 'drivers').length,
  ageOf(node),
];

export const storageClassRow: RowOf = (storageClass) => [
  isDefault(storageClass) ? `${nameOf(storageClass)} (default)` : nameOf(storageClass),
  textAt(storageClass, 'provisioner'),
  textOr('Delete', storageClass, 'reclaimPolicy'),
  textOr('Immediate', storageClass, 'volumeBindingMode'),
  flagAt(false, storageClass, 'allowVolumeExpansion'),
  ageOf(storageClass),
];

function isDefault({ metadata: { annotations } }: ApiObject): boolean {
  return [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass].some(
    (key) => annotations?.[key] === 'true',
  );
}

export const volumeAttachmentRow: RowOf = (attachment) => [
  nameOf(attachment),
  textAt(attachment, 'spec', 'attacher'),
  textAt(attachment, 'spec', 'source', 'persistentVolumeName'),
  textAt(attachment, 'spec', 'nodeName'),
  flagAt(false, attachment, 'status', 'attached'),
  ageOf(attachment),
];
