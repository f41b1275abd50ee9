import { GATES } from '../../shared/flags/feature-gate-table';
import { GROUP } from '../../shared/names';
import type { InProcessApi } from '../testing/in-process-api';
import { startInProcessApi } from '../testing/in-process-api';
import { MemoryBackend } from '../storage/testing/memory-backend';
import type { FieldGate } from './field-gates';
import { FIELD_GATES } from './field-gates';
import { causesOf } from './testing/refusals';

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
    gate: 'SuspendJob',
    url: `/apis/batch/v1/${SPACE}/cronjobs`,
    spec: { schedule: '* * * * *', jobTemplate: { spec: { suspend: true, template: jobTemplate } } },
    on: { jobTemplate: { spec: { suspend: true } } },
    gone: '"suspend":true',
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
];

const SLICES = `/apis/${GROUP.discovery}/v1/${SPACE}/endpointslices`;
const SLICE = {
  metadata: { name: 's' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false, terminating: true } }],
};

let api: InProcessApi;
afterEach(async () => api.close());

async function start(gates: readonly FieldGate[], backend?: MemoryBackend): Promise<void> {
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
const FIXED = ROWS.filter(({ url }) => /\/(?:pods|jobs)$/u.test(url)).flatMap((row) =>
  [true, false].map((isOnFirst) => ({ ...row, isOnFirst })),
);

test.each(FIXED)(
  'what is in $url can be changed after $gate is switched (first on: $isOnFirst)',
  async ({ gate, url, spec, isOnFirst }) => {
    const backend = new MemoryBackend();
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

test('every gate is one of v1.21 that is off by default', async () => {
  await start([]);
  expect(FIELD_GATES.map((gate) => GATES.get(gate)?.default)).toEqual(FIELD_GATES.map(() => false));
});
