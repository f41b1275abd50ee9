import type { Pod } from '../../shared/api/types/core-v1';
import type { ApiObject } from '../../shared/object/object';

/** The part of a pod that says which claims it uses. */
export interface PodWithClaims extends ApiObject {
  /** Empty while the pod is not scheduled. */
  readonly nodeName: string;
  readonly claims: readonly UsedClaim[];
}

interface UsedClaim {
  /** A name in the pod's namespace. */
  readonly name: string;
  /** True if the claim was created for this pod; another claim of that name does not count. */
  readonly isPodsOwn: boolean;
}

/**
 * Reduces a pod to that. The claim of an ephemeral volume is named after pod and volume. A finished pod no longer uses it, otherwise a
 * pod that waits for its claims would never be removed.
 */
export function podOf(pod: Pod): PodWithClaims {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = pod.metadata;
  const { nodeName = '', volumes = [] } = pod.spec;
  const claims = volumes.flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) {
      return [{ name: persistentVolumeClaim.claimName, isPodsOwn: false }];
    }
    return ephemeral === undefined || hasStopped(pod) ? [] : [{ name: `${name}-${volume}`, isPodsOwn: true }];
  });
  return { metadata: { name, namespace, uid, resourceVersion }, nodeName, claims };
}

function hasStopped({ metadata }: Pod): boolean {
  return (metadata.deletionTimestamp ?? null) !== null && metadata.deletionGracePeriodSeconds === 0;
}

/** Returns `namespace/name` of each claim. */
export function claimKeysOf({ metadata, claims }: PodWithClaims): readonly string[] {
  return claims.map(({ name }) => `${metadata.namespace ?? ''}/${name}`);
}

/**
 * Reports whether the pod, in the same namespace, may be running with the claim. An unscheduled pod will not be started with a
 * terminating claim.
 */
export function isUsing({ metadata, nodeName, claims }: PodWithClaims, claim: ApiObject): boolean {
  const { name, ownerReferences = [] } = claim.metadata;
  const isOwn = ownerReferences.some(({ uid, controller }) => controller === true && uid === metadata.uid);
  return nodeName !== '' && claims.some((used) => used.name === name && (isOwn || !used.isPodsOwn));
}
