import type { PersistentVolumeClaim } from '../../../../shared/api/types/core-v1';
import type { Quantity } from '../../../../shared/meta/quantity';
import { ZERO_QUANTITY, compareQuantity, parseQuantity } from '../../../../shared/meta/quantity';
import { ANNOTATION } from '../../../../shared/names';
import type { ClusterReader } from '../../cluster/cluster-reader';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { CLAIMS, STORAGE_CLASSES } from '../../cluster/resources';

const STORAGE = 'storage';

/** A claim may grow only while it is bound and its storage class allows expansion. */
export const persistentVolumeClaimResize = pluginOf(writesOf(CLAIMS, ['UPDATE']), {
  validate(attributes, cluster) {
    const { object, oldObject } = attributes;
    if (object === undefined || oldObject === undefined) return;
    if (compareQuantity(sizeOf(object), sizeOf(oldObject)) <= 0) return;
    if (oldObject.status?.phase !== 'Bound') {
      throw refusal(attributes, 'only bound persistent volume claims can be expanded');
    }
    const name = classOf(object);
    if (name === '' || name !== classOf(oldObject) || !isExpandable(cluster, name)) {
      throw refusal(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    }
  },
});

function sizeOf({ spec }: PersistentVolumeClaim): Quantity {
  const { requests = {} } = spec.resources;
  return parseQuantity(requests[STORAGE] ?? '') ?? ZERO_QUANTITY;
}

/** The deprecated annotation takes precedence over the field, as in Kubernetes. */
function classOf({ metadata: { annotations = {} }, spec }: PersistentVolumeClaim): string {
  return annotations[ANNOTATION.betaStorageClass] ?? spec.storageClassName ?? '';
}

function isExpandable(cluster: ClusterReader, name: string): boolean {
  return cluster.get(STORAGE_CLASSES, name)?.allowVolumeExpansion === true;
}
