import { GATES } from '../../../shared/flags/feature-gate-table';
import { ANNOTATION, GROUP } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { FieldGate } from './field-gates';
import { FIELD_GATES } from './field-gates';
import { causesOf } from '../../testing/kinds/refusals';

const SPACE = 'namespaces/default';
const ANY = { rule: 'RunAsAny' };
const OPEN = { runAsUser: ANY, seLinux: ANY, fsGroup: ANY, supplementalGroups: ANY };

interface Row {
  readonly gate: FieldGate;
  readonly url: string;
  readonly spec: object;
  /** Of the answer, where the gate is on. */
  readonly on: object;
  /** The JSON that is not in the answer, where it is off; absent where such an object is refused then. */
  readonly gone: string | undefined;
}

const podOf = (container: object, more: object = {}): object => ({
  containers: [{ name: 'c', image: 'i', ...container }],
  ...more,
});
const mounts = {
  volumeMounts: [
    { name: 'v', mountPath: '/a', subPath: 'x' },
    { name: 'v', mountPath: '/b', subPathExpr: 'y' },
  ],
};
const initPod = podOf(
  {},
  {
    initContainers: [{ name: 'd', image: 'i', ...mounts }],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
);
const probe = { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 5 };
const term = { topologyKey: 'k', namespaceSelector: { matchLabels: { a: 'b' } } };
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const selector = { matchLabels: { a: 'b' } };
const template = { metadata: { labels: { a: 'b' } }, spec: podOf({}) };
const jobTemplate = { ...template, spec: podOf({}, { restartPolicy: 'Never' }) };
const containerMetric = {
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
};

const SERVICES = `/api/v1/${SPACE}/services`;
const BALANCER = { type: 'LoadBalancer', ports: [{ port: 80 }] };
const TWO_PROTOCOLS = [
  { name: 'a', port: 80, protocol: 'TCP' },
  { name: 'b', port: 80, protocol: 'UDP' },
];
const QUEUE = {
  type: 'External',
  external: { metric: { name: 'q' }, target: { type: 'Value', value: '3' } },
};

const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const VOLUME = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
const DRIVERS = `/apis/${GROUP.storage}/v1/csidrivers`;

const ROWS: readonly Row[] = [
  {
    gate: 'ProcMountType',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({ securityContext: { procMount: 'Unmasked' } }),
    on: { containers: [{ securityContext: { procMount: 'Unmasked' } }] },
    gone: '"Unmasked"',
  },
  {
    gate: 'ProcMountType',
    url: '/apis/policy/v1beta1/podsecuritypolicies',
    spec: { ...OPEN, allowedProcMountTypes: ['Unmasked'] },
    on: { allowedProcMountTypes: ['Unmasked'] },
    gone: '"allowedProcMountTypes"',
  },
  {
    gate: 'ProbeTerminationGracePeriod',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({ livenessProbe: probe }),
    on: { containers: [{ livenessProbe: { terminationGracePeriodSeconds: 5 } }] },
    gone: '"terminationGracePeriodSeconds":5',
  },
  {
    gate: 'PodAffinityNamespaceSelector',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { affinity: { podAffinity: { [REQUIRED]: [term] } } }),
    on: { affinity: { podAffinity: { [REQUIRED]: [term] } } },
    gone: '"namespaceSelector"',
  },
  {
    gate: 'IndexedJob',
    url: `/apis/batch/v1/${SPACE}/jobs`,
    spec: { completions: 2, completionMode: 'Indexed', template: jobTemplate },
    on: { completionMode: 'Indexed' },
    gone: '"completionMode"',
  },
  {
    gate: 'IndexedJob',
    url: `/apis/batch/v1/${SPACE}/jobs`,
    spec: { template: jobTemplate },
    on: { completionMode: 'NonIndexed' },
    gone: '"completionMode"',
  },
  {
    gate: 'SuspendJob',
    url: `/apis/batch/v1/${SPACE}/jobs`,
    spec: { suspend: true, template: jobTemplate },
    on: { suspend: true },
    gone: '"suspend"',
  },
  {
    gate: 'DaemonSetUpdateSurge',
    url: `/apis/apps/v1/${SPACE}/daemonsets`,
    spec: {
      selector,
      template,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    },
    on: { updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
    gone: undefined,
  },
  {
    gate: 'HPAContainerMetrics',
    url: `/apis/autoscaling/v2beta2/${SPACE}/horizontalpodautoscalers`,
    spec: { scaleTargetRef: { kind: 'K', name: 'n' }, maxReplicas: 2, metrics: [containerMetric] },
    on: { metrics: [containerMetric] },
    gone: undefined,
  },
  {
    gate: 'AnyVolumeDataSource',
    url: `/api/v1/${SPACE}/persistentvolumeclaims`,
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      dataSource: { apiGroup: 'example.com', kind: 'Backup', name: 'b' },
    },
    on: { dataSource: { apiGroup: 'example.com', kind: 'Backup', name: 'b' } },
    gone: '"dataSource"',
  },
  {
    gate: 'NetworkPolicyEndPort',
    url: `/apis/${GROUP.networking}/v1/${SPACE}/networkpolicies`,
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, endPort: 90 }] }] },
    on: { ingress: [{ ports: [{ endPort: 90 }] }] },
    gone: '"endPort"',
  },
  {
    gate: 'ServiceLoadBalancerClass',
    url: SERVICES,
    spec: { ...BALANCER, loadBalancerClass: 'example.com/b' },
    on: { loadBalancerClass: 'example.com/b' },
    gone: '"loadBalancerClass"',
  },
  {
    gate: 'ServiceInternalTrafficPolicy',
    url: SERVICES,
    spec: { ports: [{ port: 80 }], internalTrafficPolicy: 'Local' },
    on: { internalTrafficPolicy: 'Local' },
    gone: '"internalTrafficPolicy"',
  },
  {
    gate: 'ServiceInternalTrafficPolicy',
    url: SERVICES,
    spec: { type: 'ExternalName', externalName: 'example.com' },
    on: { internalTrafficPolicy: 'Cluster' },
    gone: '"internalTrafficPolicy"',
  },
  {
    gate: 'ServiceTopology',
    url: SERVICES,
    spec: { ports: [{ port: 80 }], topologyKeys: ['example.com/rack', '*'] },
    on: { topologyKeys: ['example.com/rack', '*'] },
    gone: '"topologyKeys"',
  },
  {
    gate: 'ServiceLBNodePortControl',
    url: SERVICES,
    spec: { ...BALANCER, allocateLoadBalancerNodePorts: false },
    on: { allocateLoadBalancerNodePorts: false, ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    gone: '"allocateLoadBalancerNodePorts"',
  },
  {
    gate: 'ServiceLBNodePortControl',
    url: SERVICES,
    spec: BALANCER,
    on: { allocateLoadBalancerNodePorts: true },
    gone: '"allocateLoadBalancerNodePorts"',
  },
  {
    gate: 'MixedProtocolLBService',
    url: SERVICES,
    spec: { ...BALANCER, ports: TWO_PROTOCOLS },
    on: { ports: TWO_PROTOCOLS },
    gone: undefined,
  },
  {
    gate: 'IngressClassNamespacedParams',
    url: `/apis/${GROUP.networking}/v1/ingressclasses`,
    spec: {
      controller: 'example.com/c',
      parameters: { kind: 'K', name: 'n', scope: 'Namespace', namespace: 'a' },
    },
    on: { parameters: { scope: 'Namespace', namespace: 'a' } },
    gone: '"namespace"',
  },
  {
    gate: 'IngressClassNamespacedParams',
    url: `/apis/${GROUP.networking}/v1/ingressclasses`,
    spec: { controller: 'example.com/c', parameters: { kind: 'K', name: 'n' } },
    on: { parameters: { scope: 'Cluster' } },
    gone: '"Cluster"',
  },
  {
    gate: 'HPAScaleToZero',
    url: `/apis/autoscaling/v2beta2/${SPACE}/horizontalpodautoscalers`,
    spec: { scaleTargetRef: { kind: 'K', name: 'n' }, minReplicas: 0, maxReplicas: 2, metrics: [QUEUE] },
    on: { minReplicas: 0 },
    gone: undefined,
  },
  {
    gate: 'PodAffinityNamespaceSelector',
    url: `/api/v1/${SPACE}/resourcequotas`,
    spec: { hard: { pods: '1' }, scopes: ['CrossNamespacePodAffinity'] },
    on: { scopes: ['CrossNamespacePodAffinity'] },
    gone: undefined,
  },
  {
    gate: 'ConfigurableFSGroupPolicy',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { securityContext: { fsGroup: 1, fsGroupChangePolicy: 'OnRootMismatch' } }),
    on: { securityContext: { fsGroupChangePolicy: 'OnRootMismatch' } },
    gone: '"fsGroupChangePolicy"',
  },
  {
    gate: 'LocalStorageCapacityIsolation',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }),
    on: { volumes: [{ emptyDir: { sizeLimit: '1Gi' } }] },
    gone: '"sizeLimit"',
  },
  {
    gate: 'CSIInlineVolume',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { volumes: [{ name: 'v', csi: { driver: 'd' } }] }),
    on: { volumes: [{ csi: { driver: 'd' } }] },
    gone: undefined,
  },
  {
    gate: 'CSIInlineVolume',
    url: '/apis/policy/v1beta1/podsecuritypolicies',
    spec: { ...OPEN, allowedCSIDrivers: [{ name: 'd' }] },
    on: { allowedCSIDrivers: [{ name: 'd' }] },
    gone: '"allowedCSIDrivers"',
  },
  {
    gate: 'GenericEphemeralVolume',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: CLAIM } } }] }),
    on: { volumes: [{ ephemeral: {} }] },
    gone: undefined,
  },
  {
    gate: 'GenericEphemeralVolume',
    url: '/apis/policy/v1beta1/podsecuritypolicies',
    spec: { ...OPEN, volumes: ['ephemeral'] },
    on: { volumes: ['ephemeral'] },
    gone: undefined,
  },
  {
    gate: 'SetHostnameAsFQDN',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf({}, { setHostnameAsFQDN: true }),
    on: { setHostnameAsFQDN: true },
    gone: '"setHostnameAsFQDN"',
  },
  {
    gate: 'VolumeSubpath',
    url: `/api/v1/${SPACE}/pods`,
    spec: podOf(mounts, { volumes: [{ name: 'v', emptyDir: {} }] }),
    on: { containers: [mounts] },
    gone: '"subPath',
  },
  {
    gate: 'VolumeSubpath',
    url: `/apis/apps/v1/${SPACE}/deployments`,
    spec: { selector, template: { ...template, spec: { ...initPod } } },
    on: { template: { spec: { initContainers: [mounts] } } },
    gone: '"subPath',
  },
  {
    gate: 'PodOverhead',
    url: `/apis/apps/v1/${SPACE}/deployments`,
    spec: { selector, template: { ...template, spec: podOf({}, { overhead: { cpu: '1' } }) } },
    on: { template: { spec: { overhead: { cpu: '1' } } } },
    gone: '"overhead"',
  },
  {
    gate: 'NonPreemptingPriority',
    url: `/apis/apps/v1/${SPACE}/deployments`,
    spec: { selector, template: { ...template, spec: podOf({}, { preemptionPolicy: 'Never' }) } },
    on: { template: { spec: { preemptionPolicy: 'Never' } } },
    gone: '"preemptionPolicy"',
  },
  {
    gate: 'SetHostnameAsFQDN',
    url: `/apis/apps/v1/${SPACE}/deployments`,
    spec: { selector, template: { ...template, spec: podOf({}, { setHostnameAsFQDN: true }) } },
    on: { template: { spec: { setHostnameAsFQDN: true } } },
    gone: '"setHostnameAsFQDN"',
  },
  {
    gate: 'SetHostnameAsFQDN',
    url: `/apis/batch/v1/${SPACE}/cronjobs`,
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: { template: { spec: podOf({}, { restartPolicy: 'Never', setHostnameAsFQDN: true }) } },
      },
    },
    on: { jobTemplate: { spec: { template: { spec: { setHostnameAsFQDN: true } } } } },
    gone: '"setHostnameAsFQDN"',
  },
  {
    gate: 'TTLAfterFinished',
    url: `/apis/batch/v1/${SPACE}/jobs`,
    spec: { ttlSecondsAfterFinished: 5, template: jobTemplate },
    on: { ttlSecondsAfterFinished: 5 },
    gone: '"ttlSecondsAfterFinished"',
  },
  {
    gate: 'DynamicKubeletConfig',
    url: '/api/v1/nodes',
    spec: { configSource: { configMap: { name: 'c', namespace: 'n', kubeletConfigKey: 'k' } } },
    on: { configSource: { configMap: { name: 'c' } } },
    gone: '"configSource"',
  },
  {
    gate: 'ExpandCSIVolumes',
    url: '/api/v1/persistentvolumes',
    spec: {
      ...VOLUME,
      csi: { driver: 'd', volumeHandle: 'h', controllerExpandSecretRef: { name: 's', namespace: 'n' } },
    },
    on: { csi: { controllerExpandSecretRef: { name: 's' } } },
    gone: '"controllerExpandSecretRef"',
  },
  {
    gate: 'CSIStorageCapacity',
    url: DRIVERS,
    spec: { storageCapacity: true },
    on: { storageCapacity: true },
    gone: '"storageCapacity"',
  },
  {
    gate: 'CSIInlineVolume',
    url: DRIVERS,
    spec: { volumeLifecycleModes: ['Ephemeral'] },
    on: { volumeLifecycleModes: ['Ephemeral'] },
    gone: '"volumeLifecycleModes"',
  },
  {
    gate: 'CSIVolumeFSGroupPolicy',
    url: DRIVERS,
    spec: { fsGroupPolicy: 'File' },
    on: { fsGroupPolicy: 'File' },
    gone: '"fsGroupPolicy"',
  },
  {
    gate: 'CSIServiceAccountToken',
    url: DRIVERS,
    spec: { requiresRepublish: true, tokenRequests: [{ audience: 'a' }] },
    on: { requiresRepublish: true, tokenRequests: [{ audience: 'a' }] },
    gone: '"tokenRequests"',
  },
  {
    gate: 'CSIMigration',
    url: `/apis/${GROUP.storage}/v1/volumeattachments`,
    spec: {
      attacher: 'a',
      nodeName: 'n',
      source: {
        inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' } },
      },
    },
    on: { source: { inlineVolumeSpec: {} } },
    gone: undefined,
  },
];

const SLICES = `/apis/${GROUP.discovery}/v1/${SPACE}/endpointslices`;
const SLICE = {
  metadata: { name: 's' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false, terminating: true } }],
};

let api: InProcessApi;
afterEach(async () => api.close());

async function start(gates: readonly FieldGate[], backend?: FaultyMemoryBackend): Promise<void> {
  api = await startInProcessApi(backend, {
    kindSettings: { allowPrivileged: false, ephemeralContainers: false, gates: new Set(gates) },
  });
}

test.each(ROWS)('$gate keeps what it is about in $url', async ({ gate, url, spec, on }) => {
  await start([gate]);
  const { code, json } = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
  expect([code, json.message]).toEqual([201, undefined]);
  expect(json.spec).toMatchObject(on);
});

test.each(ROWS.filter(({ gone }) => gone !== undefined))(
  'without $gate it is dropped in $url, whatever other gates are on',
  async ({ gate, url, spec, gone }) => {
    await start(FIELD_GATES.filter((each) => each !== gate));
    const { code, json } = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
    expect([code, json.message]).toEqual([201, undefined]);
    expect(JSON.stringify(json.spec)).not.toContain(gone);
  },
);

/** Kinds of which what makes pods cannot change. */
const FIXED = ROWS.filter(({ url, gone }) => gone !== undefined && /\/(?:pods|jobs)$/u.test(url)).flatMap(
  (row) => [true, false].map((isOnFirst) => ({ ...row, isOnFirst })),
);

test.each(FIXED)(
  'what is in $url can be changed after $gate is switched (first on: $isOnFirst)',
  async ({ gate, url, spec, isOnFirst }) => {
    const backend = new FaultyMemoryBackend();
    await start(isOnFirst ? [gate] : [], backend);
    const before = api;
    try {
      const made = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
      expect(made.code).toBe(201);
      await start(isOnFirst ? [] : [gate], backend);
      const { json } = await api.call('GET', `${url}/x`);
      const labels = { ...json.metadata.labels, seen: 'yes' };
      const body = { ...json, metadata: { ...json.metadata, labels } };
      const { code, json: changed } = await api.call('PUT', `${url}/x`, { body });
      expect([code, changed.message]).toEqual([200, undefined]);
    } finally {
      if (api !== before) await before.close();
    }
  },
);

const REFUSED = ROWS.filter(({ gone }) => gone === undefined);

test.each(REFUSED)('without $gate it is refused in $url', async ({ gate, url, spec }) => {
  await start(FIELD_GATES.filter((each) => each !== gate));
  const { code } = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
  expect(code).toBe(422);
});

interface Switched {
  readonly gate: FieldGate;
  readonly url: string;
  readonly spec: object;
  /** Changes of the spec after the gate was switched off, and what is there then. */
  readonly changes: object;
  readonly kept: object;
}

const SWITCHED: readonly Switched[] = [
  {
    gate: 'ServiceLoadBalancerClass',
    url: SERVICES,
    spec: { ...BALANCER, loadBalancerClass: 'example.com/b' },
    changes: { loadBalancerClass: 'example.com/b' },
    kept: { loadBalancerClass: 'example.com/b' },
  },
  {
    gate: 'ServiceInternalTrafficPolicy',
    url: SERVICES,
    spec: { ports: [{ port: 80 }] },
    changes: { internalTrafficPolicy: 'Local' },
    kept: { internalTrafficPolicy: 'Local' },
  },
  {
    gate: 'ServiceTopology',
    url: SERVICES,
    spec: { ports: [{ port: 80 }], topologyKeys: ['*'] },
    changes: { topologyKeys: ['a', '*'] },
    kept: { topologyKeys: ['a', '*'] },
  },
  {
    gate: 'MixedProtocolLBService',
    url: SERVICES,
    spec: { ...BALANCER, ports: TWO_PROTOCOLS },
    changes: { ports: [...TWO_PROTOCOLS, { name: 'c', port: 80, protocol: 'SCTP' }] },
    kept: { ports: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
  },
  {
    gate: 'HPAScaleToZero',
    url: `/apis/autoscaling/v2beta2/${SPACE}/horizontalpodautoscalers`,
    spec: { scaleTargetRef: { kind: 'K', name: 'n' }, minReplicas: 0, maxReplicas: 2, metrics: [QUEUE] },
    changes: { maxReplicas: 3 },
    kept: { minReplicas: 0, maxReplicas: 3 },
  },
  {
    gate: 'IngressClassNamespacedParams',
    url: `/apis/${GROUP.networking}/v1/ingressclasses`,
    spec: { controller: 'example.com/c', parameters: { kind: 'K', name: 'n' } },
    changes: { parameters: { kind: 'K', name: 'n', scope: 'Namespace', namespace: 'b' } },
    kept: { parameters: { scope: 'Namespace', namespace: 'b' } },
  },
  {
    gate: 'SuspendJob',
    url: `/apis/batch/v1/${SPACE}/jobs`,
    spec: { template: jobTemplate },
    changes: { suspend: true },
    kept: { suspend: false },
  },
  {
    gate: 'DaemonSetUpdateSurge',
    url: `/apis/apps/v1/${SPACE}/daemonsets`,
    spec: { selector, template },
    changes: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } },
    kept: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
  },
  {
    gate: 'PodAffinityNamespaceSelector',
    url: `/api/v1/${SPACE}/resourcequotas`,
    spec: { hard: { pods: '1' }, scopes: ['CrossNamespacePodAffinity'] },
    changes: { hard: { pods: '2' } },
    kept: { hard: { pods: '2' } },
  },
];

test.each(SWITCHED)(
  'after $gate is switched off, an object at $url keeps its field as upstream',
  async ({ gate, url, spec, changes, kept }) => {
    const backend = new FaultyMemoryBackend();
    await start([gate], backend);
    const before = api;
    try {
      await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
      await start([], backend);
      const { json } = await api.call('GET', `${url}/x`);
      const body = { ...json, spec: { ...json.spec, ...changes } };
      const { code, json: changed } = await api.call('PUT', `${url}/x`, { body });
      expect([code, changed.message]).toEqual([200, undefined]);
      expect(changed.spec).toMatchObject(kept);
    } finally {
      if (api !== before) await before.close();
    }
  },
);

test.each<readonly [spec: object, causes: readonly string[]]>([
  [
    { ...BALANCER, topologyKeys: ['*', 'a b', 'a b'], loadBalancerClass: 'a b' },
    [
      'Duplicate spec.topologyKeys[2]',
      'Invalid spec.loadBalancerClass',
      'Invalid spec.topologyKeys[0]',
      'Invalid spec.topologyKeys[1]',
      'Invalid spec.topologyKeys[2]',
    ],
  ],
  [{ ...BALANCER, externalTrafficPolicy: 'Local', topologyKeys: ['*'] }, ['Forbidden spec.topologyKeys']],
  [
    { ports: [{ port: 80 }], topologyKeys: Array.from({ length: 17 }, (_, index) => `k${String(index)}`) },
    ['TooMany spec.topologyKeys'],
  ],
  [
    { ports: [{ port: 80 }], allocateLoadBalancerNodePorts: true, loadBalancerClass: 'b' },
    ['Forbidden spec.allocateLoadBalancerNodePorts', 'Forbidden spec.loadBalancerClass'],
  ],
  [{ ports: [{ port: 80 }], internalTrafficPolicy: 'Odd' }, ['NotSupported spec.internalTrafficPolicy']],
])('what the fields of Services may not say: %j', async (spec, causes) => {
  await start(FIELD_GATES);
  const reply = await api.call('POST', SERVICES, { body: { metadata: { name: 'x' }, spec } });
  expect(causesOf(reply)).toEqual(causes);
});

test.each<readonly [parameters: object, cause: string]>([
  [{ scope: 'Odd' }, 'NotSupported spec.parameters.scope'],
  [{ scope: 'Namespace' }, 'Required spec.parameters.namespace'],
  [{ scope: 'Namespace', namespace: 'A b' }, 'Invalid spec.parameters.namespace'],
  [{ scope: 'Cluster', namespace: 'a' }, 'Forbidden spec.parameters.namespace'],
])('parameters of an IngressClass that are nowhere: %j', async (parameters, cause) => {
  await start(FIELD_GATES);
  const spec = { controller: 'example.com/c', parameters: { kind: 'K', name: 'n', ...parameters } };
  const url = `/apis/${GROUP.networking}/v1/ingressclasses`;
  const reply = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
  expect(causesOf(reply)).toEqual([cause]);
});

test('a balancer that becomes another Service loses what only balancers say, and gets it back by default', async () => {
  await start(FIELD_GATES);
  const spec = { ...BALANCER, loadBalancerClass: 'example.com/b', allocateLoadBalancerNodePorts: false };
  await api.call('POST', SERVICES, { body: { metadata: { name: 'x' }, spec } });
  const typed = async (type: string): Promise<object> => {
    const { json } = await api.call('GET', `${SERVICES}/x`);
    const body = { ...json, spec: { ...json.spec, type } };
    return (await api.call('PUT', `${SERVICES}/x`, { body })).json.spec;
  };
  const inside = await typed('ClusterIP');
  expect(inside).not.toHaveProperty('loadBalancerClass');
  expect(inside).not.toHaveProperty('allocateLoadBalancerNodePorts');
  expect(await typed('LoadBalancer')).toMatchObject({
    allocateLoadBalancerNodePorts: true,
    ports: [{ nodePort: expect.any(Number) }],
  });
});

test('a balancer without node port allocation takes a requested node port', async () => {
  await start(FIELD_GATES);
  const ports = [
    { name: 'a', port: 80, nodePort: 31_999 },
    { name: 'b', port: 81 },
  ];
  const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports };
  const { json } = await api.call('POST', SERVICES, { body: { metadata: { name: 'x' }, spec } });
  expect(json.spec.ports[0].nodePort).toBe(31_999);
  expect(json.spec.ports[1]).not.toHaveProperty('nodePort');
  const again = await api.call('POST', SERVICES, { body: { metadata: { name: 'y' }, spec } });
  expect(causesOf(again)).toEqual(['Invalid spec.ports[0].nodePort']);
});

test('TopologyAwareHints keeps hints of several zones', async () => {
  await start(['TopologyAwareHints']);
  const hints = { forZones: [{ name: 'a' }] };
  const endpoints = [{ addresses: ['192.0.2.1'], hints }];
  const { json } = await api.call('POST', SLICES, { body: { ...SLICE, endpoints } });
  expect(json.endpoints[0].hints).toEqual(hints);
  const odd = [
    { addresses: ['192.0.2.1'], hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'b c' }] } },
  ];
  const reply = await api.call('POST', SLICES, {
    body: { ...SLICE, metadata: { name: 't' }, endpoints: odd },
  });
  expect(causesOf(reply)).toEqual([
    'Duplicate endpoints[0].hints.forZones[1].name',
    'Invalid endpoints[0].hints.forZones[2].name',
  ]);
});

test('EndpointSliceTerminatingCondition keeps the states of endpoints that end', async () => {
  await start(['EndpointSliceTerminatingCondition']);
  const { json } = await api.call('POST', SLICES, { body: SLICE });
  expect(json.endpoints[0].conditions).toEqual({ ready: false, terminating: true });
});

test.each<readonly [port: object, cause: string | undefined]>([
  [{ port: 80, endPort: 80 }, undefined],
  [{ port: 80, endPort: 79 }, 'Invalid spec.ingress[0].ports[0].endPort'],
  [{ port: 80, endPort: 70_000 }, 'Invalid spec.ingress[0].ports[0].endPort'],
  [{ port: 'http', endPort: 80 }, 'Invalid spec.ingress[0].ports[0].endPort'],
  [{ endPort: 80 }, 'Invalid spec.ingress[0].ports[0].endPort'],
])('the ports of a policy are a range: %j', async (port, cause) => {
  await start(['NetworkPolicyEndPort']);
  const url = `/apis/${GROUP.networking}/v1/${SPACE}/networkpolicies`;
  const spec = { podSelector: {}, ingress: [{ ports: [port] }] };
  const reply = await api.call('POST', url, { body: { metadata: { name: 'x' }, spec } });
  expect(reply.code === 201 ? [] : causesOf(reply)).toEqual(cause === undefined ? [] : [cause]);
});

test('no gate that the first level has is locked there', async () => {
  await start([]);
  expect(FIELD_GATES.filter((gate) => GATES.get(gate)?.isLocked === true)).toEqual([]);
});

const CLASSES = `/apis/${GROUP.scheduling}/v1/priorityclasses`;

test('without NonPreemptingPriority a class says nothing of preemption, unless it has done so before', async () => {
  const backend = new FaultyMemoryBackend();
  await start(['NonPreemptingPriority'], backend);
  const before = api;
  try {
    const body = { metadata: { name: 'old' }, value: 1, preemptionPolicy: 'Never' };
    await api.call('POST', CLASSES, { body });
    await start([], backend);
    const made = await api.call('POST', CLASSES, { body: { ...body, metadata: { name: 'new' } } });
    expect([made.code, made.json['preemptionPolicy']]).toEqual([201, undefined]);
    const put = await api.call('PUT', `${CLASSES}/old`, { body });
    expect([put.code, put.json['preemptionPolicy']]).toEqual([200, 'Never']);
  } finally {
    await before.close();
  }
});

test('without PodOverhead and NonPreemptingPriority, pods that say something of them are taken, and lose it', async () => {
  await start([]);
  const spec = podOf({}, { overhead: { cpu: '1' }, preemptionPolicy: 'Never' });
  const { code, json } = await api.call('POST', `/api/v1/${SPACE}/pods`, {
    body: { metadata: { name: 'p' }, spec },
  });
  expect([code, json.message]).toEqual([201, undefined]);
  expect([json.spec.overhead, json.spec.preemptionPolicy]).toEqual([undefined, undefined]);
});

test('without PodOverhead, new runtime classes lose theirs', async () => {
  const url = `/apis/${GROUP.node}/v1/runtimeclasses`;
  const body = { metadata: { name: 'r' }, handler: 'h', overhead: { podFixed: { cpu: '1' } } };
  await start([]);
  const { code, json } = await api.call('POST', url, { body });
  expect([code, json['overhead']]).toEqual([201, undefined]);
});

test('without AppArmor, new pods lose the profiles of their containers, and keep other annotations', async () => {
  const annotations = { [`${ANNOTATION.appArmorContainerPrefix}c`]: 'runtime/default', other: 'x' };
  await start([]);
  const body = { metadata: { name: 'p', annotations }, spec: podOf({}) };
  const { code, json } = await api.call('POST', `/api/v1/${SPACE}/pods`, { body });
  expect([code, json.metadata.annotations]).toEqual([201, { other: 'x' }]);
});

test('without ExpandPersistentVolumes, classes do not allow it, and no claim grows', async () => {
  const backend = new FaultyMemoryBackend();
  await start(['ExpandPersistentVolumes'], backend);
  const before = api;
  const url = `/api/v1/${SPACE}/persistentvolumeclaims`;
  try {
    const { json } = await api.call('POST', url, { body: { metadata: { name: 'c' }, spec: CLAIM } });
    const conditions = [{ type: 'Resizing', status: 'True' }];
    const bound = { ...json, status: { phase: 'Bound' } };
    await api.call('PUT', `${url}/c/status`, { body: bound });
    await start([], backend);
    const { json: updated } = await api.call('PUT', `${url}/c/status`, {
      body: { ...bound, metadata: { name: 'c' }, status: { phase: 'Bound', conditions } },
    });
    expect(updated.status).toEqual({ phase: 'Bound' });
    const resources = { requests: { storage: '2Gi' } };
    const body = { metadata: { name: 'c' }, spec: { ...json.spec, resources } };
    const grown = await api.call('PUT', `${url}/c`, { body });
    expect(causesOf(grown)).toEqual(['Forbidden spec']);
    const made = await api.call('POST', `/apis/${GROUP.storage}/v1/storageclasses`, {
      body: { metadata: { name: 's' }, provisioner: 'p', allowVolumeExpansion: true },
    });
    expect([made.code, made.json['allowVolumeExpansion']]).toEqual([201, undefined]);
  } finally {
    await before.close();
  }
});

test.each([
  ['', false],
  ['x', false],
  ['+1', false],
  ['01', false],
  ['2147483648', false],
  ['-2147483649', false],
  ['9'.repeat(100), false],
  ['0', true],
  ['-5', true],
  ['-05', true],
  ['2147483647', true],
])('with PodDeletionCost, a cost of "%s" is taken: %s', async (cost, isTaken) => {
  await start(['PodDeletionCost']);
  const metadata = { name: 'p', annotations: { [ANNOTATION.podDeletionCost]: cost } };
  const pod = await api.call('POST', `/api/v1/${SPACE}/pods`, { body: { metadata, spec: podOf({}) } });
  const inTemplate = { ...template, metadata: { ...template.metadata, annotations: metadata.annotations } };
  const set = await api.call('POST', `/apis/apps/v1/${SPACE}/replicasets`, {
    body: { metadata: { name: 'r' }, spec: { selector, template: inTemplate } },
  });
  const key = `[${ANNOTATION.podDeletionCost}]`;
  expect([causesOf(pod), causesOf(set)]).toEqual(
    isTaken
      ? [['201 '], ['201 ']]
      : [[`Invalid metadata.annotations${key}`], [`Invalid spec.template.annotations${key}`]],
  );
});

test('a cost that was no number before PodDeletionCost was on may stay so', async () => {
  const backend = new FaultyMemoryBackend();
  const url = `/api/v1/${SPACE}/pods`;
  const metadata = { name: 'p', annotations: { [ANNOTATION.podDeletionCost]: 'much' } };
  await start([], backend);
  const before = api;
  try {
    const { code, json } = await api.call('POST', url, { body: { metadata, spec: podOf({}) } });
    expect(code).toBe(201);
    await start(['PodDeletionCost'], backend);
    const put = await api.call('PUT', `${url}/p`, { body: json });
    expect([put.code, put.json.message]).toEqual([200, undefined]);
  } finally {
    await before.close();
  }
});
