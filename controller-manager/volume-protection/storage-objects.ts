import type { ApiObject, GroupVersionResource } from '../../shared/object/object';
import { GROUP } from '../../shared/names';

const core = (resource: string): GroupVersionResource => ({ group: GROUP.core, version: 'v1', resource });

export const CLAIMS = core('persistentvolumeclaims');
export const VOLUMES = core('persistentvolumes');
export const PODS = core('pods');

/** A v1 PersistentVolume as far as its protection is concerned. */
export interface Volume extends ApiObject {
  readonly status?: { readonly phase?: string };
}

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

interface PodSpec {
  readonly nodeName?: string;
  readonly volumes?: readonly {
    readonly name?: string;
    readonly persistentVolumeClaim?: { readonly claimName?: string };
    readonly ephemeral?: object;
  }[];
}

/**
 * Cuts a pod down to that. The claim of an ephemeral volume is named after the pod and the volume; once the pod has stopped it is no
 * longer used, or a pod that waits for its claims to go would wait for ever.
 */
export function podOf(pod: ApiObject): PodWithClaims {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = pod.metadata;
  const { nodeName = '', volumes = [] } = (pod['spec'] ?? {}) as PodSpec;
  const claims = volumes.flatMap(({ name: volume = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName !== undefined) {
      return [{ name: persistentVolumeClaim.claimName, isPodsOwn: false }];
    }
    return ephemeral === undefined || hasStopped(pod) ? [] : [{ name: `${name}-${volume}`, isPodsOwn: true }];
  });
  return { metadata: { name, namespace, uid, resourceVersion }, nodeName, claims };
}

function hasStopped({ metadata }: ApiObject): boolean {
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
