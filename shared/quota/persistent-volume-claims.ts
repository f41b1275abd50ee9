import type { PersistentVolumeClaim } from '../api/types/core-v1';
import { isOnByDefault } from '../flags/feature-gate-table';
import type { Quantity } from '../meta/quantity';
import { parseQuantity } from '../meta/quantity';
import { ANNOTATION, GROUP, STORAGE_CLASS_QUOTA } from '../names';
import type { ResourceList } from './amounts';
import { isMore, ONE, wholeUnits } from './amounts';
import type { Evaluator } from './measure';

const OBJECT_COUNT = 'count/persistentvolumeclaims';
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const NAMES = [CLAIMS, STORAGE];

/** Counts claims and their requested storage, in total and by storage class. A claim may grow. */
export const persistentVolumeClaims: Evaluator<PersistentVolumeClaim> = {
  group: GROUP.core,
  resource: CLAIMS,
  chargesUpdates: true,
  countsOnly: false,
  measures: (name) =>
    name === OBJECT_COUNT ||
    NAMES.includes(name) ||
    NAMES.some((each) => name.endsWith(STORAGE_CLASS_QUOTA + each)),
  measure: (claim) => {
    const { metadata, spec, status } = claim;
    const storageClass = metadata.annotations?.[ANNOTATION.betaStorageClass] ?? spec.storageClassName ?? '';
    const requested = largerStorage(
      spec.resources.requests,
      COUNTS_ALLOCATED ? status?.allocatedResources : {},
    );
    const usage = new Map<string, Quantity>([
      [CLAIMS, ONE],
      [OBJECT_COUNT, ONE],
    ]);
    if (requested !== undefined) usage.set(STORAGE, wholeUnits(requested));
    if (storageClass !== '') {
      for (const name of NAMES) {
        const amount = usage.get(name);
        if (amount !== undefined) usage.set(storageClass + STORAGE_CLASS_QUOTA + name, amount);
      }
    }
    return { usage, scopes: { attributesClasses: attributesClassesOf(claim) } };
  },
  missing: () => [],
};

/** A claim whose volume could not grow may request less again, but what was allocated for it still counts. */
const COUNTS_ALLOCATED = isOnByDefault('RecoverVolumeExpansionFailure');

/** Returns the requested storage, or the allocated one if that is more. */
function largerStorage(requests: ResourceList = {}, allocated: ResourceList = {}): Quantity | undefined {
  const [requested, given] = [requests, allocated].map(({ storage = '' }) => parseQuantity(storage));
  return requested !== undefined && given !== undefined && isMore(given, requested) ? given : requested;
}

/** Returns the VolumeAttributesClasses that the claim has, asks for, or is being changed to. */
export function attributesClassesOf({
  spec,
  status,
}: Pick<PersistentVolumeClaim, 'spec' | 'status'>): readonly string[] {
  return [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].flatMap((name = '') => (name === '' ? [] : [name]));
}
