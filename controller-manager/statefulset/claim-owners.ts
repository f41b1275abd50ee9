import type { StatefulSet } from '../../shared/api/types/apps-v1';
import type { PersistentVolumeClaim, Pod } from '../../shared/api/types/core-v1';
import { RESOURCE } from '../../shared/api/resource-names';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { PARENT } from '../pods/children';
import type { KindOfResource } from '../runtime/owner';
import { ownerReferenceTo } from '../runtime/owner';
import { isWanted, ordinalOf } from './stateful-pods';

const POD_KIND = { ...RESOURCE.pods, kind: 'Pod' };
const DELETE = 'Delete';

interface Owners {
  readonly set: StatefulSet;
  readonly pod: Pod;
}

/**
 * Returns the owner references that a claim should have by the retention policy of its set: the set owns what is deleted with it, and a pod
 * that is scaled down owns what is deleted then. Undefined: they are right, or not to be touched. Sources: `isClaimOwnerUpToDate` and
 * `updateClaimOwnerRefForSetAndPod`.
 */
export function ownersOfClaim(
  claim: PersistentVolumeClaim,
  { set, pod }: Owners,
): readonly OwnerReference[] | undefined {
  if (isStale(claim, PARENT.statefulSets, set) || isStale(claim, POD_KIND, pod)) return undefined;
  const { ownerReferences = [] } = claim.metadata;
  const isOwn = (reference: OwnerReference): boolean =>
    refersTo(reference, PARENT.statefulSets, set) || refersTo(reference, POD_KIND, pod);
  const others = ownerReferences.filter((reference) => !isOwn(reference));
  const has = ({ metadata }: ApiObject): boolean => ownerReferences.some(({ uid }) => uid === metadata.uid);
  // An unexpected controller decides about the claim alone.
  if (hasOtherController(claim, { set, pod })) return has(set) || has(pod) ? others : undefined;
  const { whenScaled, whenDeleted } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const isScaledDown = !isWanted(ordinalOf(pod), set);
  const ofPod = whenScaled === DELETE && isScaledDown;
  const ofSet = whenDeleted === DELETE && !ofPod;
  const isControlled = ownerReferences
    .filter(({ uid }) => uid === set.metadata.uid || uid === pod.metadata.uid)
    .every(({ controller }) => controller === true);
  if (isControlled && has(set) === ofSet && has(pod) === ofPod) return undefined;
  return [
    ...others,
    ...(ofSet ? [ownerReferenceTo(PARENT.statefulSets, set)] : []),
    ...(ofPod ? [ownerReferenceTo(POD_KIND, pod)] : []),
  ];
}

/** Reports whether another object than the set or the pod controls the claim, though the policy deletes claims (`hasUnexpectedController`). */
export function hasOtherController({ metadata }: PersistentVolumeClaim, { set, pod }: Owners): boolean {
  const { whenScaled, whenDeleted } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled !== DELETE && whenDeleted !== DELETE) return false;
  return (metadata.ownerReferences ?? []).some((reference) => {
    if (refersTo(reference, PARENT.statefulSets, set)) return reference.uid !== set.metadata.uid;
    if (refersTo(reference, POD_KIND, pod)) return reference.uid !== pod.metadata.uid;
    return reference.controller === true;
  });
}

/** Reports whether the claim belongs to an earlier pod of this name and will be deleted with it (upstream `PodClaimIsStale`). */
export function isClaimOfEarlierPod(
  claim: PersistentVolumeClaim,
  { set }: Pick<Owners, 'set'>,
  name: string,
): boolean {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== DELETE) return false;
  return isStale(claim, POD_KIND, { metadata: { name } });
}

/** Reports whether the claim names an owner of this kind and name with another uid. */
function isStale({ metadata }: PersistentVolumeClaim, resource: KindOfResource, owner: ApiObject): boolean {
  const found = metadata.ownerReferences?.find((reference) => refersTo(reference, resource, owner));
  return found !== undefined && found.uid !== owner.metadata.uid;
}

function refersTo(
  { apiVersion, kind, name }: OwnerReference,
  resource: KindOfResource,
  { metadata }: ApiObject,
): boolean {
  return apiVersion === apiVersionOf(resource) && kind === resource.kind && name === metadata.name;
}
