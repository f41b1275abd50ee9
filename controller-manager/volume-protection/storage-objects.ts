import type { Pod } from '../../shared/api/types/core-v1';
import type { ApiObject } from '../../shared/object/object';

/** What of a pod says which claims it uses. */
export interface PodWithClaims extends ApiObject {
  /** Empty while the pod is on no node. */
  readonly nodeName: string;
  readonly claims: readonly UsedClaim[];
}

interface UsedClaim {
  /** In the pod's namespace. */
  readonly name: string;
  /** It was made for this pod; another claim that happens to have its name is not the pod's. */
  readonly isPodsOwn: boolean;
}

/**
 * Cuts a pod down to that. The claim of an ephemeral volume is named after the pod and the volume; once the pod has stopped it is no
 * longer used, or a pod that waits for its claims to go would wait for ever.
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

/** `namespace/name` of each claim. */
export function claimKeysOf({ metadata, claims }: PodWithClaims): readonly string[] {
  return claims.map(({ name }) => `${metadata.namespace ?? ''}/${name}`);
}

/** Whether the pod, of the same namespace, may be running with the claim. One that is on no node yet will not be started with it. */
export function isUsing({ metadata, nodeName, claims }: PodWithClaims, claim: ApiObject): boolean {
  const { name, ownerReferences = [] } = claim.metadata;
  const isOwn = ownerReferences.some(({ uid, controller }) => controller === true && uid === metadata.uid);
  return nodeName !== '' && claims.some((used) => used.name === name && (isOwn || !used.isPodsOwn));
}
