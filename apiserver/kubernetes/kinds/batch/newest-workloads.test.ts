import { NEWEST_LEVEL } from '../../../testing/kinds/newest-level';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { causesOf } from '../../../testing/kinds/refusals';

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const CRON_JOBS = '/apis/batch/v1/namespaces/default/cronjobs';
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

const containers = [{ name: 'c', image: 'i' }];
const template = { spec: { restartPolicy: 'Never', containers } };
const indexed = { completionMode: 'Indexed', completions: 5 };
const labels = { a: 'b' };
const setOf = (spec: object): object => ({
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers } },
  ...spec,
});
const failing = (rule: object): object => ({ template, podFailurePolicy: { rules: [rule] } });
const codes = (values: readonly number[]): object => ({ operator: 'In', values });

let count = 0;
async function create(url: string, spec: object, more: object = {}): ReturnType<InProcessApi['call']> {
  count += 1;
  return api.call('POST', url, { body: { metadata: { name: `w${String(count)}` }, spec, ...more } });
}

test.each<readonly [url: string, spec: object, causes: readonly string[]]>([
  [JOBS, { template, backoffLimitPerIndex: 1 }, ['Invalid spec.backoffLimitPerIndex']],
  [JOBS, { template, ...indexed, maxFailedIndexes: 1 }, ['Required spec.backoffLimitPerIndex']],
  [JOBS, { template, managedBy: 'x' }, ['Invalid spec.managedBy']],
  [JOBS, { template, successPolicy: { rules: [{}] } }, ['Invalid spec.successPolicy']],
  [
    JOBS,
    { template, ...indexed, successPolicy: { rules: [{ succeededIndexes: '1,3-9' }] } },
    ['Invalid spec.successPolicy.rules[0].succeededIndexes'],
  ],
  [
    JOBS,
    { template, ...indexed, successPolicy: { rules: [{ succeededIndexes: '1-2', succeededCount: 3 }] } },
    ['Invalid spec.successPolicy.rules[0].succeededCount'],
  ],
  [
    JOBS,
    failing({ action: 'FailIndex', onExitCodes: codes([1]) }),
    ['Invalid spec.podFailurePolicy.rules[0].action'],
  ],
  [JOBS, failing({ action: 'FailJob' }), ['Invalid spec.podFailurePolicy.rules[0]']],
  [
    JOBS,
    failing({ action: 'FailJob', onExitCodes: codes([3, 2, 2]) }),
    [
      'Duplicate spec.podFailurePolicy.rules[0].onExitCodes.values[2]',
      'Invalid spec.podFailurePolicy.rules[0].onExitCodes.values',
    ],
  ],
  [
    JOBS,
    {
      ...failing({ action: 'FailJob', onExitCodes: codes([1]) }),
      podReplacementPolicy: 'TerminatingOrFailed',
    },
    ['NotSupported spec.podReplacementPolicy'],
  ],
  [
    CRON_JOBS,
    { schedule: '* * * * *', timeZone: 'Nowhere/City', jobTemplate: { spec: { template } } },
    ['Invalid spec.timeZone'],
  ],
  [
    CRON_JOBS,
    { schedule: '* * * * *', timeZone: '+0100', jobTemplate: { spec: { template } } },
    ['Invalid spec.timeZone'],
  ],
  [
    CRON_JOBS,
    { schedule: 'TZ=UTC * * * * *', jobTemplate: { spec: { template } } },
    ['Invalid spec.schedule'],
  ],
  [STATEFUL_SETS, setOf({ ordinals: { start: -1 } }), ['Invalid spec.ordinals.start']],
  [
    STATEFUL_SETS,
    setOf({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'x' } }),
    ['NotSupported spec.persistentVolumeClaimRetentionPolicy.whenScaled'],
  ],
  [STATEFUL_SETS, setOf({ serviceName: 'a.b' }), ['Invalid spec.serviceName']],
  [
    STATEFUL_SETS,
    setOf({ template: { metadata: { labels }, spec: { containers: [{ name: 'c' }] } } }),
    ['Required spec.template.spec.containers[0].image'],
  ],
  [
    AUTOSCALERS,
    { maxReplicas: 0, scaleTargetRef: { kind: 'D', name: 'd' } },
    ['Invalid spec.maxReplicas', 'Invalid spec.scaleTargetRef.apiVersion', 'Required spec.maxReplicas'],
  ],
])(`at ${NEWEST_LEVEL}, %s with %j is refused: %j`, async (url, spec, causes) => {
  expect(causesOf(await create(`${url}?dryRun=All`, spec))).toEqual(causes);
});

test('a Job gets the defaults and labels of its level, and counts its changes', async () => {
  const { json } = await create(JOBS, { template, ...indexed, backoffLimitPerIndex: 1 });
  expect(json.metadata.generation).toBe(1);
  expect(json.spec).toMatchObject({
    backoffLimit: 2_147_483_647,
    podReplacementPolicy: 'TerminatingOrFailed',
    suspend: false,
    manualSelector: false,
  });
  expect(Object.keys(json.spec.selector.matchLabels)).toEqual(['batch.orch/controller-uid']);
  expect(Object.keys(json.spec.template.metadata.labels).sort()).toEqual(
    ['batch.orch/controller-uid', 'batch.orch/job-name', 'controller-uid', 'job-name'].sort(),
  );
  const url = `${JOBS}/${String(json.metadata.name)}`;
  const wrong = await api.call('PATCH', url, { body: { spec: { completions: 6 } } });
  expect(causesOf(wrong)).toEqual(['Invalid spec.completions']);
  const both = await api.call('PATCH', url, { body: { spec: { completions: 6, parallelism: 6 } } });
  expect([both.code, both.json.metadata.generation]).toEqual([200, 2]);
});

test('the pods of a suspended Job may get other nodes and resources, and nothing else', async () => {
  const { json } = await create(JOBS, { template, suspend: true });
  const url = `${JOBS}/${String(json.metadata.name)}`;
  const change = async (spec: object): ReturnType<InProcessApi['call']> =>
    api.call('PATCH', url, { body: { spec: { template: { spec } } } });
  expect((await change({ nodeSelector: { a: 'b' } })).code).toBe(200);
  const resources = { limits: { cpu: '1' } };
  expect((await change({ containers: [{ ...containers[0], resources }] })).code).toBe(200);
  const other = await change({ hostPID: true });
  expect(causesOf(other)).toEqual(['Invalid spec.template.spec']);
  await api.call('PATCH', url, { body: { spec: { suspend: false } } });
  expect(causesOf(await change({ nodeSelector: { c: 'd' } }))).toEqual(['Invalid spec.template']);
});

test('the status of a Job ends once, and with all that belongs to it', async () => {
  const { json } = await create(JOBS, { template });
  const url = `${JOBS}/${String(json.metadata.name)}/status`;
  const patch = async (status: object): ReturnType<InProcessApi['call']> =>
    api.call('PATCH', url, { body: { status } });
  const met = { type: 'SuccessCriteriaMet', status: 'True' };
  const complete = { type: 'Complete', status: 'True' };
  const startTime = '2026-01-02T03:04:05Z';
  expect(causesOf(await patch({ conditions: [complete] }))).toEqual([
    'Invalid status.conditions',
    'Required status.completionTime',
    'Required status.startTime',
  ]);
  const early = { startTime, completionTime: '2026-01-01T00:00:00Z', conditions: [met, complete] };
  expect(causesOf(await patch(early))).toEqual(['Invalid status.completionTime']);
  const done = { ...early, completionTime: '2026-01-03T00:00:00Z', succeeded: 1 };
  expect((await patch(done)).code).toBe(200);
  expect(causesOf(await patch({ conditions: [met], completionTime: null, succeeded: 0 }))).toEqual([
    'Invalid status.conditions',
    'Invalid status.succeeded',
  ]);
});

test('a StatefulSet mounts the volumes of its claims, and keeps claims by default', async () => {
  const mounting = [{ ...containers[0], volumeMounts: [{ name: 'data', mountPath: '/d' }] }];
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const set = setOf({
    template: { metadata: { labels }, spec: { containers: mounting } },
    volumeClaimTemplates: [claim],
  });
  const { code, json } = await create(STATEFUL_SETS, set);
  expect([code, json.message]).toEqual([201, undefined]);
  expect(json.spec.persistentVolumeClaimRetentionPolicy).toEqual({
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  });
  const url = `${STATEFUL_SETS}/${String(json.metadata.name)}`;
  const patched = await api.call('PATCH', url, {
    body: { spec: { ordinals: { start: 3 }, minReadySeconds: 1 } },
  });
  expect(patched.code).toBe(200);
});
