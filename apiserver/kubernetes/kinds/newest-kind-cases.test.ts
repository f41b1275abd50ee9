import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import { ANNOTATION, GROUP, MEDIA_TYPE, SECRET_TYPE } from '../../../shared/names';
import { newerKindCases } from '../../testing/kinds/cases/newer-kinds';
import { resourceCases } from '../../testing/kinds/cases/resource';
import { describeKindCases } from '../../testing/kinds/describe-kind-cases';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { createStartHooks } from '../bootstrap/start-hooks';
import { parseQuantity } from '../../../shared/meta/quantity';
import { getEvaluator } from '../../../shared/quota/evaluators';
import type { PodScopes } from '../../../shared/quota/scopes';
import { matchesScope } from '../../../shared/quota/scopes';
import { causesOf } from '../../testing/kinds/refusals';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import { deviceTaintRules } from './resource/device-taint-rules';
import { podWarnings } from './warnings/pod-warnings';

describe(`at API level ${NEWEST_LEVEL}`, () => {
  describeKindCases([...newerKindCases, ...resourceCases]);
});

const SPACE = '/api/v1/namespaces/default';
const selector = { matchLabels: { a: 'b' } };
const podOf = (spec: object, container: object = {}): object => ({
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const templateOf = (pod: object): object => ({ metadata: { labels: { a: 'b' } }, ...pod });
const deploymentOf = (pod: object): object => ({ spec: { selector, template: templateOf(pod) } });
const OLD_LABEL = { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } };
const OLD_LABEL_ADVICE = 'deprecated since v1.14; use "kubernetes.io/os" instead';
const portsOf = (...ports: object[]): object => ({ ports });
const filesOf = (...paths: string[]): object => ({
  volumes: [
    { name: 'v', configMap: { name: 'm', items: paths.map((path) => ({ key: path.slice(0, 1), path })) } },
  ],
});
const pemOf = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

/** Objects that are created with warnings. Source: WarningsOnCreate of the strategies of v1.36. */
const WARNED: readonly (readonly [what: string, url: string, object: object, warnings: readonly string[]])[] =
  [
    [
      'an old label of nodes',
      'pods',
      podOf(OLD_LABEL),
      [`spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`],
    ],
    [
      'a template with an old label of nodes',
      `/apis/apps/v1/namespaces/default/deployments`,
      deploymentOf(podOf(OLD_LABEL)),
      [`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`],
    ],
    [
      'a fraction of a byte',
      'pods',
      podOf({}, { resources: { requests: { memory: '1.5' } } }),
      [
        'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer',
      ],
    ],
    [
      'a hidden variable',
      'pods',
      podOf(
        {},
        {
          env: [
            { name: 'A', value: 'x' },
            { name: 'A', value: '$(A)y' },
            { name: 'A', value: 'z' },
          ],
        },
      ),
      ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'overlapping ports',
      'pods',
      podOf({}, portsOf({ containerPort: 80 }, { containerPort: 80, hostPort: 81 })),
      ['spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]'],
    ],
    [
      'a file inside of another',
      'pods',
      podOf(filesOf('a', 'a/b')),
      ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
    ],
    [
      'a term without a selector, and a secret without a name',
      'pods',
      podOf({
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z' }] } },
        imagePullSecrets: [{}],
      }),
      [
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
        'spec.imagePullSecrets[0].name: invalid empty name ""',
      ],
    ],
    [
      'external addresses of a Service',
      'services',
      { spec: { ports: [{ port: 80 }], externalIPs: ['2001:DB8::1'] } },
      [
        'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      ],
    ],
    [
      'more requests than limits',
      'resourcequotas',
      { spec: { hard: { 'requests.cpu': '2', 'limits.cpu': '1' } } },
      ['ResourceQuota requests.cpu (2) should be less than limits.cpu (1)'],
    ],
    [
      'a certificate that is none',
      'secrets',
      { type: SECRET_TYPE.tls, stringData: { 'tls.crt': 'x', 'tls.key': 'y' } },
      ['tls: failed to find any PEM data in certificate input'],
    ],
    [
      'a certificate that is none',
      'secrets',
      {
        type: SECRET_TYPE.tls,
        stringData: { 'tls.crt': pemOf('CERTIFICATE'), 'tls.key': pemOf('PRIVATE KEY') },
      },
      ['x509: malformed certificate'],
    ],
    [
      'a volume from git',
      'pods',
      podOf({ volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] }),
      ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
    ],
    [
      'a fraction of a byte of a claim',
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } } },
      ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
    ],
    [
      'a volume that is recycled',
      '/api/v1/persistentvolumes',
      {
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1Gi' },
          hostPath: { path: '/tmp' },
          persistentVolumeReclaimPolicy: 'Recycle',
        },
      },
      [
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      ],
    ],
    [
      'the class of an Ingress in an annotation',
      `/apis/${GROUP.networking}/v1/namespaces/default/ingresses`,
      {
        metadata: { annotations: { [ANNOTATION.ingressClass]: 'c' } },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      },
      [`annotation "${ANNOTATION.ingressClass}" is deprecated, please use 'spec.ingressClassName' instead`],
    ],
  ];

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

const urlOf = (url: string): string => (url.startsWith('/') ? url : `${SPACE}/${url}`);

describe('warnings of writes', () => {
  const named = (object: object, at: number): { readonly metadata: { readonly name: string } } => ({
    ...object,
    metadata: { ...(object as { metadata?: object }).metadata, name: `w${String(at)}` },
  });

  test.each(WARNED.map((row, at) => [...row, at] as const))(
    '%s',
    async (_what, url, object, warnings, at) => {
      const { code, warnings: found } = await api.call('POST', `${urlOf(url)}?dryRun=All`, {
        body: named(object, at),
      });
      expect([code, [...found].sort()]).toEqual([201, [...warnings].sort()]);
    },
  );

  test('a volume from git is not said to be off while its gate is on', () => {
    const spec = { containers: [], volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] };
    const settings = { ...DEFAULT_KIND_SETTINGS, gates: new Set(['GitRepoVolumeDriver']) };
    expect(podWarnings({ spec }, '', settings)).toEqual(['spec.volumes[0].gitRepo: deprecated in v1.11']);
  });

  test('an update warns of a template only if the object changes otherwise than in its metadata', async () => {
    const url = urlOf('podtemplates');
    const body = { metadata: { name: 'w' }, template: templateOf(podOf(OLD_LABEL)) };
    const advice = `template.spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`;
    expect((await api.call('POST', url, { body })).warnings).toEqual([advice]);
    const patch = async (change: object): Promise<readonly string[]> =>
      (await api.call('PATCH', `${url}/w`, { body: change })).warnings;
    expect(await patch({ metadata: { labels: { a: 'b' } } })).toEqual([]);
    expect(await patch({ template: { metadata: { labels: { c: 'd' } } } })).toEqual([advice]);
  });
});

/** Changes of objects, by their parts: what is created, what is patched, at which subresource, and the causes. */
const CHANGED: readonly (readonly [
  what: string,
  url: string,
  object: object,
  at: string,
  patch: object,
  causes: readonly string[],
])[] = [
  [
    'another quality of service class, and a claim of another pod',
    'pods',
    podOf({}),
    '/status',
    { status: { qosClass: 'Guaranteed', resourceClaimStatuses: [{ name: 'c' }] } },
    ['Invalid status.qosClass', 'Invalid status.resourceClaimStatuses[0].name'],
  ],
  [
    'a node address that is not the first',
    'pods',
    podOf({}),
    '/status',
    { status: { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] } },
    ['Invalid status.hostIPs[0].ip'],
  ],
  [
    'an address of a Service that is no load balancer',
    'services',
    { spec: { ports: [{ port: 80 }] } },
    '/status',
    { status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } } },
    ['Forbidden status.loadBalancer.ingress'],
  ],
  [
    'wrong families of a Service come alone',
    'services',
    { spec: { ports: [{ port: 80 }] } },
    '',
    { spec: { ipFamilies: ['x'], ports: [{ port: 0 }] } },
    ['NotSupported spec.ipFamilies[0]'],
  ],
  [
    'a traffic policy of a Service that is not reached from outside',
    'services',
    { spec: { ports: [{ port: 80 }] } },
    '',
    { spec: { externalTrafficPolicy: 'Local' } },
    ['Invalid spec.externalTrafficPolicy'],
  ],
  [
    'features of a node that are not in order',
    '/api/v1/nodes',
    {},
    '/status',
    { status: { declaredFeatures: ['B', 'A', 'a'] } },
    ['Invalid status.declaredFeatures[1]', 'Invalid status.declaredFeatures[2]'],
  ],
  [
    'a resize that has no name',
    'persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    '/status',
    { status: { allocatedResourceStatuses: { storage: 'x' } } },
    ['NotSupported status.allocatedResourceStatuses'],
  ],
  [
    'another scheduling gate',
    'pods',
    podOf({ schedulingGates: [{ name: 'example.com/a' }] }),
    '',
    { spec: { schedulingGates: [{ name: 'example.com/b' }] } },
    ['Forbidden spec.schedulingGates[0].name'],
  ],
  [
    'another reason of an event',
    `/apis/${GROUP.events}/v1/namespaces/default/events`,
    {
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    },
    '',
    { reason: 's' },
    ['Invalid reason'],
  ],
  [
    'a revision that forgets its data',
    '/apis/apps/v1/namespaces/default/controllerrevisions',
    { revision: 1, data: { a: 1 } },
    '',
    { data: null },
    ['Invalid data'],
  ],
];

describe('changes', () => {
  test.each(CHANGED.map((row, at) => [...row, `u${String(at)}`] as const))(
    '%s',
    async (_what, url, object, at, patch, causes, name) => {
      const created = await api.call('POST', urlOf(url), { body: { metadata: { name }, ...object } });
      expect(causesOf(created)).toEqual([expect.stringMatching(/^201/u)]);
      const reply = await api.call('PATCH', `${urlOf(url)}/${name}${at}`, { body: patch });
      expect(causesOf(reply)).toEqual([...causes]);
    },
  );

  test('what the server fills in at creation', async () => {
    const made = async (url: string, object: object): Promise<Reply['json']> =>
      (await api.call('POST', urlOf(url), { body: { metadata: { name: 'f' }, ...object } })).json;
    const volume = {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/tmp' },
    };
    expect((await made('/api/v1/persistentvolumes', { spec: volume })).status).toEqual({
      phase: 'Pending',
      lastPhaseTransitionTime: expect.any(String),
    });
    const service = await made('services', { spec: { ports: [{ port: 80 }] } });
    expect(service.metadata.managedFields[0].fieldsV1['f:spec']).toHaveProperty('f:internalTrafficPolicy');
    const node = await made('/api/v1/nodes', { spec: { configSource: { configMap: { name: 'c' } } } });
    expect(node.spec).not.toHaveProperty('configSource');
  });

  test('unknown and duplicate fields cause warnings by default', async () => {
    const text = '{"metadata":{"name":"x"},"data":{"a":"1","a":"2"},"dat":{}}';
    const create = async (query: string): Promise<readonly string[]> =>
      (await api.call('POST', `${urlOf('configmaps')}?dryRun=All${query}`, { text })).warnings.toSorted();
    expect(await create('')).toEqual(['duplicate field "data.a"', 'unknown field "dat"']);
    expect(await create('&fieldValidation=Ignore')).toEqual([]);
  });

  test('a review of access has a selector as text or as requirements', async () => {
    const review = async (fieldSelector: object): Promise<readonly string[]> => {
      const spec = { resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } };
      const url = `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`;
      return causesOf(await api.call('POST', url, { body: { spec } }));
    };
    const path = 'spec.resourceAttributes.fieldSelector';
    expect(await review({})).toEqual([`Required ${path}.requirements`]);
    expect(await review({ rawSelector: 'a', requirements: [{ key: '', operator: 'Gt' }] })).toEqual([
      `Invalid ${path}.rawSelector`,
      `Required ${path}.requirements[0].key`,
    ]);
    expect(await review({ requirements: [{ key: 'a', operator: 'In' }] })).toEqual([
      `Required ${path}.requirements[0].values`,
    ]);
  });

  test('an apply that changes owners only has no time', async () => {
    const url = `/apis/${GROUP.scheduling}/v1/priorityclasses`;
    await api.call('POST', url, { body: { metadata: { name: 'timed' }, value: 1 } });
    const body = { apiVersion: `${GROUP.scheduling}/v1`, kind: 'PriorityClass', metadata: { name: 'timed' } };
    const timesOf = async (value: number, force = false): Promise<readonly boolean[]> => {
      const { json } = await api.call('PATCH', `${url}/timed?fieldManager=m${force ? '&force=true' : ''}`, {
        body: { ...body, value, ...(force ? { description: 'd' } : {}) },
        headers: { 'content-type': MEDIA_TYPE.applyPatch },
      });
      const entries = json.metadata.managedFields as readonly { manager: string; time?: string }[];
      return entries.filter(({ manager }) => manager === 'm').map(({ time }) => time !== undefined);
    };
    expect(await timesOf(1)).toEqual([false]);
    expect(await timesOf(1, true)).toEqual([true]);
  });

  test('quotas select claims by their class of volume attributes', async () => {
    const matchExpressions = [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] }];
    const quota = (hard: object): object => ({
      metadata: { name: 'q' },
      spec: { hard, scopeSelector: { matchExpressions } },
    });
    const dry = `${urlOf('resourcequotas')}?dryRun=All`;
    expect((await api.call('POST', dry, { body: quota({ 'requests.storage': '1Gi' }) })).code).toBe(201);
    expect((await api.call('POST', dry, { body: quota({ cpu: '1' }) })).code).toBe(422);
  });

  test('a bound claim may change its class and its size, within what its volume has', async () => {
    const url = urlOf('persistentvolumeclaims');
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      storageClassName: 's',
      volumeAttributesClassName: 'gold',
    };
    await api.call('POST', url, { body: { metadata: { name: 'c' }, spec } });
    const headers = { 'content-type': MEDIA_TYPE.mergePatch };
    const patch = async (path: string, body: object): Promise<readonly string[]> => {
      const reply = await api.call('PATCH', `${url}/c${path}`, { body, headers });
      return reply.code === 200 ? [] : causesOf(reply);
    };
    expect(await patch('', { spec: { volumeAttributesClassName: 'silver' } })).toEqual(['Forbidden spec']);
    const status = { phase: 'Bound', capacity: { storage: '3Gi' }, currentVolumeAttributesClassName: 'gold' };
    expect(await patch('/status', { status })).toEqual([]);
    expect(await patch('', { spec: { volumeAttributesClassName: 'silver' } })).toEqual([]);
    expect(await patch('', { spec: { volumeAttributesClassName: null } })).toEqual([
      'Forbidden spec.volumeAttributesClassName',
    ]);
    const sized = async (storage: string): Promise<readonly string[]> =>
      patch('', { spec: { resources: { requests: { storage } } } });
    expect(await sized('4Gi')).toEqual([]);
    expect(await sized('3Gi')).toEqual(['Forbidden spec.resources.requests.storage']);
  });

  test('a quota counts pods whose affinity reaches into other namespaces', () => {
    const term = { topologyKey: 'k', namespaceSelector: {} };
    const scopesOf = (affinity: object): unknown =>
      getEvaluator({ group: GROUP.core, resource: 'pods' })?.measure({
        metadata: {},
        spec: { containers: [], affinity },
      }).scopes;
    const own = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } };
    const other = {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
      },
    };
    const scope = { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists', values: [] };
    expect([own, other].map((each) => matchesScope(scope, scopesOf(each) as PodScopes))).toEqual([
      false,
      true,
    ]);
  });

  test('a quota counts the storage that is allocated for a claim, which may request less again', () => {
    const usageOf = (allocated: string): unknown =>
      getEvaluator({ group: GROUP.core, resource: 'persistentvolumeclaims' })
        ?.measure({
          metadata: {},
          spec: { resources: { requests: { storage: '4Gi' } } },
          status: { allocatedResources: { storage: allocated } },
        })
        .usage.get('requests.storage');
    expect([usageOf('8Gi'), usageOf('3Gi')]).toEqual([parseQuantity('8Gi'), parseQuantity('4Gi')]);
  });

  test('replicas have the start hooks of their level', () => {
    expect(createStartHooks([]).checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'poststarthook/start-apiserver-admission-initializer',
        'poststarthook/storage-readiness',
        'poststarthook/start-system-namespaces-controller',
        'poststarthook/start-service-ip-repair-controllers',
        'poststarthook/apiservice-status-local-available-controller',
        'poststarthook/apiservice-status-remote-available-controller',
      ]),
    );
  });

  test('a taint of devices is added now by default', () => {
    const rule = { metadata: {}, spec: { taint: { key: 'k', effect: 'NoSchedule' } } };
    expect(deviceTaintRules.strategy?.timedDefaults?.(rule, 0)).toMatchObject({
      spec: { taint: { key: 'k', timeAdded: '1970-01-01T00:00:00Z' } },
    });
  });

  test('tables show the status of a Job, and restarts as text', async () => {
    const table = async (url: string): Promise<Reply['json']> =>
      (
        await api.call('GET', urlOf(url), {
          headers: { accept: `application/json;as=Table;v=v1;g=${GROUP.meta}` },
        })
      ).json;
    const headers = async (url: string): Promise<readonly string[]> =>
      ((await table(url)).columnDefinitions as readonly { name: string; type: string }[]).map(
        ({ name, type }) => `${name} ${type}`,
      );
    expect((await headers(`/apis/batch/v1/namespaces/default/jobs`)).slice(0, 3)).toEqual([
      'Name string',
      'Status string',
      'Completions string',
    ]);
    expect(await headers('pods')).toContain('Restarts string');
  });

  test('the deletion of a Job without a propagation policy warns that its pods stay', async () => {
    const url = '/apis/batch/v1/namespaces/default/jobs';
    const warningsWith = async (query: string): Promise<readonly string[]> =>
      (await api.call('DELETE', `${url}/none${query}`)).warnings;
    expect(await warningsWith('')).toEqual([expect.stringContaining('child pods are preserved by default')]);
    expect(await warningsWith('?propagationPolicy=Orphan')).toEqual([]);
  });

  test('the deletion of a Service returns it', async () => {
    await api.call('POST', urlOf('services'), {
      body: { metadata: { name: 'gone' }, spec: { ports: [{ port: 80 }] } },
    });
    expect((await api.call('DELETE', `${urlOf('services')}/gone`)).json.kind).toBe('Service');
  });
});
