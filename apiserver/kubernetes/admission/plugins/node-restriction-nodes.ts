import { describeDiff } from '../../../../shared/errors/describe-diff';
import { deepEqual } from '../../../../shared/object/clone';
import type { Node, PersistentVolumeClaim } from '../../../../shared/api/types/core-v1';
import type { ApiObject, OwnerReference } from '../../../../shared/object/object';
import { NODE_LABEL } from '../../../../shared/names';
import { withoutMetadata } from '../../../engine/registry/metadata';
import type { WriteOf } from '../plugin';

/** A node may change only itself, and not its taints, owners or labels for node isolation. */
export function nodeProblem(node: string, attributes: WriteOf<Node>): string | undefined {
  const { operation, object, oldObject } = attributes;
  const { name } = attributes.write;
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined;
  const fixed = fixedFieldProblem(attributes);
  if (fixed !== undefined) return `node "${node}" is not allowed to ${fixed}`;
  const labels = changedLabels(object, oldObject).filter(isRestricted);
  if (labels.length === 0) return undefined;
  const names = labels.join(', ');
  return operation === 'CREATE'
    ? `node "${node}" is not allowed to set the following labels: ${names}`
    : `is not allowed to modify labels: ${names}`;
}

/** Returns the message for a field of a node that it may not change; undefined if unchanged. */
function fixedFieldProblem({ operation, object, oldObject }: WriteOf<Node>): string | undefined {
  const [spec, before] = [object?.spec, oldObject?.spec];
  if (spec?.configSource !== undefined && !deepEqual(spec.configSource, before?.configSource)) {
    return 'update configSource to a new non-nil configSource';
  }
  if (operation !== 'UPDATE') return undefined;
  if (!deepEqual(spec?.taints ?? [], before?.taints ?? [])) return 'modify taints';
  // An absent owner would delete the node, which could come back with taints of its choice (CVE-2025-5187).
  return deepEqual(ownersOf(object), ownersOf(oldObject)) ? undefined : 'modify ownerReferences';
}

function ownersOf(object: ApiObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

function changedLabels(object: ApiObject | undefined, oldObject: ApiObject | undefined): readonly string[] {
  const [next, before] = [object, oldObject].map((each) => each?.metadata.labels);
  return [...new Set([...Object.keys(next ?? {}), ...Object.keys(before ?? {})])]
    .filter((key) => next?.[key] !== before?.[key])
    .sort();
}

function isRestricted(label: string): boolean {
  const at = label.indexOf('/');
  if (at < 0) return false;
  const namespace = label.slice(0, at);
  if (isWithin(namespace, NODE_LABEL.restrictedNamespace)) return true;
  if (!NODE_LABEL.ownNamespaces.some((own) => isWithin(namespace, own))) return false;
  const isOfNodes =
    NODE_LABEL.ofNodes.some((each) => each === label) ||
    NODE_LABEL.namespacesOfNodes.some((each) => isWithin(namespace, each));
  return !isOfNodes;
}

function isWithin(namespace: string, parent: string): boolean {
  return namespace === parent || namespace.endsWith(`.${parent}`);
}

/** A node reports the progress of volume expansion and may change nothing else of a claim. */
export function claimStatusProblem(
  node: string,
  { write: { subresource }, operation, object, oldObject }: WriteOf<PersistentVolumeClaim>,
  volumesGrow: boolean,
): string | undefined {
  if (subresource !== 'status') return 'may only update PVC status';
  if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
  if (!volumesGrow) return `node "${node}" is not allowed to update persistentvolumeclaim metadata`;
  if (object === undefined || oldObject === undefined) return undefined;
  const [next, previous] = [withoutProgress(object), withoutProgress(oldObject)];
  if (deepEqual(next, previous)) return undefined;
  const why = `node "${node}" is not allowed to update fields other than status.capacity and status.conditions`;
  return `${why}:${describeDiff('', next, previous)}`;
}

function withoutProgress(claim: PersistentVolumeClaim): ApiObject {
  const { capacity: _capacity, conditions: _conditions, ...status } = claim.status ?? {};
  // An update without resourceVersion applies to any version.
  return { ...withoutMetadata(withoutMetadata(claim, 'managedFields'), 'resourceVersion'), status };
}
