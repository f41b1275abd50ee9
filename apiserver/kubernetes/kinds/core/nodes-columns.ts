import type { Node } from '../../../../shared/api/types/core-v1';
import { LABEL } from '../../../../shared/names';
import { AGE, NAME } from '../columns/common';
import { NONE, UNKNOWN } from '../columns/format';
import { tableOf } from '../columns/table';

export const nodeTable = tableOf<Node>([
  NAME,
  { name: 'Status', cell: nodeStatus },
  { name: 'Roles', cell: nodeRoles },
  AGE,
  { name: 'Version', cell: ({ status }) => status?.nodeInfo.kubeletVersion ?? '' },
  { name: 'Internal-IP', isWide: true, cell: (node) => addressOf(node, 'InternalIP') },
  { name: 'External-IP', isWide: true, cell: (node) => addressOf(node, 'ExternalIP') },
  { name: 'OS-Image', isWide: true, cell: ({ status }) => status?.nodeInfo.osImage || UNKNOWN },
  { name: 'Kernel-Version', isWide: true, cell: ({ status }) => status?.nodeInfo.kernelVersion || UNKNOWN },
  {
    name: 'Container-Runtime',
    isWide: true,
    cell: ({ status }) => status?.nodeInfo.containerRuntimeVersion || UNKNOWN,
  },
]);

function nodeStatus({ spec: { unschedulable = false }, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return unschedulable ? `${word},SchedulingDisabled` : word;
}

function nodeRoles({ metadata: { labels = {} } }: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    const role = key.startsWith(LABEL.nodeRolePrefix)
      ? key.slice(LABEL.nodeRolePrefix.length)
      : key === LABEL.nodeRole
        ? value
        : '';
    if (role !== '') roles.add(role);
  }
  return roles.size === 0 ? NONE : [...roles].toSorted().join(',');
}

function addressOf({ status }: Node, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;
}
