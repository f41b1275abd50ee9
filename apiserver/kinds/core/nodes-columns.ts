import type { ApiObject } from '../../../shared/object/object';
import { LABEL } from '../../../shared/names';
import type { RowOf } from '../columns/cells';
import { NONE, UNKNOWN } from '../columns/format';
import { ageOf, flagAt, listAt, nameOf, textAt, textOr } from '../columns/read';

export const nodeRow: RowOf = (node) => [
  nameOf(node),
  nodeStatus(node),
  nodeRoles(node),
  ageOf(node),
  textAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
  addressOf(node, 'InternalIP'),
  addressOf(node, 'ExternalIP'),
  textOr(UNKNOWN, node, 'status', 'nodeInfo', 'osImage'),
  textOr(UNKNOWN, node, 'status', 'nodeInfo', 'kernelVersion'),
  textOr(UNKNOWN, node, 'status', 'nodeInfo', 'containerRuntimeVersion'),
];

function nodeStatus(node: ApiObject): string {
  const ready = listAt(node, 'status', 'conditions').findLast((each) => textAt(each, 'type') === 'Ready');
  const word = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return flagAt(false, node, 'spec', 'unschedulable') ? `${word},SchedulingDisabled` : word;
}

function nodeRoles({ metadata }: ApiObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    const role = key.startsWith(LABEL.nodeRolePrefix)
      ? key.slice(LABEL.nodeRolePrefix.length)
      : key === LABEL.nodeRole
        ? value
        : '';
    if (role !== '') roles.add(role);
  }
  return roles.size === 0 ? NONE : [...roles].toSorted().join(',');
}

function addressOf(node: ApiObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((each) => textAt(each, 'type') === type);
  return found === undefined ? NONE : textAt(found, 'address');
}
