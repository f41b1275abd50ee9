import type { ReplicaSet } from '../../shared/api/types/apps-v1';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodAffinityTerm,
  PodSpec,
} from '../../shared/api/types/core-v1';
import { Slices } from '../../shared/concurrency/slices';
import { labelSelectorFromMap, toLabelSelector } from '../../shared/meta/labels';
import { createStore } from '../../shared/informer/store';
import { LABEL } from '../../shared/names';
import { ClusterState } from './cluster-state';
import { placePod } from './place-pod';
import type { Selecting } from './topology-spread';
import { selectGroup, toSelectingPart } from './topology-spread';

const ZONE = LABEL.topologyZone;

function node(
  name: string,
  more: Partial<Node['spec']> & { labels?: Record<string, string>; cpu?: string } = {},
): Node {
  const { labels = {}, cpu = '4', ...spec } = more;
  return {
    metadata: { name, labels: { [LABEL.hostname]: name, ...labels } },
    spec,
    status: { allocatable: { cpu, memory: '8Gi', pods: '3' } },
  } as unknown as Node;
}

function pod(name: string, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod {
  return {
    metadata: { name, namespace: 'team', labels },
    spec: { containers: [{ name: 'main', resources: {} }], ...spec },
  };
}

const needs = (requests: Record<string, string>, ports: readonly object[] = []): object => ({
  containers: [{ name: 'main', resources: { requests }, ports }],
});

interface Cluster {
  readonly nodes: readonly Node[];
  readonly pods?: readonly (readonly [nodeName: string, pod: Pod])[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
}

/** Returns the names of all nodes that a pod may get, or why it gets none. */
async function place(wanted: Pod, { nodes, pods = [], claims = [], volumes = [] }: Cluster): Promise<string> {
  const cluster = new ClusterState();
  for (const [nodeName, each] of pods) cluster.setPod(each, nodeName);
  for (const each of nodes) cluster.setNode(each);
  const context = {
    cluster,
    claimOf: (key: string) => claims.find(({ metadata }) => `team/${metadata.name ?? ''}` === key),
    volumeOf: (name: string) => volumes.find(({ metadata }) => metadata.name === name),
    groupOf: ({ metadata }: Pod) => labelSelectorFromMap(metadata.labels ?? {}),
    slices: new Slices(),
  };
  const found = new Set<string>();
  for (const at of [0, 0.3, 0.6, 0.9]) {
    const placement = await placePod(wanted, context, () => at);
    if (placement.nodeName === undefined) return placement.message;
    found.add(placement.nodeName);
  }
  return [...found].join(' ');
}

const requiredNode = (key: string, operator: string, ...values: string[]): object => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});
const term = (topologyKey: string, matchLabels: Record<string, string>): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels },
});
const near = (topologyKey: string, labels: Record<string, string>): object => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey, labels)] } },
});
const apart = (topologyKey: string, labels: Record<string, string>): object => ({
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey, labels)] },
  },
});
const spread = (topologyKey: string, whenUnsatisfiable: string, more: object = {}): object => ({
  topologySpreadConstraints: [
    { topologyKey, whenUnsatisfiable, maxSkew: 1, labelSelector: { matchLabels: { app: 'web' } }, ...more },
  ],
});
const web = { app: 'web' };
const [a, b, c] = [
  node('a', { labels: { [ZONE]: 'east', disk: 'ssd', size: '8' } }),
  node('b', { labels: { [ZONE]: 'east' } }),
  node('c', { labels: { [ZONE]: 'west' } }),
];
const all = [a, b, c];
const tainted = (name: string, effect: string): Node =>
  node(name, { taints: [{ key: 'k', value: 'v', effect }] });
const claim = (name: string, volumeName?: string): PersistentVolumeClaim =>
  ({ metadata: { name, namespace: 'team' }, spec: { volumeName } }) as PersistentVolumeClaim;
const volume = (name: string, zone: string): PersistentVolume => ({
  metadata: { name },
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }],
      },
    },
  },
});
const claims = (name: string): object => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName: name } }],
});

test.each<[title: string, wanted: Pod, cluster: Cluster, expected: string]>([
  ['equal nodes are chosen at random', pod('p'), { nodes: all }, 'a b c'],
  ['without nodes', pod('p'), { nodes: [] }, 'no nodes available to schedule pods'],
  [
    'requests count with those of the running pods',
    pod('p', needs({ cpu: '1500m', memory: '1Gi' })),
    { nodes: [node('a'), node('b')], pods: [['a', pod('x', needs({ cpu: '2501m' }))]] },
    'b',
  ],
  [
    'each missing resource is a reason, and reasons are counted and sorted',
    pod('p', needs({ cpu: '9', memory: '9Gi', 'example.com/gpu': '1' })),
    { nodes: [node('a', { unschedulable: true }), node('b'), node('c', { cpu: '10' })] },
    '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 2 Insufficient example.com/gpu, 2 Insufficient memory.',
  ],
  [
    'an init container counts if it needs more than all containers',
    pod('p', {
      ...needs({ cpu: '1' }),
      initContainers: [{ name: 'i', resources: { requests: { cpu: '5' } } }],
    }),
    { nodes: [node('a'), node('b', { cpu: '5' })] },
    'b',
  ],
  [
    'overhead counts',
    pod('p', { ...needs({ cpu: '3' }), overhead: { cpu: '1001m' } }),
    { nodes: [node('a')] },
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
  [
    'a full node has too many pods',
    pod('p'),
    { nodes: [a], pods: ['x', 'y', 'z'].map((name) => ['a', pod(name)] as const) },
    '0/1 nodes are available: 1 Too many pods.',
  ],
  [
    'one small pod makes a node worse',
    pod('p'),
    { nodes: [node('a', { cpu: '16' }), node('c', { cpu: '16' })], pods: [['a', pod('x')]] },
    'c',
  ],
  [
    'a tenth that is free counts as a whole ten',
    pod('p', needs({ cpu: '100m', memory: '100Mi' })),
    {
      nodes: [node('a', { cpu: '10' }), node('b', { cpu: '10' })],
      pods: [
        ['a', pod('x', needs({ cpu: '8900m', memory: '146Mi' }))],
        ['b', pod('y', needs({ cpu: '8910m', memory: '226Mi' }))],
      ],
    },
    'a',
  ],
  [
    'without constraints, pods of a group are spread over nodes, more than over zones',
    pod('p', {}, web),
    {
      nodes: [a, b, c],
      pods: [
        ['a', pod('x', {}, web)],
        ['c', pod('y', {}, web)],
        ['b', pod('z', needs({ cpu: '300m' }), { app: 'other' })],
      ],
    },
    'b',
  ],
  [
    'the node with more free resources is better',
    pod('p'),
    { nodes: [a, c], pods: [['a', pod('x', needs({ cpu: '2' }))]] },
    'c',
  ],
  [
    'a taint that is not tolerated',
    pod('p'),
    { nodes: [tainted('a', 'NoSchedule'), tainted('b', 'NoExecute')] },
    '0/2 nodes are available: 2 node(s) had untolerated taint(s).',
  ],
  [
    'tolerations match by key, value and effect',
    pod('p', { tolerations: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }),
    { nodes: [tainted('a', 'NoSchedule'), tainted('b', 'NoExecute')] },
    'a',
  ],
  [
    'a node that prefers other pods is worse',
    pod('p'),
    { nodes: [tainted('a', 'PreferNoSchedule'), b] },
    'b',
  ],
  [
    'a cordoned node takes pods that tolerate everything',
    pod('p', { tolerations: [{ operator: 'Exists' }] }),
    { nodes: [node('a', { unschedulable: true })] },
    'a',
  ],
  ['a node selector', pod('p', { nodeSelector: { disk: 'ssd' } }), { nodes: all }, 'a'],
  [
    'a node selector that no node has',
    pod('p', { nodeSelector: { disk: 'tape' } }),
    { nodes: all },
    "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
  ],
  ['node affinity with Gt', pod('p', requiredNode('size', 'Gt', '7')), { nodes: all }, 'a'],
  ['node affinity with NotIn', pod('p', requiredNode(ZONE, 'NotIn', 'east')), { nodes: all }, 'c'],
  [
    'node affinity by name',
    pod('p', {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }],
          },
        },
      },
    }),
    { nodes: all },
    'b',
  ],
  [
    'preferred node affinity',
    pod('p', {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              preference: { matchExpressions: [{ key: ZONE, operator: 'In', values: ['west'] }] },
            },
          ],
        },
      },
    }),
    { nodes: all },
    'c',
  ],
  [
    'host ports that are taken at the same address or at all',
    pod('p', needs({}, [{ containerPort: 1, hostPort: 80, hostIP: '10.0.0.1' }])),
    {
      nodes: all,
      pods: [
        ['a', pod('x', needs({}, [{ containerPort: 1, hostPort: 80 }]))],
        ['b', pod('y', needs({}, [{ containerPort: 1, hostPort: 80, hostIP: '10.0.0.2' }]))],
        ['c', pod('z', needs({}, [{ containerPort: 1, hostPort: 80, hostIP: '10.0.0.1', protocol: 'TCP' }]))],
      ],
    },
    'b',
  ],
  [
    'host ports that are taken everywhere',
    pod('p', needs({}, [{ containerPort: 1, hostPort: 80 }])),
    { nodes: [a], pods: [['a', pod('x', needs({}, [{ containerPort: 1, hostPort: 80 }]))]] },
    "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
  ],
  [
    'affinity to a running pod',
    pod('p', near(ZONE, web)),
    { nodes: all, pods: [['c', pod('x', {}, web)]] },
    'c',
  ],
  [
    'affinity to a pod that is not there',
    pod('p', near(ZONE, web)),
    { nodes: all },
    "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.",
  ],
  [
    'the first pod of a group with affinity to itself',
    pod('p', near(ZONE, web), web),
    { nodes: all },
    'a b c',
  ],
  [
    'affinity does not see other namespaces',
    pod('p', near(ZONE, web)),
    {
      nodes: [a],
      pods: [['a', { ...pod('x', {}, web), metadata: { name: 'x', namespace: 'other', labels: web } }]],
    },
    "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
  ],
  [
    'anti-affinity to a running pod',
    pod('p', apart(ZONE, web)),
    { nodes: all, pods: [['a', pod('x', {}, web)]] },
    'c',
  ],
  [
    'anti-affinity everywhere',
    pod('p', apart(LABEL.hostname, web)),
    { nodes: [a], pods: [['a', pod('x', {}, web)]] },
    "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
  ],
  [
    'anti-affinity of a running pod',
    pod('p', {}, web),
    { nodes: [a, b], pods: [['a', pod('x', apart(ZONE, web))]] },
    "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.",
  ],
  [
    'preferred anti-affinity',
    pod('p', {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: term(ZONE, web) },
          ],
        },
      },
    }),
    { nodes: all, pods: [['a', pod('x', {}, web)]] },
    'c',
  ],
  [
    'spread over zones',
    pod('p', spread(ZONE, 'DoNotSchedule'), web),
    { nodes: all, pods: [['a', pod('x', {}, web)]] },
    'c',
  ],
  [
    'a skew that no node can keep',
    pod('p', { ...spread(ZONE, 'DoNotSchedule'), nodeSelector: {} }, web),
    {
      nodes: [a, node('c', { unschedulable: true, labels: { [ZONE]: 'west' } })],
      pods: [['a', pod('x', {}, web)]],
    },
    "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
  ],
  [
    'a node without the label of a constraint',
    pod('p', spread(ZONE, 'DoNotSchedule'), web),
    { nodes: [node('bare')] },
    "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).",
  ],
  [
    'fewer domains than minDomains',
    pod('p', spread(ZONE, 'DoNotSchedule', { minDomains: 3 }), web),
    {
      nodes: all,
      pods: [
        ['a', pod('x', {}, web)],
        ['c', pod('y', {}, web)],
      ],
    },
    "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
  ],
  [
    'a tainted domain does not count with the policy Honor',
    pod('p', spread(LABEL.hostname, 'DoNotSchedule', { nodeTaintsPolicy: 'Honor' }), web),
    { nodes: [a, tainted('t', 'NoSchedule')], pods: [['a', pod('x', {}, web)]] },
    'a',
  ],
  [
    'matchLabelKeys counts pods of the same revision only',
    pod('p', spread(ZONE, 'DoNotSchedule', { matchLabelKeys: ['rev'] }), { ...web, rev: '2' }),
    {
      nodes: all,
      pods: [
        ['a', pod('x', {}, { ...web, rev: '1' })],
        ['b', pod('y', {}, { ...web, rev: '2' })],
      ],
    },
    'c',
  ],
  [
    'a spread that is only wished for',
    pod('p', spread(ZONE, 'ScheduleAnyway'), web),
    { nodes: all, pods: [['a', pod('x', {}, web)]] },
    'c',
  ],
  [
    'a claim that is not there',
    pod('p', claims('data')),
    { nodes: all },
    '0/3 nodes are available: persistentvolumeclaim "data" not found.',
  ],
  [
    'a claim that is not bound',
    pod('p', claims('data')),
    { nodes: all, claims: [claim('data')] },
    '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  ],
  [
    'a volume of a zone',
    pod('p', claims('data')),
    { nodes: all, claims: [claim('data', 'vol')], volumes: [volume('vol', 'west')] },
    'c',
  ],
  [
    'a volume of another zone',
    pod('p', claims('data')),
    { nodes: [a], claims: [claim('data', 'vol')], volumes: [volume('vol', 'west')] },
    "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.",
  ],
])('%s', async (_title, wanted, cluster, expected) => {
  expect(await place(wanted, cluster)).toBe(expected);
});

test.each<[apiVersion: string, kind: string, expected: Record<string, string>]>([
  ['apps/v1', 'ReplicaSet', { app: 'web', set: 'r' }],
  ['v1', 'ReplicationController', { app: 'web', set: 'c' }],
  ['example.com/v1', 'ReplicaSet', { app: 'web' }],
])('the group of a pod is that of its Services and its owner: %s %s', (apiVersion, kind, expected) => {
  const metadata = { name: 'own', namespace: 'team' };
  const services = createStore<Selecting<Record<string, string>>>({
    namespace: (each) => [each.metadata.namespace ?? ''],
  });
  services.set({ metadata: { ...metadata, name: 'web' }, spec: { selector: web } });
  services.set({ metadata: { ...metadata, name: 'other' }, spec: { selector: { app: 'other' } } });
  const replicationControllers = createStore<Selecting<Record<string, string>>>();
  replicationControllers.set({ metadata, spec: { selector: { set: 'c' } } });
  const set: ReplicaSet = {
    metadata,
    spec: { selector: { matchLabels: { set: 'r' } }, template: { metadata: {}, spec: { containers: [] } } },
  };
  const part = toSelectingPart(set);
  expect(part.spec).toEqual({ selector: { matchLabels: { set: 'r' } } });
  const replicaSets = createStore<Selecting<ReplicaSet['spec']['selector']>>();
  replicaSets.set(part);
  const sources = {
    services,
    replicationControllers,
    replicaSets,
    statefulSets: createStore<Selecting<ReplicaSet['spec']['selector']>>(),
  };
  const owner = { apiVersion, kind, name: 'own', uid: 'u', controller: true };
  const owned = { ...pod('p'), metadata: { ...pod('p').metadata, labels: web, ownerReferences: [owner] } };
  expect(selectGroup(owned, sources)).toEqual(toLabelSelector({ matchLabels: expected }));
});
