import { notFound } from '../../../../shared/errors/status-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { Pod } from '../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../shared/names';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { WriteOf } from '../plugin';
import { usesConfigMaps, usesSecrets } from './pod-secrets';
import { NODES, PODS } from '../../cluster/resources';

/** A node may create mirror pods of its static pods, without references to other objects. */
export function mirrorPodCreationProblem(node: string, pod: Pod, cluster: ClusterReader): string | undefined {
  const { annotations = {} } = pod.metadata;
  if (!Object.hasOwn(annotations, ANNOTATION.mirrorPod)) {
    return `pod does not have "${ANNOTATION.mirrorPod}" annotation, node "${node}" can only create mirror pods`;
  }
  if (pod.spec.nodeName !== node) {
    return `node "${node}" can only create pods with spec.nodeName set to itself`;
  }
  return ownerProblem(node, pod, cluster) ?? referenceProblem(node, pod);
}

function ownerProblem(node: string, pod: Pod, cluster: ClusterReader): string | undefined {
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (owner === undefined) return `node "${node}" can only create pods with an owner reference set to itself`;
  const isItself = owner.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === node;
  if (others.length > 0 || !isItself) {
    return `node "${node}" can only create pods with a single owner reference set to itself`;
  }
  if (owner.controller !== true) {
    return `node "${node}" can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) {
    return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  }
  const { uid } = cluster.get(NODES, node)?.metadata ?? {};
  return uid === owner.uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid ?? ''}`;
}

function referenceProblem(node: string, { spec }: Pod): string | undefined {
  const { serviceAccountName = '', volumes = [] } = spec;
  const claims = volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  const found = [
    serviceAccountName === '' ? undefined : 'a service account',
    usesSecrets(spec) ? 'secrets' : undefined,
    usesConfigMaps(spec) ? 'configmaps' : undefined,
    claims ? 'persistentvolumeclaims' : undefined,
  ].find((each) => each !== undefined);
  return found && `node "${node}" can not create pods that reference ${found}`;
}

/** Labels select a pod's controllers, so a node may not change them. */
export function podStatusProblem(
  node: string,
  { operation, object, oldObject }: WriteOf<Pod>,
): string | undefined {
  if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
  if (oldObject?.spec.nodeName !== node) {
    return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
  }
  const isSame = deepEqual(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {});
  return isSame ? undefined : `node "${node}" cannot update labels through pod status`;
}

export function podOnNodeProblem(
  node: string,
  { write, oldObject }: WriteOf<Pod>,
  { cluster, what }: { readonly cluster: ClusterReader; readonly what: 'delete' | 'evict' },
): string | undefined {
  const pod = oldObject ?? cluster.get(PODS, write.name, write.namespace);
  if (pod === undefined) throw notFound(PODS, write.name);
  if (pod.spec.nodeName === node) return undefined;
  // The quotes, and their absence, are upstream's.
  const name = what === 'delete' ? `"${node}"` : node;
  return `node ${name} can only ${what} pods with spec.nodeName set to itself`;
}
