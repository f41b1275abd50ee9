import { arch } from 'node:os';
import type { Node, NodeCondition, NodeStatus, Taint } from '../../shared/api/types/core-v1';
import { defined } from '../../shared/defined';
import { formatTime, parseTime } from '../../shared/meta/time';
import { LABEL, TAINT } from '../../shared/names';
import type { Sent } from '../../shared/object/object';
import { NODE_NOT_READY_LABEL } from './pod-rules';

/** What every stand-in node of a process has. */
export interface NodeShape {
  /** The address at which API servers reach this process. */
  readonly address: string;
  /** The port of logs and exec. */
  readonly agentPort: number;
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  /** The version that nodes report. */
  readonly version: string;
}

/** Go's name of the architecture of this machine. */
const ARCH = arch() === 'x64' ? 'amd64' : arch();
const STAND_IN_ROLE = `${LABEL.nodeRolePrefix}stand-in`;
const RUNS_NOTHING = 'stand-in node: runs no containers';
/** The kubelet's `nodeStatusReportFrequency`. */
const STATUS_HEARTBEAT_MS = 300_000;

/** The object of a new node. `podCidr` is the range of the addresses of its pods. */
export function newNode(name: string, podCidr: string): Sent<Node> {
  return {
    metadata: {
      name,
      labels: { [LABEL.hostname]: name, [LABEL.os]: 'linux', [LABEL.arch]: ARCH, [STAND_IN_ROLE]: '' },
    },
    spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
  };
}

/** Reports whether a node is to be reported as ready. */
export function isNodeReady({ metadata }: Node): boolean {
  return metadata.labels?.[NODE_NOT_READY_LABEL] !== 'true';
}

/** Returns the taints that a node should have instead of its own; undefined if nothing is to be changed. */
export function changedTaints({ spec }: Node, isReady: boolean): readonly Taint[] | undefined {
  const { taints = [] } = spec ?? {};
  const others = taints.filter(({ key }) => key !== TAINT.notReady);
  const wanted = isReady ? others : [...others, { key: TAINT.notReady, effect: 'NoSchedule' }];
  return wanted.length === taints.length ? undefined : wanted;
}

/** Returns the status that a node should have; undefined if the present one is right and recent enough. */
export function changedNodeStatus(
  { status }: Node,
  shape: NodeShape,
  { isReady, nowMs }: { readonly isReady: boolean; readonly nowMs: number },
): Partial<NodeStatus> | undefined {
  const { conditions = [], nodeInfo, daemonEndpoints } = status ?? ({} as Partial<NodeStatus>);
  const before = new Map(conditions.map((each) => [each.type, each]));
  const wanted = conditionsOf(isReady);
  const isSame =
    wanted.every(({ type, status: value }) => before.get(type)?.status === value) &&
    daemonEndpoints?.kubeletEndpoint?.Port === shape.agentPort &&
    nodeInfo?.kubeletVersion === shape.version;
  const heartbeatMs = parseTime(before.get('Ready')?.lastHeartbeatTime ?? '') ?? 0;
  if (isSame && nowMs - heartbeatMs < STATUS_HEARTBEAT_MS) return undefined;
  const resources = {
    cpu: shape.cpu,
    memory: shape.memory,
    pods: String(shape.pods),
    'ephemeral-storage': '100Gi',
  };
  const lastHeartbeatTime = formatTime(nowMs);
  return {
    capacity: resources,
    allocatable: resources,
    conditions: wanted.map((each): NodeCondition => {
      const known = before.get(each.type);
      const lastTransitionTime = known?.status === each.status ? known.lastTransitionTime : lastHeartbeatTime;
      return { ...each, lastHeartbeatTime, lastTransitionTime };
    }),
    addresses: [{ type: 'InternalIP', address: shape.address }],
    daemonEndpoints: { kubeletEndpoint: { Port: shape.agentPort } },
    nodeInfo: {
      architecture: ARCH,
      bootID: '',
      containerRuntimeVersion: `stand-in://${shape.version}`,
      kernelVersion: '',
      kubeProxyVersion: shape.version,
      kubeletVersion: shape.version,
      machineID: '',
      operatingSystem: 'linux',
      osImage: RUNS_NOTHING,
      systemUUID: '',
    },
  };
}

/** The conditions of a kubelet. */
function conditionsOf(isReady: boolean): readonly {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}[] {
  return [
    { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
    { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
    { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID' },
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: isReady ? 'KubeletReady' : 'KubeletNotReady',
      ...defined({ message: isReady ? RUNS_NOTHING : `the label ${NODE_NOT_READY_LABEL} is set` }),
    },
  ];
}
