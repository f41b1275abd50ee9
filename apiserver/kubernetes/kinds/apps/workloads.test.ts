import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import type { Refusal } from '../../../testing/kinds/refusals';
import { causesOf, refusalOf } from '../../../testing/kinds/refusals';
import type { JsonObject } from '../../../../shared/object/clone';

const APPS = '/apis/apps/v1/namespaces/default';
const BATCH = '/apis/batch/v1/namespaces/default';
const CORE = '/api/v1/namespaces/default';
const URL = {
  ReplicationController: `${CORE}/replicationcontrollers`,
  PodTemplate: `${CORE}/podtemplates`,
  ReplicaSet: `${APPS}/replicasets`,
  Deployment: `${APPS}/deployments`,
  DaemonSet: `${APPS}/daemonsets`,
  StatefulSet: `${APPS}/statefulsets`,
  ControllerRevision: `${APPS}/controllerrevisions`,
  Job: `${BATCH}/jobs`,
  CronJob: `${BATCH}/cronjobs`,
} as const;
type Kind = keyof typeof URL;

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

let count = 0;

function object(kind: Kind, rest: JsonObject, metadata: JsonObject = {}): JsonObject {
  count += 1;
  const apiVersion = URL[kind].startsWith('/api/')
    ? 'v1'
    : URL[kind].includes('/apps/')
      ? 'apps/v1'
      : 'batch/v1';
  return { apiVersion, kind, metadata: { name: `w${String(count)}`, ...metadata }, ...rest };
}

function template(spec: JsonObject = {}, labels: JsonObject = { app: 'x' }): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } };
}

const selector = { matchLabels: { app: 'x' } };

function workload(kind: Kind, spec: JsonObject): JsonObject {
  return object(kind, { spec: { selector, template: template(), ...spec } });
}

function job(spec: JsonObject = {}, pod: JsonObject = {}): JsonObject {
  return object('Job', { spec: { template: template({ restartPolicy: 'Never', ...pod }), ...spec } });
}

function cronJob(spec: JsonObject = {}, jobSpec: JsonObject = {}): JsonObject {
  return object('CronJob', {
    spec: {
      schedule: '@daily',
      jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }), ...jobSpec } },
      ...spec,
    },
  });
}

const LABELS = 'Invalid spec.template.metadata.labels';

/** What ReplicaSets, Deployments, StatefulSets and DaemonSets refuse alike. */
function replicated(kind: Kind): readonly Refusal[] {
  return [
    ['an empty selector', workload(kind, { selector: {} }), ['Invalid spec.selector']],
    ['a selector of other pods', workload(kind, { selector: { matchLabels: { app: 'y' } } }), [LABELS]],
    [
      'pods that end',
      workload(kind, { template: template({ restartPolicy: 'Never' }) }),
      ['NotSupported spec.template.spec.restartPolicy'],
    ],
    [
      'pods with a deadline',
      workload(kind, { template: template({ activeDeadlineSeconds: 5 }) }),
      ['Forbidden spec.template.spec.activeDeadlineSeconds'],
    ],
    [
      'bad labels of pods',
      workload(kind, { template: template({}, { app: 'x', b: 'c d' }) }),
      ['Invalid spec.template.labels'],
    ],
  ];
}

function withSelector(kind: Kind): readonly Refusal[] {
  return [
    ['no selector', workload(kind, { selector: undefined }), [LABELS, 'Required spec.selector']],
    ['fewer than no replicas', workload(kind, { replicas: -1 }), ['Invalid spec.replicas']],
    [
      'an operator that there is not',
      workload(kind, { selector: { matchExpressions: [{ key: 'app', operator: 'Odd' }] } }),
      ['Invalid spec.selector', 'Invalid spec.selector.matchExpressions[0].operator'],
    ],
  ];
}

const rolling = (value: JsonObject): JsonObject => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: value },
});
const ROLLING = 'spec.strategy.rollingUpdate';

const DEPLOYMENTS: readonly Refusal[] = [
  ...replicated('Deployment'),
  ...withSelector('Deployment'),
  [
    'an unknown strategy',
    workload('Deployment', { strategy: { type: 'Odd' } }),
    ['NotSupported spec.strategy'],
  ],
  [
    'a rolling update of what is recreated',
    workload('Deployment', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
    [`Forbidden ${ROLLING}`],
  ],
  [
    'an update that may do nothing',
    workload('Deployment', rolling({ maxSurge: 0, maxUnavailable: '0%' })),
    [`Invalid ${ROLLING}.maxUnavailable`],
  ],
  [
    'more than all',
    workload('Deployment', rolling({ maxUnavailable: '101%' })),
    [`Invalid ${ROLLING}.maxUnavailable`],
  ],
  [
    'no percentage',
    workload('Deployment', rolling({ maxSurge: 'x', maxUnavailable: 1 })),
    [`Invalid ${ROLLING}.maxSurge`],
  ],
  [
    'a history of fewer than none',
    workload('Deployment', { revisionHistoryLimit: -1 }),
    ['Invalid spec.revisionHistoryLimit'],
  ],
  [
    'a deadline before pods are ready',
    workload('Deployment', { minReadySeconds: 9, progressDeadlineSeconds: 9 }),
    ['Invalid spec.progressDeadlineSeconds'],
  ],
  [
    'a template without containers',
    workload('Deployment', { template: template({ containers: [] }) }),
    ['Required spec.template.spec.containers'],
  ],
  [
    'one disk for two writers',
    workload('Deployment', {
      replicas: 2,
      template: template({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }] }),
    }),
    ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly'],
  ],
];

const REPLICA_SETS: readonly Refusal[] = [
  ...replicated('ReplicaSet'),
  ...withSelector('ReplicaSet'),
  [
    'fewer than no seconds',
    workload('ReplicaSet', { minReadySeconds: -1 }),
    ['Invalid spec.minReadySeconds'],
  ],
  [
    'a bad runtime class',
    workload('ReplicaSet', { template: template({ runtimeClassName: 'A' }) }),
    ['Invalid spec.template.spec.runtimeClassName'],
  ],
];

const dsRolling = (value: JsonObject): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: value },
});
const DAEMON_SETS: readonly Refusal[] = [
  ...replicated('DaemonSet'),
  [
    'an unknown strategy',
    workload('DaemonSet', { updateStrategy: { type: 'Odd' } }),
    ['NotSupported spec.updateStrategy'],
  ],
  [
    'an update that may do nothing',
    workload('DaemonSet', dsRolling({ maxUnavailable: 0 })),
    ['Invalid spec.updateStrategy.rollingUpdate.maxUnavailable'],
  ],
  [
    'more than all',
    workload('DaemonSet', dsRolling({ maxUnavailable: '200%' })),
    ['Invalid spec.updateStrategy.rollingUpdate.maxUnavailable'],
  ],
  [
    'a disk that only one may write',
    workload('DaemonSet', {
      template: template({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }] }),
    }),
    ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly'],
  ],
];

const STATEFUL_SETS: readonly Refusal[] = [
  ...replicated('StatefulSet'),
  ...withSelector('StatefulSet'),
  [
    'an unknown management',
    workload('StatefulSet', { podManagementPolicy: 'Odd' }),
    ['Invalid spec.podManagementPolicy'],
  ],
  [
    'an unknown strategy',
    workload('StatefulSet', { updateStrategy: { type: 'Odd' } }),
    ['Invalid spec.updateStrategy'],
  ],
  [
    'a partition of what is updated by hand',
    workload('StatefulSet', { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
    ['Invalid spec.updateStrategy.rollingUpdate'],
  ],
  [
    'a negative partition',
    workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } }),
    ['Invalid spec.updateStrategy.rollingUpdate.partition'],
  ],
];

const CONTROLLERS: readonly Refusal[] = [
  [
    'no template',
    object('ReplicationController', { spec: { selector: { app: 'x' } } }),
    ['Required spec.template'],
  ],
  [
    'no selector and no labels',
    object('ReplicationController', { spec: { template: template({}, {}) } }),
    ['Required spec.selector'],
  ],
  [
    'other pods',
    object('ReplicationController', { spec: { selector: { a: 'b' }, template: template() } }),
    [LABELS],
  ],
  [
    'fewer than no replicas',
    object('ReplicationController', { spec: { replicas: -1, template: template() } }),
    ['Invalid spec.replicas'],
  ],
  [
    'pods that end',
    object('ReplicationController', { spec: { template: template({ restartPolicy: 'OnFailure' }) } }),
    ['NotSupported spec.template.spec.restartPolicy'],
  ],
];

const TEMPLATES: readonly Refusal[] = [
  [
    'no containers',
    object('PodTemplate', { template: template({ containers: [] }) }),
    ['Required template.spec.containers'],
  ],
  [
    'bad labels',
    object('PodTemplate', { template: template({}, { 'a b': 'c' }) }),
    ['Invalid template.labels'],
  ],
];

const REVISIONS: readonly Refusal[] = [
  ['nothing to remember', object('ControllerRevision', { revision: 1 }), ['Required data']],
  ['a negative number', object('ControllerRevision', { revision: -1, data: { a: 1 } }), ['Invalid revision']],
];

const JOBS: readonly Refusal[] = [
  [
    'negative counts',
    job({
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
    }),
    [
      'Invalid spec.activeDeadlineSeconds',
      'Invalid spec.backoffLimit',
      'Invalid spec.completions',
      'Invalid spec.parallelism',
      'Invalid spec.ttlSecondsAfterFinished',
    ],
  ],
  [
    'pods that never end',
    job({}, { restartPolicy: 'Always' }),
    ['Required spec.template.spec.restartPolicy'],
  ],
  [
    "another Job's selector",
    job({ selector: { matchLabels: { 'controller-uid': 'x' } } }),
    ['Invalid spec.selector', LABELS],
  ],
  [
    "another Job's labels",
    job({
      template: {
        ...template({ restartPolicy: 'Never' }),
        metadata: { labels: { 'controller-uid': 'x', 'job-name': 'y' } },
      },
    }),
    [
      LABELS,
      'Invalid spec.template.metadata.labels[controller-uid]',
      'Invalid spec.template.metadata.labels[job-name]',
    ],
  ],
  ['a manual selector that is absent', job({ manualSelector: true }), [LABELS, 'Required spec.selector']],
  [
    'a manual selector of other pods',
    job({ manualSelector: true, selector: { matchLabels: { app: 'y' } } }),
    [LABELS],
  ],
];

const CRON_JOBS: readonly Refusal[] = [
  ['no schedule', cronJob({ schedule: '' }), ['Required spec.schedule']],
  ['a schedule of nonsense', cronJob({ schedule: 'daily' }), ['Invalid spec.schedule']],
  ['an unknown policy', cronJob({ concurrencyPolicy: 'Odd' }), ['NotSupported spec.concurrencyPolicy']],
  [
    'negative counts',
    cronJob({ startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
    [
      'Invalid spec.failedJobsHistoryLimit',
      'Invalid spec.startingDeadlineSeconds',
      'Invalid spec.successfulJobsHistoryLimit',
    ],
  ],
  ['a selector', cronJob({}, { selector }), ['Invalid spec.jobTemplate.spec.selector']],
  [
    'a manual selector',
    cronJob({}, { manualSelector: true }),
    ['NotSupported spec.jobTemplate.spec.manualSelector'],
  ],
  [
    'an empty mode of completion',
    cronJob({}, { completionMode: '' }),
    ['NotSupported spec.jobTemplate.spec.completionMode'],
  ],
  [
    'pods that never end',
    cronJob({}, { template: template() }),
    ['Required spec.jobTemplate.spec.template.spec.restartPolicy'],
  ],
  [
    'a name that is too long for its jobs',
    { ...cronJob(), metadata: { name: 'a'.repeat(53) } },
    ['Invalid metadata.name'],
  ],
];

describe.each<[Kind, readonly Refusal[]]>([
  ['Deployment', DEPLOYMENTS],
  ['ReplicaSet', REPLICA_SETS],
  ['DaemonSet', DAEMON_SETS],
  ['StatefulSet', STATEFUL_SETS],
  ['ReplicationController', CONTROLLERS],
  ['PodTemplate', TEMPLATES],
  ['ControllerRevision', REVISIONS],
  ['Job', JOBS],
  ['CronJob', CRON_JOBS],
])('a %s', (kind, refusals) => {
  test.each(refusals)('is refused for %s', async (_title, body, causes) => {
    expect(await refusalOf(api, URL[kind], body)).toEqual([...causes].sort());
  });
});

describe('what passes', () => {
  test.each<[string, Kind, JsonObject]>([
    ['a plain Deployment', 'Deployment', workload('Deployment', {})],
    [
      'a Deployment with a strategy',
      'Deployment',
      workload('Deployment', {
        replicas: 3,
        ...rolling({ maxSurge: '50%', maxUnavailable: 0 }),
        progressDeadlineSeconds: 60,
      }),
    ],
    ['a Deployment that recreates', 'Deployment', workload('Deployment', { strategy: { type: 'Recreate' } })],
    ['a DaemonSet', 'DaemonSet', workload('DaemonSet', dsRolling({ maxUnavailable: '10%' }))],
    [
      'a StatefulSet whose template has no containers',
      'StatefulSet',
      workload('StatefulSet', { template: template({ containers: [] }) }),
    ],
    [
      'a StatefulSet with claims',
      'StatefulSet',
      workload('StatefulSet', {
        serviceName: 'db',
        podManagementPolicy: 'Parallel',
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }),
    ],
    [
      'a ReplicaSet by expressions',
      'ReplicaSet',
      workload('ReplicaSet', {
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] },
      }),
    ],
    [
      'a ReplicationController that takes its labels',
      'ReplicationController',
      object('ReplicationController', { spec: { template: template() } }),
    ],
    ['a PodTemplate', 'PodTemplate', object('PodTemplate', { template: template() })],
    [
      'a ControllerRevision',
      'ControllerRevision',
      object('ControllerRevision', { revision: 0, data: { spec: {} } }),
    ],
    ['a Job', 'Job', job({ completions: 3, parallelism: 2, ttlSecondsAfterFinished: 60 })],
    ['a Job with a manual selector', 'Job', job({ manualSelector: true, selector })],
    ['a CronJob', 'CronJob', cronJob({ schedule: '*/10 8-18 * * mon-fri', concurrencyPolicy: 'Forbid' })],
  ])('%s', async (_title, kind, body) => {
    expect(await refusalOf(api, URL[kind], body)).toEqual(['201 ']);
  });
});

async function created(
  kind: Kind,
  body: JsonObject,
): Promise<{ readonly url: string; readonly json: JsonObject }> {
  const reply = await api.call('POST', URL[kind], { body });
  expect(causesOf(reply)).toEqual(['201 ']);
  return { url: `${URL[kind]}/${String(reply.json.metadata.name)}`, json: reply.json };
}

test('the kind and version of the claims of a StatefulSet may be left out or added at any time', async () => {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const typed = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claim };
  for (const [before, after] of [
    [claim, typed],
    [typed, claim],
  ] as const) {
    const body = workload('StatefulSet', { volumeClaimTemplates: [before] });
    const { url } = await created('StatefulSet', body);
    const spec = { ...(body['spec'] as JsonObject), volumeClaimTemplates: [after] };
    const reply = await api.call('PUT', url, { body: { ...body, spec } });
    expect(causesOf(reply)).toEqual(['200 ']);
    expect(reply.json.spec.volumeClaimTemplates).toMatchObject([typed]);
  }
});

describe('a change', () => {
  test.each<[Kind, JsonObject, readonly string[]]>([
    [
      'Deployment',
      { spec: { selector: { matchLabels: { app: 'y' } }, template: { metadata: { labels: { app: 'y' } } } } },
      ['Invalid spec.selector'],
    ],
    [
      'ReplicaSet',
      { spec: { selector: { matchLabels: { app: 'y' } }, template: { metadata: { labels: { app: 'y' } } } } },
      ['Invalid spec.selector'],
    ],
    [
      'DaemonSet',
      { spec: { selector: { matchLabels: { app: 'y' } }, template: { metadata: { labels: { app: 'y' } } } } },
      ['Invalid spec.selector'],
    ],
    ['StatefulSet', { spec: { serviceName: 'other' } }, ['Forbidden spec']],
  ])('of what a %s is made for is refused', async (kind, patch, causes) => {
    const { url } = await created(kind, workload(kind, {}));
    expect(causesOf(await api.call('PATCH', url, { body: patch }))).toEqual(causes);
  });

  test('of what a Job makes is refused, of how many at a time is not', async () => {
    const { url } = await created('Job', job({ completions: 2 }));
    const patch = { spec: { completions: 3, template: { spec: { schedulerName: 'x' } } } };
    expect(causesOf(await api.call('PATCH', url, { body: patch }))).toEqual([
      'Invalid spec.completions',
      'Invalid spec.template',
    ]);
    expect((await api.call('PATCH', url, { body: { spec: { parallelism: 5 } } })).code).toBe(200);
  });

  test('of what a ControllerRevision remembers is refused', async () => {
    const { url } = await created(
      'ControllerRevision',
      object('ControllerRevision', { revision: 1, data: { a: 1 } }),
    );
    const refused = await api.call('PATCH', url, { body: { data: { a: 2 } } });
    expect(causesOf(refused)).toEqual(['Invalid data']);
    const raw = '0x7b, 0x22, 0x61, 0x22, 0x3a, 0x32, 0x7d';
    expect(refused.json.message).toContain(
      `data: Invalid value: runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:[]uint8{${raw}}, ContentEncoding:"", ContentType:"application/json"}: field is immutable`,
    );
    const long = await api.call('PATCH', url, { body: { data: { a: 'x'.repeat(20_000) } } });
    expect(long.json.message).toContain('data: Invalid value: {"a":"xxx');
    expect((await api.call('PATCH', url, { body: { revision: 2 } })).code).toBe(200);
  });
});

describe('the server', () => {
  test('gives a Job the selector and labels that single out its pods', async () => {
    const { json } = await created('Job', job());
    const { uid, name } = json['metadata'] as { uid: string; name: string };
    expect(json['spec']).toMatchObject({
      selector: { matchLabels: { 'controller-uid': uid } },
      template: { metadata: { labels: { app: 'x', 'controller-uid': uid, 'job-name': name } } },
    });
    const { json: bare } = await created(
      'Job',
      object('Job', { spec: { template: template({ restartPolicy: 'Never' }, {}) } }),
    );
    expect(Object.keys((bare['metadata'] as { labels: JsonObject }).labels)).toEqual([
      'controller-uid',
      'job-name',
    ]);
  });

  test('counts the changes of a Deployment, annotations among them, and not those of its status or labels', async () => {
    const { url, json } = await created('Deployment', workload('Deployment', {}));
    expect(json['metadata']).toMatchObject({ generation: 1 });
    const generation = async (path: string, body: unknown): Promise<number> => {
      const reply = await api.call('PATCH', path, { body });
      expect(reply.code).toBe(200);
      return reply.json.metadata.generation as number;
    };
    expect(await generation(url, { metadata: { labels: { a: 'b' } } })).toBe(1);
    expect(await generation(`${url}/status`, { status: { replicas: 1, observedGeneration: 1 } })).toBe(1);
    expect(await generation(url, { metadata: { annotations: { a: 'b' } } })).toBe(2);
    expect(await generation(url, { spec: { replicas: 2 } })).toBe(3);
  });

  test('counts the templates of a DaemonSet in an annotation that clients cannot change', async () => {
    const key = 'deprecated.daemonset.template.generation';
    const { url, json } = await created('DaemonSet', workload('DaemonSet', {}));
    expect(json['metadata']).toMatchObject({ annotations: { [key]: '1' }, generation: 1 });
    const other = await api.call('PATCH', url, { body: { metadata: { annotations: { [key]: '9' } } } });
    expect(other.json.metadata).toMatchObject({ annotations: { [key]: '1' }, generation: 1 });
    const next = await api.call('PATCH', url, { body: { spec: { template: { spec: { hostPID: true } } } } });
    expect(next.json.metadata).toMatchObject({ annotations: { [key]: '2' }, generation: 2 });
    const slower = await api.call('PATCH', url, { body: { spec: { minReadySeconds: 5 } } });
    expect(slower.json.metadata).toMatchObject({ annotations: { [key]: '2' }, generation: 3 });
    const status = await api.call('PATCH', `${url}/status`, {
      body: { metadata: { annotations: { [key]: null } } },
    });
    expect(status.json.metadata).toMatchObject({ annotations: { [key]: '2' }, generation: 3 });
  });

  test.each([
    ['web', 'invalid syntax'],
    ['', 'invalid syntax'],
    ['9223372036854775808', 'value out of range'],
    ['99999999999999999999', 'value out of range'],
  ])('takes %j for no count of the templates of a DaemonSet', async (given, why) => {
    const annotations = { 'deprecated.daemonset.template.generation': given };
    const message = `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "${given}": ${why}`;
    const { metadata, ...rest } = workload('DaemonSet', {});
    const body = { ...rest, metadata: { ...(metadata as JsonObject), annotations } };
    const refused = await api.call('POST', URL.DaemonSet, { body });
    expect([refused.code, refused.json.message]).toEqual([400, message]);
    const { url, json } = await created('DaemonSet', workload('DaemonSet', {}));
    const changed = await api.call('PUT', url, {
      body: { ...json, metadata: { ...(json['metadata'] as JsonObject), annotations } },
    });
    expect([changed.code, changed.json.message]).toEqual([400, message]);
  });

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['+003', '3'],
    ['-5', '1'],
  ])('counts the templates of a DaemonSet from %s as %s', async (given, first) => {
    const key = 'deprecated.daemonset.template.generation';
    const { metadata, ...rest } = workload('DaemonSet', {});
    const { json } = await created('DaemonSet', {
      ...rest,
      metadata: { ...(metadata as JsonObject), annotations: { [key]: given } },
    });
    expect(json['metadata']).toMatchObject({ annotations: { [key]: first } });
  });

  test.each<[Kind, JsonObject, readonly string[]]>([
    [
      'Deployment',
      { replicas: 1, readyReplicas: 2, availableReplicas: -1 },
      ['Invalid status.availableReplicas', 'Invalid status.readyReplicas'],
    ],
    [
      'ReplicaSet',
      { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
      ['Invalid status.availableReplicas'],
    ],
    [
      'StatefulSet',
      { replicas: 1, currentReplicas: 2, updatedReplicas: 2 },
      ['Invalid status.currentReplicas', 'Invalid status.updatedReplicas'],
    ],
    ['DaemonSet', { numberReady: -1 }, ['Invalid status.numberReady']],
  ])('refuses a status of a %s that cannot be', async (kind, status, causes) => {
    const { url } = await created(kind, workload(kind, {}));
    expect(causesOf(await api.call('PATCH', `${url}/status`, { body: { status } }))).toEqual(causes);
  });

  test('drops what belongs to features that are off in this release', async () => {
    const { json } = await created('Job', job({ completionMode: 'Indexed', completions: 1, suspend: true }));
    expect(json['spec']).not.toHaveProperty('completionMode');
    expect(json['spec']).not.toHaveProperty('suspend');
  });
});
