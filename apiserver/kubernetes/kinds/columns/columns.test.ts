import { resourceOf, RESOURCES } from '../../../../shared/api/resources';
import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION, GROUP, LABEL } from '../../../../shared/names';
import { KINDS, kindOf } from '../kinds';
import { decodeObject } from '../../../../shared/schema/decode';
import { kindType } from '../../../../shared/schema/types';
import type { Cell, ObjectTable } from '../../../engine/registry/object-table';
import { Age, CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import { podRowConditions } from '../core/pods/pod-table';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const CREATED = '2026-01-01T00:05:00Z';

function object(fields: Record<string, unknown>, metadata: ApiObject['metadata'] = {}): ApiObject {
  return { metadata: { name: 'a', creationTimestamp: CREATED, ...metadata }, ...fields };
}

/** The kinds of the API level that have a table. */
const WITH_TABLES = KINDS.flatMap(({ group, kinds }) =>
  Object.entries(kinds).flatMap(([resource, { table }]) => {
    const isServed = RESOURCES.some(({ hub, resource: name }) => hub.group === group && name === resource);
    return table === undefined || !isServed ? [] : [{ key: `${group}/${resource}`, table }];
  }),
);

function cellsAt(row: readonly Cell[], now: number): readonly unknown[] {
  return row.map((cell) => (cell instanceof Age ? cell.text(now) : cell));
}

function tableAt(key: string): ObjectTable {
  const [group = '', resource = ''] = key.split('/');
  return kindOf(group, resource).table ?? CREATED_AT_TABLE;
}

/** The cells of a partial object, as JSON. */
function cellsOf(key: string, value: ApiObject): readonly unknown[] {
  const row = RESOURCES.find(({ hub, resource }) => `${hub.group}/${resource}` === key);
  const hub = row && resourceOf(row.hub, row.resource);
  const { object: decoded } = decodeObject(kindType(hub?.schema ?? ''), value);
  return cellsAt(tableAt(key).row(decoded), NOW);
}

/** The cells of an object by column name. */
function shown(key: string, value: ApiObject): Record<string, unknown> {
  const cells = cellsOf(key, value);
  return Object.fromEntries(tableAt(key).columns.map(({ name }, index) => [name, cells[index]]));
}

describe('every kind', () => {
  test('has a table if it can be listed', () => {
    const tables = new Set(WITH_TABLES.map(({ key }) => key));
    const listed = RESOURCES.filter(({ verbs }) => verbs.includes('list'));
    const without = listed
      .map(({ hub, resource }) => `${hub.group}/${resource}`)
      .filter((key) => !tables.has(key));
    expect(without).toEqual([]);
  });

  test('has columns that differ in their names, one of them with the name of the object', () => {
    for (const {
      key,
      table: { columns },
    } of WITH_TABLES) {
      const names = columns.map(({ name }) => name);
      expect({ key, names: new Set(names).size }).toEqual({ key, names: names.length });
      expect(columns.find(({ name }) => name === 'Name')?.format).toBe('name');
    }
  });

  test('fills its cells also from an object that has nothing but a name', () => {
    for (const {
      key,
      table: { columns },
    } of WITH_TABLES) {
      const cells = cellsOf(key, { metadata: { name: 'a' } });
      expect({ key, absent: cells.filter((cell) => cell === undefined || cell === null) }).toEqual({
        key,
        absent: [],
      });
      expect(cells.length).toBe(columns.length);
    }
  });

  test('shows the name in the column with format name, and the age in the column Age', () => {
    for (const { key } of WITH_TABLES) {
      const cells = shown(key, object({}));
      expect(cells['Name']).toBe('a');
      expect({ key, age: cells['Age'] ?? '5m' }).toEqual({ key, age: '5m' });
    }
  });

  test('has a row that only its ages keep from being constant', () => {
    const row = tableAt('/configmaps').row(object({ data: { x: '1', y: '2' }, binaryData: { z: '' } }));
    expect(row.map((cell) => cell instanceof Age)).toEqual([false, false, true]);
    expect(row.slice(0, 2)).toEqual(['a', 3]);
  });

  test('says of each column what it is, and whether it is shown in wide output only', () => {
    expect(tableAt('/events').columns[9]).toEqual({
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 1,
    });
    expect(tableAt('/events').columns[0]).toEqual({
      name: 'Last Seen',
      type: 'string',
      format: '',
      priority: 0,
    });
  });
});

describe('a pod', () => {
  const running = { ready: true, restartCount: 1, state: { running: {} } };
  const waiting = (reason: string): object => ({ restartCount: 2, state: { waiting: { reason } } });
  const ended = (fields: object): object => ({ state: { terminated: { exitCode: 0, ...fields } } });
  const spec = { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }, { name: 'j' }] };

  test.each<[string, object, ApiObject['metadata'], string, string, number]>([
    ['is pending before anything ran', { phase: 'Pending' }, {}, 'Pending', '0/2', 0],
    ['shows why it was evicted', { phase: 'Failed', reason: 'Evicted' }, {}, 'Evicted', '0/2', 0],
    ['runs', { phase: 'Running', containerStatuses: [running, running] }, {}, 'Running', '2/2', 2],
    [
      'crashes',
      { phase: 'Running', containerStatuses: [running, waiting('CrashLoopBackOff')] },
      {},
      'CrashLoopBackOff',
      '1/2',
      3,
    ],
    [
      'shows the first container in trouble',
      { containerStatuses: [waiting('One'), waiting('Two')] },
      {},
      'One',
      '0/2',
      4,
    ],
    ['tells an exit code', { containerStatuses: [ended({ exitCode: 3 })] }, {}, 'ExitCode:3', '0/2', 0],
    [
      'tells a signal',
      { containerStatuses: [ended({ exitCode: 137, signal: 9 })] },
      {},
      'Signal:9',
      '0/2',
      0,
    ],
    [
      'completes',
      { phase: 'Succeeded', containerStatuses: [ended({ reason: 'Completed' })] },
      {},
      'Completed',
      '0/2',
      0,
    ],
    [
      'is not ready while one of two containers runs',
      { containerStatuses: [running, ended({ reason: 'Completed' })] },
      {},
      'NotReady',
      '1/2',
      1,
    ],
    [
      'is Running while one of two containers runs and the pod is ready',
      {
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [running, ended({ reason: 'Completed' })],
      },
      {},
      'Running',
      '1/2',
      1,
    ],
    [
      'counts init containers',
      {
        initContainerStatuses: [ended({}), { restartCount: 4, state: { running: {} } }],
        containerStatuses: [waiting('PodInitializing')],
      },
      {},
      'Init:1/2',
      '0/2',
      4,
    ],
    [
      'waits in an init container',
      { initContainerStatuses: [waiting('ImagePullBackOff')] },
      {},
      'Init:ImagePullBackOff',
      '0/2',
      2,
    ],
    [
      'does not repeat that it initializes',
      { initContainerStatuses: [waiting('PodInitializing')] },
      {},
      'Init:0/2',
      '0/2',
      2,
    ],
    [
      'fails in an init container',
      { initContainerStatuses: [ended({ exitCode: 1, reason: 'Error' })] },
      {},
      'Init:Error',
      '0/2',
      0,
    ],
    [
      'fails in an init container without a reason',
      { initContainerStatuses: [ended({ exitCode: 1 })] },
      {},
      'Init:ExitCode:1',
      '0/2',
      0,
    ],
    [
      'fails in an init container by a signal',
      { initContainerStatuses: [ended({ exitCode: 137, signal: 9 })] },
      {},
      'Init:Signal:9',
      '0/2',
      0,
    ],
    [
      'forgets its init restarts once they are through',
      {
        phase: 'Running',
        initContainerStatuses: [{ restartCount: 7, ...ended({}) }],
        containerStatuses: [running],
      },
      {},
      'Running',
      '1/2',
      1,
    ],
    [
      'terminates',
      { phase: 'Running', containerStatuses: [running] },
      { deletionTimestamp: CREATED },
      'Terminating',
      '1/2',
      1,
    ],
    [
      'is unknown when its node is lost',
      { phase: 'Running', reason: 'NodeLost' },
      { deletionTimestamp: CREATED },
      'Unknown',
      '0/2',
      0,
    ],
  ])('%s', (_title, status, metadata, reason, ready, restarts) => {
    expect(shown('/pods', object({ spec, status }, metadata))).toMatchObject({
      Status: reason,
      Ready: ready,
      Restarts: restarts,
    });
  });

  test('shows where it is in wide columns', () => {
    const gates = [{ conditionType: 'x' }, { conditionType: 'y' }];
    const conditions = [
      { type: 'x', status: 'True' },
      { type: 'y', status: 'False' },
    ];
    const pod = object({
      spec: { nodeName: 'n', readinessGates: gates },
      status: {
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
        nominatedNodeName: 'm',
        conditions,
      },
    });
    expect(shown('/pods', pod)).toMatchObject({
      IP: '10.0.0.1',
      Node: 'n',
      'Nominated Node': 'm',
      'Readiness Gates': '1/2',
    });
    expect(shown('/pods', object({}))).toMatchObject({
      IP: '<none>',
      Node: '<none>',
      'Nominated Node': '<none>',
      'Readiness Gates': '<none>',
    });
  });

  test('has a condition on its row once it has ended', () => {
    expect(podRowConditions({ status: { phase: 'Running' } })).toEqual([]);
    expect(podRowConditions({ status: { phase: 'Failed' } })).toEqual([
      { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
    ]);
  });
});

const template = {
  spec: {
    containers: [
      { name: 'c', image: 'i:1' },
      { name: 'd', image: 'j:2' },
    ],
    nodeSelector: { b: '2', a: '1' },
  },
};
const selector = {
  matchLabels: { b: '2' },
  matchExpressions: [
    { key: 'a', operator: 'In', values: ['y', 'x'] },
    { key: 'c', operator: 'DoesNotExist' },
  ],
};
const SELECTED = 'a in (x,y),b=2,!c';
const balanced = { loadBalancer: { ingress: [{ ip: '9.9.9.9' }, { hostname: 'h' }, { ip: '1.1.1.1' }] } };
const metric = (type: string, source: object): object => ({
  type,
  [type.charAt(0).toLowerCase() + type.slice(1)]: source,
});
const autoscaler = (metrics: readonly object[], currentMetrics: readonly object[] = []): ApiObject =>
  object({
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 2, maxReplicas: 5, metrics },
    status: { currentReplicas: 3, currentMetrics },
  });
const endpoints = (count: number, port?: number): object => ({
  addresses: Array.from({ length: count }, (_, index) => ({ ip: `10.0.0.${String(index)}` })),
  ...(port === undefined ? {} : { ports: [{ port }] }),
});

test.each<[string, string, ApiObject, Record<string, unknown>]>([
  [
    'a cluster service',
    '/services',
    object({
      spec: {
        type: 'ClusterIP',
        clusterIPs: ['10.0.0.1'],
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 53, nodePort: 30053, protocol: 'UDP' },
        ],
        selector: { app: 'x' },
      },
    }),
    {
      'Cluster-IP': '10.0.0.1',
      'External-IP': '<none>',
      'Port(s)': '80/TCP,53:30053/UDP',
      Selector: 'app=x',
    },
  ],
  [
    'a service with addresses of its own',
    '/services',
    object({ spec: { type: 'NodePort', externalIPs: ['1.2.3.4', '5.6.7.8'] } }),
    { 'External-IP': '1.2.3.4,5.6.7.8', 'Port(s)': '<none>', Selector: '<none>', 'Cluster-IP': '<none>' },
  ],
  [
    'a load balancer that is not there yet',
    '/services',
    object({ spec: { type: 'LoadBalancer' } }),
    { 'External-IP': '<pending>' },
  ],
  [
    'a load balancer',
    '/services',
    object({ spec: { type: 'LoadBalancer', externalIPs: ['7.7.7.7'] }, status: balanced }),
    { 'External-IP': '1.1.1.1,9.9.9.9,h,7.7.7.7' },
  ],
  [
    'an external name',
    '/services',
    object({ spec: { type: 'ExternalName', externalName: 'x.example.com' } }),
    { 'External-IP': 'x.example.com' },
  ],
  ['endpoints without subsets', '/endpoints', object({}), { Endpoints: '<none>' }],
  [
    'endpoints of which none is ready',
    '/endpoints',
    object({ subsets: [{ notReadyAddresses: [{ ip: '1.1.1.1' }], ports: [{ port: 1 }] }] }),
    { Endpoints: '' },
  ],
  [
    'a few endpoints',
    '/endpoints',
    object({
      subsets: [endpoints(1, 80), { addresses: [{ ip: 'fd00::1' }], ports: [{ port: 81 }] }, endpoints(1)],
    }),
    { Endpoints: '10.0.0.0:80,[fd00::1]:81,10.0.0.0' },
  ],
  [
    'many endpoints',
    '/endpoints',
    object({ subsets: [endpoints(2, 80), endpoints(3)] }),
    { Endpoints: '10.0.0.0:80,10.0.0.1:80,10.0.0.0 + 2 more...' },
  ],
  [
    'a node that is ready',
    '/nodes',
    object({
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
        nodeInfo: { kubeletVersion: 'v1', osImage: 'O' },
      },
    }),
    {
      Status: 'Ready,SchedulingDisabled',
      Version: 'v1',
      'Internal-IP': '10.0.0.9',
      'External-IP': '<none>',
      'OS-Image': 'O',
      'Kernel-Version': '<unknown>',
    },
  ],
  [
    'a node that is not',
    '/nodes',
    object({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }),
    { Status: 'NotReady' },
  ],
  [
    'a volume on its way out',
    '/persistentvolumes',
    object(
      {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          claimRef: { namespace: 'n', name: 'c' },
          storageClassName: 'new',
        },
        status: { phase: 'Bound' },
      },
      { deletionTimestamp: CREATED, annotations: { [ANNOTATION.betaStorageClass]: 'old' } },
    ),
    {
      Capacity: '1Gi',
      'Access Modes': 'RWO,RWX',
      Status: 'Terminating',
      Claim: 'n/c',
      StorageClass: 'old',
      VolumeMode: '<unset>',
    },
  ],
  [
    'a claim that waits',
    '/persistentvolumeclaims',
    object({
      spec: { storageClassName: 's', resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Pending', capacity: { storage: '2Gi' } },
    }),
    { Capacity: '', 'Access Modes': '', StorageClass: 's', Status: 'Pending' },
  ],
  [
    'a claim that is bound',
    '/persistentvolumeclaims',
    object({
      spec: { volumeName: 'v' },
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadOnlyMany'] },
    }),
    { Volume: 'v', Capacity: '2Gi', 'Access Modes': 'ROX' },
  ],
  [
    'an event in a series',
    '/events',
    object({
      involvedObject: { kind: 'Pod', name: 'p' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      series: { count: 7, lastObservedTime: '2026-01-01T00:09:00.000000Z' },
      reportingComponent: 'c',
      reportingInstance: 'i',
      message: ' hello\n',
    }),
    { 'Last Seen': '60s', 'First Seen': '10m', Count: 8, Object: 'pod/p', Source: 'c, i', Message: 'hello' },
  ],
  [
    'an event of the older form',
    '/events',
    object({
      involvedObject: { kind: 'Pod' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:09:00Z',
      source: { component: 's' },
      reportingComponent: 'c',
      count: 2,
    }),
    { 'Last Seen': '60s', 'First Seen': '10m', Count: 2, Object: 'pod', Source: 's' },
  ],
  ['an event that stands for itself', '/events', object({}), { 'Last Seen': '<unknown>', Count: 1 }],
  [
    'a quota',
    '/resourcequotas',
    object({
      status: { hard: { pods: '5', 'limits.cpu': '2', cpu: '1' }, used: { pods: '1', cpu: '500m' } },
    }),
    { Request: 'cpu: 500m/1, pods: 1/5', Limit: 'limits.cpu: 0/2' },
  ],
  [
    'a component that is ill',
    '/componentstatuses',
    object({ conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] }),
    { Status: 'Unhealthy', Message: 'm', Error: 'e' },
  ],
  ['a secret', '/secrets', object({ type: 'Opaque', data: { a: '', b: '' } }), { Type: 'Opaque', Data: 2 }],
  [
    'a replication controller',
    '/replicationcontrollers',
    object({
      spec: { replicas: 3, selector: { b: '2', a: '1' }, template },
      status: { replicas: 2, readyReplicas: 1 },
    }),
    { Desired: 3, Current: 2, Ready: 1, Containers: 'c,d', Images: 'i:1,j:2', Selector: 'a=1,b=2' },
  ],
  [
    'a deployment',
    'apps/deployments',
    object({ spec: { replicas: 3, selector, template }, status: { readyReplicas: 1, updatedReplicas: 2 } }),
    { Ready: '1/3', 'Up-to-date': 2, Available: 0, Selector: SELECTED },
  ],
  [
    'a daemon set',
    'apps/daemonsets',
    object({ spec: { selector, template }, status: { desiredNumberScheduled: 4 } }),
    { Desired: 4, 'Node Selector': 'a=1,b=2', Selector: SELECTED },
  ],
  [
    'a stateful set',
    'apps/statefulsets',
    object({ spec: { replicas: 2, template } }),
    { Ready: '0/2', Images: 'i:1,j:2' },
  ],
  [
    'a controller revision',
    'apps/controllerrevisions',
    object(
      { revision: 3 },
      {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true },
        ],
      },
    ),
    { Controller: 'statefulset.apps/web', Revision: 3 },
  ],
  [
    'a job that runs',
    'batch/jobs',
    object({
      spec: { parallelism: 3, selector: { matchLabels: {} } },
      status: { succeeded: 1, startTime: '2026-01-01T00:09:30Z' },
    }),
    { Completions: '1/1 of 3', Duration: '30s', Selector: '<none>' },
  ],
  [
    'a job that is done',
    'batch/jobs',
    object({
      spec: { completions: 4 },
      status: { succeeded: 4, startTime: CREATED, completionTime: '2026-01-01T00:08:05Z' },
    }),
    { Completions: '4/4', Duration: '3m5s' },
  ],
  [
    'a cron job',
    'batch/cronjobs',
    object({
      spec: { schedule: '* * * * *', suspend: false, jobTemplate: { spec: { template } } },
      status: { active: [{}], lastScheduleTime: '2026-01-01T00:09:00Z' },
    }),
    { Suspend: 'False', Active: 1, 'Last Schedule': '60s', Images: 'i:1,j:2', Selector: '<none>' },
  ],
  [
    'an autoscaler without metrics',
    'autoscaling/horizontalpodautoscalers',
    autoscaler([]),
    { Reference: 'Deployment/d', Targets: '<none>', MinPods: '2', MaxPods: 5, Replicas: 3 },
  ],
  [
    'an autoscaler by utilization',
    'autoscaling/horizontalpodautoscalers',
    autoscaler(
      [
        metric('Resource', { target: { averageUtilization: 80 } }),
        metric('ContainerResource', { target: {} }),
      ],
      [metric('Resource', { current: { averageUtilization: 20, averageValue: '1' } })],
    ),
    { Targets: '20%/80%, <unknown>/<auto>' },
  ],
  [
    'an autoscaler by values',
    'autoscaling/horizontalpodautoscalers',
    autoscaler(
      [
        metric('External', { target: { averageValue: '10' } }),
        metric('Object', { target: { value: '5' } }),
        metric('Pods', { target: { averageValue: '1' } }),
      ],
      [metric('External', { current: { value: '3' } }), metric('Object', { current: { value: '4' } })],
    ),
    { Targets: '<unknown>/10 (avg), 4/5 + 1 more...' },
  ],
  [
    'an autoscaler by an amount per pod',
    'autoscaling/horizontalpodautoscalers',
    autoscaler(
      [metric('Resource', { target: { averageValue: '1Gi' } }), { type: 'New' }],
      [metric('Resource', { current: {} })],
    ),
    { Targets: '<nil>/1Gi, <unknown type>' },
  ],
  [
    'an ingress for everything',
    `${GROUP.networking}/ingresses`,
    object({ spec: { rules: [{}] } }),
    { Class: '<none>', Hosts: '*', Address: '', Ports: '80' },
  ],
  [
    'an ingress of many hosts',
    `${GROUP.networking}/ingresses`,
    object({
      spec: {
        ingressClassName: 'c',
        tls: [{}],
        rules: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, {}, { host: 'd' }],
      },
      status: balanced,
    }),
    { Class: 'c', Hosts: 'a,b,c + 2 more...', Address: '1.1.1.1,9.9.9.9,h', Ports: '80, 443' },
  ],
  [
    'an ingress class',
    `${GROUP.networking}/ingressclasses`,
    object({ spec: { controller: 'x', parameters: { apiGroup: 'g.example.com', kind: 'K', name: 'n' } } }),
    { Controller: 'x', Parameters: 'K.g.example.com/n' },
  ],
  [
    'a network policy',
    `${GROUP.networking}/networkpolicies`,
    object({ spec: { podSelector: selector } }),
    { 'Pod-Selector': SELECTED },
  ],
  [
    'an endpoint slice',
    `${GROUP.discovery}/endpointslices`,
    object({
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'http' }, {}],
      endpoints: [{ addresses: ['1', '2', '3'] }, { addresses: ['4'] }],
    }),
    { Ports: '80,http,*', Endpoints: '1,2,3 + 1 more...' },
  ],
  [
    'an empty endpoint slice',
    `${GROUP.discovery}/endpointslices`,
    object({}),
    { Ports: '<unset>', Endpoints: '<unset>' },
  ],
  [
    'a disruption budget',
    'policy/poddisruptionbudgets',
    object({ spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } }),
    { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 1 },
  ],
  [
    'a pod security policy',
    'policy/podsecuritypolicies',
    object({
      spec: {
        privileged: true,
        allowedCapabilities: ['A', 'B'],
        seLinux: { rule: 'RunAsAny' },
        volumes: ['*'],
      },
    }),
    { Priv: 'true', Caps: 'A,B', SELinux: 'RunAsAny', ReadOnlyRootFs: false, Volumes: '*' },
  ],
  [
    'a role binding',
    `${GROUP.rbac}/rolebindings`,
    object({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'User', name: 'v' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
      ],
    }),
    { Role: 'Role/r', Users: 'u, v', Groups: 'g', ServiceAccounts: 'n/s' },
  ],
  [
    'a signing request',
    `${GROUP.certificates}/certificatesigningrequests`,
    object({
      spec: { username: 'me' },
      status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'eA==' },
    }),
    { SignerName: '<none>', Requestor: 'me', Condition: 'Approved,Failed,Issued' },
  ],
  [
    'a driver',
    `${GROUP.storage}/csidrivers`,
    object({ spec: { podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] } }),
    {
      AttachRequired: true,
      PodInfoOnMount: true,
      StorageCapacity: false,
      TokenRequests: '<unset>',
      RequiresRepublish: false,
      Modes: 'Persistent,Ephemeral',
    },
  ],
  [
    'a driver that wants tokens and tells of room',
    `${GROUP.storage}/csidrivers`,
    object({
      spec: {
        storageCapacity: true,
        tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
        requiresRepublish: true,
      },
    }),
    { StorageCapacity: true, TokenRequests: 'a,b', RequiresRepublish: true, Modes: '<none>' },
  ],
  [
    'a storage class',
    `${GROUP.storage}/storageclasses`,
    object({ provisioner: 'p' }),
    {
      Provisioner: 'p',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
    },
  ],
  [
    'a flow schema',
    `${GROUP.flowcontrol}/flowschemas`,
    object({
      spec: {
        priorityLevelConfiguration: { name: 'p' },
        matchingPrecedence: 9,
        distinguisherMethod: { type: 'ByUser' },
      },
    }),
    { PriorityLevel: 'p', MatchingPrecedence: 9, DistinguisherMethod: 'ByUser', MissingPL: '?' },
  ],
  [
    'a priority level',
    `${GROUP.flowcontrol}/prioritylevelconfigurations`,
    object({
      spec: {
        type: 'Limited',
        limited: {
          assuredConcurrencyShares: 5,
          limitResponse: { queuing: { queues: 8, handSize: 2, queueLengthLimit: 50 } },
        },
      },
    }),
    { AssuredConcurrencyShares: 5, Queues: 8, HandSize: 2, QueueLengthLimit: 50 },
  ],
  [
    'an API service of an extension API server',
    `${GROUP.apiregistration}/apiservices`,
    object({
      spec: { service: { namespace: 'n', name: 's' } },
      status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] },
    }),
    { Service: 'n/s', Available: 'False (Gone)' },
  ],
  ['a lease', `${GROUP.coordination}/leases`, object({ spec: { holderIdentity: 'me' } }), { Holder: 'me' }],
  [
    'a priority class',
    `${GROUP.scheduling}/priorityclasses`,
    object({ value: 1000 }),
    { Value: 1000, 'Global-Default': false },
  ],
  ['a role', `${GROUP.rbac}/clusterroles`, object({}), { 'Created At': CREATED }],
])('%s reads as kubectl users know it', (_title, key, value, expected) => {
  const columns = new Set(tableAt(key).columns.map(({ name }) => name));
  expect(Object.keys(expected).filter((name) => !columns.has(name))).toEqual([]);
  expect(shown(key, value)).toMatchObject(expected);
});

test('a node shows its roles, each once, from both forms of the label', () => {
  const labels = {
    [`${LABEL.nodeRolePrefix}worker`]: '',
    [`${LABEL.nodeRolePrefix}a`]: 'x',
    [LABEL.nodeRole]: 'worker',
  };
  expect(shown('/nodes', object({}, { labels }))['Roles']).toBe('a,worker');
  expect(shown('/nodes', object({}))['Roles']).toBe('<none>');
});

test('the default storage class is marked after its name', () => {
  const annotations = { [ANNOTATION.isDefaultStorageClass]: 'true' };
  expect(shown(`${GROUP.storage}/storageclasses`, object({}, { annotations }))['Name']).toBe('a (default)');
});
