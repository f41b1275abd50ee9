import type { ApiObject } from '../../../shared/object/object';
import type { Quantity } from '../../../shared/meta/quantity';
import { ZERO_QUANTITY, compareQuantity, parseQuantity } from '../../../shared/meta/quantity';
import { ANNOTATION } from '../../../shared/names';
import { record, text } from '../../../shared/object/accessors';
import type { ClusterReader } from '../cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { CLAIMS, STORAGE_CLASSES } from './resources';
import { specOf } from './with-spec';

/** A claim may ask for more only while it is bound, and if its storage class lets volumes grow. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  concerns: writesOf(CLAIMS, ['UPDATE']),
  validate(attributes, cluster) {
    const { object, oldObject } = attributes;
    if (object === undefined || oldObject === undefined) return;
    if (compareQuantity(sizeOf(object), sizeOf(oldObject)) <= 0) return;
    if (record(oldObject['status'])['phase'] !== 'Bound') {
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
};

function sizeOf(claim: ApiObject): Quantity {
  const requests = record(record(specOf(claim)['resources'])['requests']);
  return parseQuantity(text(requests['storage'])) ?? ZERO_QUANTITY;
}

/** The annotation that named the class before there was a field still comes first. */
function classOf(claim: ApiObject): string {
  const { annotations = {} } = claim.metadata;
  return annotations[ANNOTATION.betaStorageClass] ?? text(specOf(claim)['storageClassName']);
}

function isExpandable(cluster: ClusterReader, name: string): boolean {
  return cluster.get(STORAGE_CLASSES, name)?.['allowVolumeExpansion'] === true;
}
