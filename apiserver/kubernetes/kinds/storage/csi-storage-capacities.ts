import type { CSIStorageCapacity } from '../../../../shared/api/types/storage-v1beta1';
import { invalid } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import type { Strategy } from '../../../engine/registry/strategy';
import type { Kind } from '../kind';
import { nonNegativeQuantity } from '../pod-template/resource-requirements';
import { labelSelector } from '../rules/label-selectors';
import { immutable, invalidForEach } from '../rules/primitives';
import { selectorInGo } from '../rules/selector-in-go';

/** How much of a class a part of the cluster can still give. */
const storageCapacityRules: Pick<Strategy<CSIStorageCapacity>, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const { storageClassName: name, nodeTopology, capacity } = object;
    return [
      ...labelSelector(nodeTopology, 'nodeTopology'),
      ...invalidForEach(dns1123SubdomainProblems(name), name, 'storageClassName'),
      ...(capacity === undefined ? [] : nonNegativeQuantity(capacity, 'capacity')),
    ];
  },
  validateUpdate: (next, previous) => [
    ...(deepEqual(next.nodeTopology, previous.nodeTopology)
      ? []
      : [
          invalid(
            'nodeTopology',
            selectorInGo(next.nodeTopology, getEmptiedFields(next, 'nodeTopology')),
            'field is immutable',
          ),
        ]),
    ...immutable(next.storageClassName, previous.storageClassName, 'storageClassName'),
  ],
};

export const csiStorageCapacities: Kind<CSIStorageCapacity> = {
  strategy: { requiresResourceVersion: true, ...storageCapacityRules },
  table: CREATED_AT_TABLE,
};
