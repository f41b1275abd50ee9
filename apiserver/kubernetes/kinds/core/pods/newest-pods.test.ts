import { NEWEST_LEVEL } from '../../../../testing/kinds/newest-level';
import type { Pod } from '../../../../../shared/api/types/core-v1';
import { isOnByDefault } from '../../../../../shared/flags/feature-gate-table';
import { ANNOTATION } from '../../../../../shared/names';
import { Age } from '../../../../engine/registry/object-table';
import { DEFAULT_KIND_SETTINGS } from '../../../../engine/registry/strategy';
import { FaultyMemoryBackend } from '../../../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../../../testing/in-process-api';
import { startInProcessApi } from '../../../../testing/in-process-api';
import { causesOf } from '../../../../testing/kinds/refusals';
import { FIELD_GATES } from '../../field-gates';
import { podTable } from './pod-table';

const PODS = '/api/v1/namespaces/default/pods';
const DRY = `${PODS}?dryRun=All`;

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

let count = 0;
const podOf = (spec: object, metadata: object = {}): object => {
  count += 1;
  return {
    metadata: { name: `p${String(count)}`, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
};
const containerOf = (container: object, more: object = {}): object => ({
  containers: [{ name: 'c', image: 'i', ...container }],
  ...more,
});
const initOf = (container: object): object => ({ initContainers: [{ name: 'i', image: 'i', ...container }] });
const spreadOf = (constraint: object): object => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'z',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { a: 'b' } },
      ...constraint,
    },
  ],
});
const projectedOf = (source: object): object => ({
  volumes: [{ name: 'v', projected: { sources: [source] } }],
});
const exec = { exec: { command: ['a'] } };
const AT = 'spec.containers[0]';

async function created(spec: object, metadata: object = {}): Promise<ReturnType<InProcessApi['call']>> {
  const reply = await api.call('POST', PODS, { body: podOf(spec, metadata) });
  expect([reply.code, reply.json.message]).toEqual([201, undefined]);
  return reply;
}

/** Rules of pods that the newest level has and the first one does not. */
test.each<readonly [what: string, spec: object]>([
  ['a sidecar with a probe', initOf({ restartPolicy: 'Always', livenessProbe: exec })],
  ['a probe by gRPC', containerOf({ livenessProbe: { grpc: { port: 1 } } })],
  ['a pause without length', containerOf({ lifecycle: { preStop: { sleep: { seconds: 0 } } } })],
  [
    'restart rules',
    containerOf({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
    }),
  ],
  ['any printable variable', containerOf({ env: [{ name: '1 b:c', value: 'x' }] })],
  ['an image volume', { volumes: [{ name: 'v', image: { reference: 'r' } }] }],
  ['resources of the pod', { resources: { requests: { cpu: '2' }, limits: { cpu: '3', memory: '1Gi' } } }],
  ['a slash in a sysctl', { securityContext: { sysctls: [{ name: 'kernel/shm_rmid_forced', value: '1' }] } }],
  [
    '32 search paths',
    { dnsConfig: { searches: Array.from({ length: 32 }, (_, at) => `s${String(at)}._tcp.a`) } },
  ],
  [
    'a user namespace with unmasked proc',
    containerOf({ securityContext: { procMount: 'Unmasked' } }, { hostUsers: false }),
  ],
])(`at ${NEWEST_LEVEL}, %s is allowed`, async (_what, spec) => {
  const { code, json } = await api.call('POST', DRY, { body: podOf(spec) });
  expect([code, json.message]).toEqual([201, undefined]);
});

test.each<readonly [spec: object, cause: string, reason: string]>([
  [containerOf({ livenessProbe: { grpc: { port: 0 } } }), `${AT}.livenessProbe.grpc.port`, 'Invalid'],
  [containerOf({ livenessProbe: { grpc: { port: 1 }, ...exec } }), `${AT}.livenessProbe.grpc`, 'Forbidden'],
  [
    containerOf({ livenessProbe: { ...exec, terminationGracePeriodSeconds: 0 } }),
    `${AT}.livenessProbe.terminationGracePeriodSeconds`,
    'Invalid',
  ],
  [
    containerOf({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    `${AT}.lifecycle.preStop.sleep`,
    'Invalid',
  ],
  [initOf({ lifecycle: { preStop: exec } }), 'spec.initContainers[0].lifecycle', 'Forbidden'],
  [
    initOf({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
    'spec.initContainers[0].resizePolicy[0].restartPolicy',
    'Invalid',
  ],
  [
    containerOf({ resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] }),
    `${AT}.resizePolicy`,
    'NotSupported',
  ],
  [containerOf({ restartPolicy: 'Sometimes' }), `${AT}.restartPolicy`, 'NotSupported'],
  [
    containerOf({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [] } }] }),
    `${AT}.restartPolicy`,
    'Required',
  ],
  [containerOf({ resources: { claims: [{ name: 'zz' }] } }), `${AT}.resources.claims[0]`, 'NotFound'],
  [{ resourceClaims: [{ name: 'a' }] }, 'spec.resourceClaims[0]', 'Invalid'],
  [
    containerOf({ securityContext: { appArmorProfile: { type: 'Localhost' } } }),
    `${AT}.securityContext.appArmorProfile.localhostProfile`,
    'Required',
  ],
  [
    { securityContext: { appArmorProfile: { type: 'RuntimeDefault', localhostProfile: 'a' } } },
    'spec.securityContext.appArmorProfile.localhostProfile',
    'Invalid',
  ],
  [
    { securityContext: { supplementalGroupsPolicy: 'x' } },
    'spec.securityContext.supplementalGroupsPolicy',
    'NotSupported',
  ],
  [
    { securityContext: { seLinuxChangePolicy: 'MountOption' } },
    'spec.securityContext.seLinuxChangePolicy',
    'NotSupported',
  ],
  [
    { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.a', value: '1' }] } },
    'spec.securityContext.sysctls[0].name',
    'Invalid',
  ],
  [{ hostUsers: false, hostPID: true }, 'spec.HostPID', 'Forbidden'],
  [containerOf({ securityContext: { procMount: 'Unmasked' } }), `${AT}.securityContext.procMount`, 'Invalid'],
  [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, 'spec.schedulingGates[1]', 'Duplicate'],
  [{ schedulingGates: [{ name: 'a' }], nodeName: 'n' }, 'spec.nodeName', 'Forbidden'],
  [spreadOf({ minDomains: 0 }), 'spec.topologySpreadConstraints[0].minDomains', 'Invalid'],
  [spreadOf({ nodeTaintsPolicy: 'x' }), 'spec.topologySpreadConstraints[0].nodeTaintsPolicy', 'NotSupported'],
  [
    spreadOf({ matchLabelKeys: ['a'], labelSelector: undefined }),
    'spec.topologySpreadConstraints[0].matchLabelKeys',
    'Forbidden',
  ],
  [
    spreadOf({ labelSelector: { matchLabels: { a: '-' } } }),
    'spec.topologySpreadConstraints[0].labelSelector.matchLabels',
    'Invalid',
  ],
  [{ os: { name: 'plan9' } }, 'spec.os', 'NotSupported'],
  [{ os: { name: 'windows' }, hostPID: true }, 'spec.hostPID', 'Forbidden'],
  [
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
    'spec.securityContext.windowsOptions',
    'Forbidden',
  ],
  [{ hostnameOverride: 'a.b', setHostnameAsFQDN: true }, 'spec.hostnameOverride', 'Forbidden'],
  [
    { resources: { requests: { 'ephemeral-storage': '1' } } },
    'spec.resources.requests[ephemeral-storage]',
    'NotSupported',
  ],
  [
    containerOf({ resources: { requests: { cpu: '2' } } }, { resources: { requests: { cpu: '1' } } }),
    'spec.resources.requests[cpu]',
    'Invalid',
  ],
  [
    containerOf({
      env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'K' } } }],
    }),
    `${AT}.env[0].valueFrom.fileKeyRef.volumeName`,
    'NotFound',
  ],
  [
    containerOf(
      { volumeMounts: [{ name: 'v', mountPath: '/v', recursiveReadOnly: 'Enabled' }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
    `${AT}.volumeMounts.recursiveReadOnly`,
    'Forbidden',
  ],
  [{ volumes: [{ name: 'v', image: {} }] }, 'spec.volumes[0].image.reference', 'Required'],
  [
    { serviceAccountName: 'a', ...projectedOf({ serviceAccountToken: { path: '../t' } }) },
    'spec.volumes[0].projected.path',
    'Invalid',
  ],
  [{ hostAliases: [{ ip: 'x' }] }, 'spec.hostAliases[0].ip', 'Invalid'],
  [
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] }],
          },
        },
      },
    },
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]',
    'Invalid',
  ],
])('%j is refused at %s as %s', async (spec, cause, reason) => {
  const reply = await api.call('POST', DRY, { body: podOf(spec) });
  expect(causesOf(reply)).toEqual([`${reason} ${cause}`]);
});

test('fields whose gates are off are dropped', async () => {
  const spec = {
    ...containerOf({ lifecycle: { stopSignal: 'SIGTERM' } }),
    ...projectedOf({ clusterTrustBundle: { path: 'p' } }),
  };
  const { json } = await created(spec);
  expect(json.spec.containers[0].lifecycle).toEqual({});
  expect(json.spec.volumes[0].projected.sources).toEqual([{}]);
});

test('a pod with scheduling gates waits, loses gates, and may be restricted to fewer nodes', async () => {
  const { json } = await created({ schedulingGates: [{ name: 'a' }], nodeSelector: { a: 'b' } });
  expect(json.metadata.generation).toBe(1);
  expect(json.status.conditions).toMatchObject([{ type: 'PodScheduled', reason: 'SchedulingGated' }]);
  const url = `${PODS}/${String(json.metadata.name)}`;
  const open = await api.call('PATCH', url, {
    body: { spec: { nodeSelector: { c: 'd' }, schedulingGates: null } },
  });
  expect([open.code, open.json.spec.nodeSelector, open.json.metadata.generation]).toEqual([
    200,
    { a: 'b', c: 'd' },
    2,
  ]);
  const closed = await api.call('PATCH', url, { body: { spec: { schedulingGates: [{ name: 'b' }] } } });
  expect(causesOf(closed)).toEqual(['Forbidden spec.schedulingGates[0].name']);
  const moved = await api.call('PATCH', url, { body: { spec: { nodeSelector: { e: 'f' } } } });
  expect(causesOf(moved)).toEqual(['Forbidden spec']);
});

test('keys of labels become expressions of selectors', async () => {
  const term = {
    topologyKey: 'k',
    labelSelector: {},
    matchLabelKeys: ['a'],
    mismatchLabelKeys: ['b', 'none'],
  };
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const spec = {
    affinity: { podAffinity: { [required]: [term] } },
    ...spreadOf({ labelSelector: {}, matchLabelKeys: ['a'] }),
  };
  const { json } = await created(spec, { labels: { a: '1', b: '2' } });
  const a = { key: 'a', operator: 'In', values: ['1'] };
  expect(json.spec.affinity.podAffinity[required][0].labelSelector.matchExpressions).toEqual([
    a,
    { key: 'b', operator: 'NotIn', values: ['2'] },
  ]);
  expect(json.spec.topologySpreadConstraints[0].labelSelector.matchExpressions).toEqual([a]);
});

test('an AppArmor annotation becomes the field of its container', async () => {
  const { json } = await created(
    {},
    { annotations: { [`${ANNOTATION.appArmorContainerPrefix}c`]: 'localhost/p' } },
  );
  expect(json.spec.containers[0].securityContext.appArmorProfile).toEqual({
    type: 'Localhost',
    localhostProfile: 'p',
  });
});

test('pods/resize changes cpu and memory alone', async () => {
  const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } };
  const { json } = await created(containerOf({ resources }));
  const name = String(json.metadata.name);
  const url = `${PODS}/${name}/resize`;
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const resize = async (container: object): ReturnType<InProcessApi['call']> =>
    api.call('PATCH', url, {
      headers: strategic,
      body: { spec: { containers: [{ name: 'c', ...container }] } },
    });
  const more = await resize({ image: 'other', resources: { requests: { cpu: '1500m' } } });
  expect([more.code, more.json.spec.containers[0].image, more.json.metadata.generation]).toEqual([
    200,
    'i',
    2,
  ]);
  expect(more.json.spec.containers[0].resources.requests.cpu).toBe('1500m');
  const gone = await resize({ resources: { limits: { memory: null } } });
  expect(causesOf(gone)).toEqual([`Forbidden ${AT}.resources.limits`]);
  const other = await resize({
    resources: { limits: { 'example.com/a': '1' }, requests: { 'example.com/a': '1' } },
  });
  expect(causesOf(other)).toEqual(['Forbidden spec']);
  const best = await api.call('PATCH', `${PODS}/${name}`, {
    headers: strategic,
    body: { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } },
  });
  expect(causesOf(best)).toEqual(['Forbidden spec']);
});

test('pods/ephemeralcontainers takes a pod, of which the list alone counts', async () => {
  const { json } = await created({});
  const url = `${PODS}/${String(json.metadata.name)}/ephemeralcontainers`;
  const body = {
    ...json,
    spec: { ...json.spec, hostPID: true, ephemeralContainers: [{ name: 'e', image: 'i' }] },
  };
  const put = await api.call('PUT', url, { body });
  expect([put.code, put.json.kind, put.json.spec.hostPID]).toEqual([200, 'Pod', undefined]);
  expect(put.json.spec.ephemeralContainers).toMatchObject([{ name: 'e' }]);
  const part = { name: 'f', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 's' }] };
  const wrong = await api.call('PUT', url, {
    body: {
      ...put.json,
      spec: { ...put.json.spec, ephemeralContainers: [...put.json.spec.ephemeralContainers, part] },
    },
  });
  expect(causesOf(wrong)).toContain('Forbidden spec.ephemeralContainers[1].volumeMounts[0].subPath');
});

describe("with the operator's gates", () => {
  const OFF = ['RelaxedDNSSearchValidation', 'RelaxedEnvironmentVariableValidation', 'PodLevelResources'];
  const ON = ['SELinuxMount', 'UserNamespacesHostNetworkSupport'];
  const MERGE = 'MatchLabelKeysInPodTopologySpreadSelectorMerge';
  const gates = new Set([...FIELD_GATES.filter((gate) => isOnByDefault(gate)), ...ON]);
  for (const gate of [...OFF, MERGE]) gates.delete(gate);
  const backend = new FaultyMemoryBackend();
  let other: InProcessApi;
  let plain: InProcessApi;
  beforeAll(async () => {
    plain = await startInProcessApi(backend, { definitionsLive: false });
    other = await startInProcessApi(backend, {
      definitionsLive: false,
      kindSettings: { ...DEFAULT_KIND_SETTINGS, gates },
    });
  });
  afterAll(async () => {
    await plain.close();
    await other.close();
  });

  const context = { securityContext: { seLinuxChangePolicy: 'MountOption' } };
  const host = { hostUsers: false, hostNetwork: true };
  const merged = spreadOf({
    labelSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] },
    matchLabelKeys: ['k'],
  });
  const named = containerOf({ env: [{ name: 'a b', value: 'x' }] });
  const searching = { dnsConfig: { searches: ['a_b', '.'] } };

  test.each<readonly [what: string, spec: object, byDefault: number, code: number]>([
    ['a mount option for SELinux', context, 422, 201],
    ['the network of the host for users of its own', host, 422, 201],
    ['a key of labels twice in a spread', merged, 201, 422],
    ['a variable with a space in its name', named, 201, 422],
    ['an underscore in a search path', searching, 201, 422],
  ])('%s', async (_what, spec, byDefault, code) => {
    const body = podOf(spec);
    expect((await plain.call('POST', DRY, { body })).code).toBe(byDefault);
    expect((await other.call('POST', DRY, { body })).code).toBe(code);
  });

  test.each([
    ['variables', named],
    ['search paths', searching],
  ])('what broke the rule of %s before may keep on doing so', async (_what, spec) => {
    const { json } = await plain.call('POST', PODS, { body: podOf(spec) });
    const url = `${PODS}/${String(json.metadata.name)}`;
    const body = { ...json, metadata: { ...json.metadata, labels: { a: 'b' } } };
    const reply = await other.call('PUT', url, { body });
    expect([reply.code, reply.json.message]).toEqual([200, undefined]);
  });
});

describe('the row of a pod', () => {
  const ENDED_AT = '2026-01-01T00:05:00Z';
  const NOW = Date.parse('2026-01-01T00:10:00Z');
  const ended = (exitCode: number, reason: string): object => ({
    terminated: { exitCode, reason, finishedAt: ENDED_AT },
  });
  const running = { running: {} };
  const sidecar = { name: 's', restartPolicy: 'Always' };

  test.each<[string, object, object, string, string, string]>([
    [
      'counts a sidecar that has started',
      { initContainers: [sidecar, { name: 'i' }] },
      {
        phase: 'Running',
        initContainerStatuses: [
          {
            name: 's',
            ready: true,
            started: true,
            restartCount: 2,
            state: running,
            lastState: ended(1, 'E'),
          },
          { name: 'i', restartCount: 1, state: ended(0, 'Completed') },
        ],
        containerStatuses: [{ ready: true, restartCount: 1, state: running }],
      },
      '2/2',
      'Running',
      '3 (5m ago)',
    ],
    [
      'waits for a sidecar that has not started',
      { initContainers: [sidecar] },
      { initContainerStatuses: [{ name: 's', started: false, restartCount: 0, state: running }] },
      '0/2',
      'Init:0/1',
      '0',
    ],
    [
      'is initialized although its sidecar starts again',
      { initContainers: [sidecar] },
      {
        phase: 'Running',
        conditions: [{ type: 'Initialized', status: 'True' }],
        initContainerStatuses: [{ name: 's', restartCount: 1, state: { waiting: { reason: 'Back' } } }],
        containerStatuses: [{ ready: true, restartCount: 0, state: running }],
      },
      '1/2',
      'Init:Back',
      '1',
    ],
    [
      'says that gates block it',
      {},
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] },
      '0/1',
      'SchedulingGated',
      '0',
    ],
    [
      'shows the error of one container beside another that completed',
      {},
      {
        phase: 'Failed',
        containerStatuses: [
          { restartCount: 0, state: ended(0, 'Completed') },
          { restartCount: 0, state: ended(1, 'Error') },
        ],
      },
      '0/1',
      'Error',
      '0',
    ],
  ])('%s', (_what, spec, status, ready, reason, restarts) => {
    const pod = {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c' }], ...spec },
      status,
    } as unknown as Pod;
    const cells = podTable.row(pod).map((cell) => (cell instanceof Age ? cell.text(NOW) : cell));
    expect(cells.slice(1, 4)).toEqual([ready, reason, restarts]);
  });

  test('of one that ended before its deletion does not say that it is terminating', () => {
    const rowOf = (phase: string): unknown =>
      podTable.row({
        metadata: { name: 'p', deletionTimestamp: ENDED_AT },
        spec: { containers: [] },
        status: { phase },
      })[2];
    expect([rowOf('Running'), rowOf('Succeeded')]).toEqual(['Terminating', 'Succeeded']);
  });
});

test('an ephemeral container may not even have an empty policy, and addresses of a status have one spelling', async () => {
  const ephemeralContainers = [{ name: 'e', image: 'i', restartPolicy: '', lifecycle: {} }];
  expect(causesOf(await api.call('POST', DRY, { body: podOf({ ephemeralContainers }) }))).toEqual(
    expect.arrayContaining([
      'Forbidden spec.ephemeralContainers[0].lifecycle',
      'Forbidden spec.ephemeralContainers[0].restartPolicy',
    ]),
  );
  const { json } = await api.call('POST', PODS, { body: podOf({}) });
  const status = { podIPs: [{ ip: '010.0.0.1' }] };
  const reply = await api.call('PATCH', `${PODS}/${String(json.metadata.name)}/status`, { body: { status } });
  expect(causesOf(reply)).toEqual(['Invalid status.podIPs[0]']);
});
