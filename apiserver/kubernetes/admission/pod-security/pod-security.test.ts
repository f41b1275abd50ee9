import type * as MetricSets from '../../../../shared/metrics/metric-set';
import type * as AdmissionMetricsModule from '../../../compose/metrics/add-admission-metrics';
import type * as Apis from '../../../testing/in-process-api';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import type { Namespace, PodSpec } from '../../../../shared/api/types/core-v1';
import { loadAtLevel } from '../../../../shared/testing/load-at-level';
import { attributesOf, outcomeOf } from '../testing/plugin-bench';
import { podSecurityConfiguration, podSecurityProblem } from './configuration';
import type { Level } from './policy';
import { podSecurity } from './pod-security';
import { PodSecurityMetrics } from './pod-security-metrics';
import { DEFAULT_POLICY, formatStandard, policyOf } from './policy';
import { detailsOf, violationsOf } from './standards';

const NEWEST = 36;

/** A container that the strictest standard allows. */
const SAFE = {
  name: 'a',
  image: 'b',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};
const SAFE_SPEC = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [SAFE],
};
const withSecurity = (security: object): object => ({
  ...SAFE_SPEC,
  containers: [{ ...SAFE, securityContext: { ...SAFE.securityContext, ...security } }],
});

const CASES: readonly (readonly [Level, number | 'latest', object, string])[] = [
  ['restricted', 'latest', SAFE_SPEC, ''],
  ['privileged', 'latest', { hostNetwork: true, containers: [] }, ''],
  [
    'baseline',
    'latest',
    { hostNetwork: true, hostPID: true, containers: [] },
    'host namespaces (hostNetwork=true, hostPID=true)',
  ],
  [
    'baseline',
    'latest',
    { containers: [], volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    'hostPath volumes (volume "v")',
  ],
  [
    'restricted',
    'latest',
    {
      ...SAFE_SPEC,
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', nfs: { server: 's', path: '/' } },
      ],
    },
    'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
  ],
  ['restricted', 'latest', { ...SAFE_SPEC, volumes: [{ name: 'v', image: { reference: 'r' } }] }, ''],
  [
    'baseline',
    'latest',
    {
      containers: [
        {
          name: 'a',
          ports: [
            { containerPort: 1, hostPort: 80 },
            { containerPort: 2, hostPort: 443 },
          ],
        },
      ],
    },
    'hostPort (container "a" uses hostPorts 443, 80)',
  ],
  [
    'baseline',
    'latest',
    { containers: [], initContainers: [{ name: 'i', securityContext: { privileged: true } }] },
    'privileged (container "i" must not set securityContext.privileged=true)',
  ],
  [
    'baseline',
    'latest',
    withSecurity({ capabilities: { add: ['NET_RAW', 'CHOWN'], drop: ['ALL'] } }),
    'non-default capabilities (container "a" must not include "NET_RAW" in securityContext.capabilities.add)',
  ],
  [
    'restricted',
    'latest',
    withSecurity({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } }),
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  ['restricted', 21, withSecurity({ capabilities: {} }), ''],
  [
    'restricted',
    'latest',
    { ...SAFE_SPEC, containers: [{ name: 'a' }, { name: 'b' }], securityContext: {} },
    [
      'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (containers "a", "b" must set securityContext.capabilities.drop=["ALL"])',
      'runAsNonRoot != true (pod or containers "a", "b" must set securityContext.runAsNonRoot=true)',
      'seccompProfile (pod or containers "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ].join(', '),
  ],
  [
    'restricted',
    'latest',
    { os: { name: 'windows' }, containers: [{ name: 'a' }], securityContext: { runAsNonRoot: true } },
    '',
  ],
  [
    'restricted',
    'latest',
    withSecurity({ runAsUser: 0 }),
    'runAsUser=0 (container "a" must not set runAsUser=0)',
  ],
  ['restricted', 22, withSecurity({ runAsUser: 0 }), ''],
  ['restricted', 'latest', { ...withSecurity({ runAsUser: 0, runAsNonRoot: false }), hostUsers: false }, ''],
  [
    'restricted',
    34,
    { ...withSecurity({ runAsNonRoot: false }), hostUsers: false },
    'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  ],
  ['baseline', 'latest', { ...withSecurity({ procMount: 'Unmasked' }), hostUsers: false }, ''],
  [
    'restricted',
    'latest',
    { ...withSecurity({ procMount: 'Unmasked' }), hostUsers: false },
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'baseline',
    'latest',
    { containers: [], securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
  ],
  [
    'baseline',
    'latest',
    { containers: [], securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
    '',
  ],
  [
    'baseline',
    30,
    { containers: [], securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  ],
  [
    'baseline',
    'latest',
    { ...withSecurity({ seccompProfile: { type: 'Unconfined' } }) },
    'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'baseline',
    'latest',
    { ...withSecurity({ appArmorProfile: { type: 'Unconfined' } }) },
    'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
  ],
  [
    'baseline',
    'latest',
    {
      containers: [],
      securityContext: {
        sysctls: [
          { name: 'kernel.msgmax', value: '1' },
          { name: 'net.ipv4.tcp_rmem', value: '1' },
        ],
      },
    },
    'forbidden sysctls (kernel.msgmax)',
  ],
  [
    'baseline',
    'latest',
    { containers: [{ name: 'a', livenessProbe: { httpGet: { host: 'h', port: 1 } } }] },
    'probe or lifecycle host (container "a" uses probe or lifecycle host "h")',
  ],
  ['baseline', 33, { containers: [{ name: 'a', livenessProbe: { httpGet: { host: 'h', port: 1 } } }] }, ''],
  [
    'baseline',
    'latest',
    { containers: [], securityContext: { windowsOptions: { hostProcess: true } } },
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
];

test.each(CASES)('%s of %s: %j', (level, version, spec, expected) => {
  const pod = { annotations: {}, spec: spec as unknown as PodSpec };
  expect(detailsOf(violationsOf({ level, version }, pod, NEWEST))).toBe(expected);
});

test('labels choose the standards, and wrong ones are the strictest or the least', () => {
  const of = (labels: Readonly<Record<string, string>>): readonly string[] => {
    const prefixed = Object.fromEntries(
      Object.entries(labels).map(([key, value]) => [`pod-security.orch/${key}`, value]),
    );
    const { policy, errors } = policyOf(prefixed, DEFAULT_POLICY);
    return [policy.enforce, policy.audit, policy.warn]
      .map(formatStandard)
      .concat(errors.map(({ message }) => message));
  };
  const privileged = 'privileged:latest';
  expect(of({})).toEqual([privileged, privileged, privileged]);
  expect(of({ enforce: 'baseline', 'enforce-version': 'v1.24' })).toEqual([
    'baseline:v1.24',
    privileged,
    'baseline:v1.24',
  ]);
  expect(of({ enforce: 'baseline', warn: 'privileged' })).toEqual([
    'baseline:latest',
    privileged,
    privileged,
  ]);
  expect(of({ enforce: 'strict', audit: 'x', 'warn-version': '1.2' })).toEqual([
    'restricted:latest',
    privileged,
    privileged,
    expect.stringContaining('must be one of privileged, baseline, restricted'),
    expect.stringContaining('must be one of'),
    expect.stringContaining('must be "latest" or "v1.x"'),
  ]);
});

test('the configuration has defaults and exemptions, and is refused when it is wrong', () => {
  const { defaults, exemptUsers } = podSecurityConfiguration({
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30' },
    exemptions: { usernames: ['jane'] },
  });
  expect(formatStandard(defaults.enforce)).toBe('baseline:v1.30');
  expect([...exemptUsers]).toEqual(['jane']);
  expect(podSecurityProblem(undefined)).toBeUndefined();
  expect(podSecurityProblem({ defaults: { warn: 'all' } })).toContain('defaults.warn');
  expect(podSecurityProblem({ exemptions: { namespaces: 'x' } })).toContain('must be a list');
});

test.each([
  ['created', undefined, { 'pod-security.orch/enforce': 'baseline' }, 1],
  ['tightened', {}, { 'pod-security.orch/enforce': 'baseline' }, 1],
  ['created without labels', undefined, {}, 0],
])('an exempt namespace that is %s warns that its policy is ignored', async (_, before, labels, count) => {
  const warnings: string[] = [];
  const namespaceOf = (given: object): Namespace => ({ metadata: { name: 'n', labels: given } }) as Namespace;
  const attributes = attributesOf('v1/namespaces', {
    operation: before === undefined ? 'CREATE' : 'UPDATE',
    object: namespaceOf(labels),
    ...(before === undefined ? {} : { oldObject: namespaceOf(before) }),
    warn: (text) => warnings.push(text),
  });
  await outcomeOf(podSecurity({ exemptions: { namespaces: ['n'] } }, new PodSecurityMetrics()), attributes);
  expect(warnings).toEqual(
    Array.from(
      { length: count },
      () =>
        'namespace "n" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored',
    ),
  );
});

describe('at an API level that has the plugin', () => {
  let api: InProcessApi;

  beforeAll(async () => {
    const { startInProcessApi } = loadAtLevel('1.36', () =>
      jest.requireActual<typeof Apis>('../../../testing/in-process-api'),
    );
    api = await startInProcessApi();
  });
  afterAll(async () => {
    await api.close();
  });

  const send = async (path: string, body: object): Promise<Reply> =>
    api.call('POST', `/api/v1/${path}`, { body });
  const namespace = (name: string, labels: object): object => ({ metadata: { name, labels } });
  const pod = (name: string, spec: object): object => ({
    metadata: { name },
    spec: { ...spec, serviceAccountName: 'default' },
  });

  test('pods are refused, templates are warned about, labels are validated', async () => {
    const wrong = await send('namespaces', namespace('wrong', { 'pod-security.orch/enforce': 'x' }));
    expect(wrong.code).toBe(422);
    expect(
      (await send('namespaces', namespace('strict', { 'pod-security.orch/enforce': 'baseline' }))).code,
    ).toBe(201);
    const refused = await send(
      'namespaces/strict/pods',
      pod('p', { hostNetwork: true, containers: [{ name: 'a', image: 'b' }] }),
    );
    expect([refused.code, refused.json.message]).toEqual([
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    ]);
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { hostPID: true, containers: [{ name: 'a', image: 'b' }] },
    };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const warned = await api.call('POST', '/apis/apps/v1/namespaces/strict/deployments', { body });
    expect([warned.code, warned.warnings]).toEqual([
      201,
      ['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'],
    ]);
  });

  test('a stricter label warns about the pods that are there, and other updates of a pod stay allowed', async () => {
    expect((await send('namespaces', namespace('loose', {}))).code).toBe(201);
    for (const name of ['b', 'a']) {
      const spec = { hostNetwork: true, containers: [{ name: 'a', image: 'b' }] };
      expect((await send('namespaces/loose/pods', pod(name, spec))).code).toBe(201);
    }
    const patch = async (path: string, body: object): Promise<Reply> =>
      api.call('PATCH', `/api/v1/${path}`, {
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    const labelled = (level: string): object => ({
      metadata: { labels: { 'pod-security.orch/enforce': level } },
    });
    const tightened = await patch('namespaces/loose', labelled('baseline'));
    expect([tightened.code, tightened.warnings]).toEqual([
      200,
      [
        'existing pods in namespace "loose" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): host namespaces',
      ],
    ]);
    expect((await patch('namespaces/loose', labelled('privileged'))).warnings).toEqual([]);
    expect((await patch('namespaces/loose', labelled('restricted'))).warnings).toHaveLength(2);
    expect((await patch('namespaces/loose/pods/a', { metadata: { labels: { x: 'y' } } })).code).toBe(200);
    const image = { spec: { containers: [{ name: 'a', image: 'c' }] } };
    expect((await patch('namespaces/loose/pods/a', image)).code).toBe(403);
  });

  test('evaluations and wrong labels are counted', async () => {
    const { addAdmissionMetrics } = jest.requireActual<typeof AdmissionMetricsModule>(
      '../../../compose/metrics/add-admission-metrics',
    );
    const { MetricSet } = jest.requireActual<typeof MetricSets>('../../../../shared/metrics/metric-set');
    const labels = { 'pod-security.orch/enforce': 'baseline', 'pod-security.orch/audit': 'restricted' };
    await send('namespaces', namespace('counted', { ...labels, 'pod-security.orch/warn-version': 'v1.99' }));
    await send('namespaces/counted/pods', pod('p', { containers: [{ name: 'a', image: 'b' }] }));
    const metrics = new MetricSet();
    addAdmissionMetrics(metrics, api.plane.admissionMetrics);
    const lines = String(await metrics.exposition()).split('\n');
    const request = 'request_operation="create",resource="pod",subresource=""';
    const countOf = (series: string): string | undefined =>
      lines
        .find((line) => line.startsWith(`pod_security_${series},${request}} `))
        ?.split(' ')
        .at(-1);
    const total = 'evaluations_total{decision';
    expect([
      countOf(`${total}="deny",policy_level="restricted",policy_version="latest",mode="audit"`),
      Number(countOf(`${total}="allow",policy_level="baseline",policy_version="latest",mode="enforce"`)) > 0,
    ]).toEqual(['1', true]);
  });
});
