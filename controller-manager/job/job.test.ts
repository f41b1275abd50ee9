import { RESOURCE } from '../../shared/api/resource-names';
import type { Job, JobSpec } from '../../shared/api/types/batch-v1';
import type { Pod, PodStatus } from '../../shared/api/types/core-v1';
import { loadAtLevel } from '../../shared/testing/load-at-level';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import type * as WorkloadBenchModule from '../testing/workload-bench';
import type * as JobModule from './job';
import { failureAnnotations, finishedMs, NO_FAILURES, recordAfter, remainingMs } from './backoff';
import { IndexSet } from './indexes';
import { decideFailure, metSuccessRule } from './policies';

const modulesAt = (level: string) =>
  loadAtLevel(level, () => ({
    ...jest.requireActual<typeof WorkloadBenchModule>('../testing/workload-bench'),
    ...jest.requireActual<typeof JobModule>('./job'),
  }));
const OLD = modulesAt('1.21');
const NEW = modulesAt('1.36');
const { createWorkloadBench, podTemplate, runJobs } = NEW;

const JOBS = RESOURCE.jobs;
const template = {
  ...podTemplate({ app: 'work' }),
  spec: { ...podTemplate({}).spec, restartPolicy: 'Never' },
};
const jobOf = (spec: Partial<JobSpec>): { readonly spec: JobSpec } => ({ spec: { template, ...spec } });
const conditionsOf = ({ status }: Job): readonly string[] =>
  (status?.conditions ?? []).map(({ type, status: value, reason = '' }) =>
    `${type}=${value} ${reason}`.trim(),
  );
const exited = (exitCode: number): Partial<PodStatus> => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  conditions: [],
  containerStatuses: [
    {
      name: 'web',
      image: 'web:1',
      imageID: '',
      ready: false,
      lastState: {},
      restartCount: 0,
      state: { terminated: { exitCode, startedAt: null, finishedAt: '2021-01-01T00:00:00Z' } },
    },
  ],
});

describe.each([
  ['that counts pods as v1.21', false],
  ['that tracks pods by finalizers', true],
])('the controller %s', (_which, isModern) => {
  let bench: WorkloadBenchModule.WorkloadBench;
  let running: Pod[];
  beforeEach(async () => {
    const modules = isModern ? NEW : OLD;
    bench = await modules.createWorkloadBench();
    running = [];
    bench.run(
      async (context, signal) => modules.runJobs(context, signal, { batchMs: 0, isModern }),
      'job-controller',
    );
  });
  afterEach(async () => bench.close());

  /** Waits until there are so many active pods. */
  const whenActive = async (count: number): Promise<readonly Pod[]> => {
    await bench.whenList<Pod>(RESOURCE.pods, `${String(count)} active pods`, (pods) => {
      running = pods.filter(
        ({ metadata, status }) =>
          (status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined,
      );
      return running.length === count;
    });
    return running;
  };
  const indexOf = (pod: Pod | undefined): string | undefined =>
    pod?.metadata.annotations?.[WORKLOAD_ANNOTATION.completionIndex];
  const whenJob = async (holds: (job: Job) => boolean): Promise<Job> => bench.whenObject(JOBS, 'j', holds);
  const isEnded = (job: Job): boolean =>
    conditionsOf(job).some((each) => /^(?:Complete|Failed)=True/u.test(each));

  test('completes when enough pods have succeeded', async () => {
    await bench.make(JOBS, 'j', jobOf({ completions: 3, parallelism: 2 }));
    for (const pod of await whenActive(2)) await bench.setPodStatus(pod, exited(0));
    for (const pod of await whenActive(1)) await bench.setPodStatus(pod, exited(0));
    const job = await whenJob(isEnded);
    expect(job.status).toMatchObject({ succeeded: 3, startTime: expect.any(String) as string });
    expect(job.status?.completionTime).toBeDefined();
    expect(job.status?.active ?? 0).toBe(0);
    expect(conditionsOf(job)).toEqual(
      isModern
        ? ['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached']
        : ['Complete=True'],
    );
    await bench.whenList(RESOURCE.pods, 'pods without finalizers', (pods) =>
      pods.every(({ metadata }) => metadata.finalizers === undefined),
    );
  });

  test('fails at the backoff limit, and deletes what is active', async () => {
    await bench.make(JOBS, 'j', jobOf({ completions: 2, parallelism: 2, backoffLimit: 0 }));
    const [first] = await whenActive(2);
    await bench.setPodStatus(first as Pod, exited(1));
    const job = await whenJob(isEnded);
    expect(job.status?.failed).toBe(2);
    expect(conditionsOf(job)).toEqual([
      ...(isModern ? ['FailureTarget=True BackoffLimitExceeded'] : []),
      'Failed=True BackoffLimitExceeded',
    ]);
    await whenActive(0);
  });

  test('of an indexed Job gives each pod an index, and replaces a failed one', async () => {
    await bench.make(JOBS, 'j', jobOf({ completions: 3, parallelism: 3, completionMode: 'Indexed' }));
    const pods = [...(await whenActive(3))].sort((a, b) => Number(indexOf(a)) - Number(indexOf(b)));
    expect(pods.map(indexOf)).toEqual(['0', '1', '2']);
    expect(pods.map(({ spec }) => spec.hostname)).toEqual(['j-0', 'j-1', 'j-2']);
    expect(pods[1]?.spec.containers?.[0]?.env).toEqual([
      expect.objectContaining({ name: 'JOB_COMPLETION_INDEX' }),
    ]);
    await bench.setPodStatus(pods[0] as Pod, exited(0));
    await bench.setPodStatus(pods[2] as Pod, exited(0));
    await whenJob(({ status }) => status?.completedIndexes === '0,2');
    await bench.setPodStatus(pods[1] as Pod, exited(0));
    const job = await whenJob(isEnded);
    expect(job.status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
  });

  test('deletes the pods of a suspended Job and starts again when it is resumed', async () => {
    await bench.make(JOBS, 'j', jobOf({ parallelism: 2 }));
    await whenActive(2);
    await bench.change(JOBS, 'j', { spec: { suspend: true } });
    await whenActive(0);
    await whenJob((job) => conditionsOf(job).includes('Suspended=True JobSuspended'));
    await bench.change(JOBS, 'j', { spec: { suspend: false } });
    await whenActive(2);
    const job = await whenJob((each) => conditionsOf(each).includes('Suspended=False JobResumed'));
    expect(job.status?.failed ?? 0).toBe(0);
  });

  test('fails a Job at its deadline', async () => {
    await bench.make(JOBS, 'j', jobOf({ activeDeadlineSeconds: 1 }));
    const job = await whenJob(isEnded);
    expect(conditionsOf(job).at(-1)).toBe('Failed=True DeadlineExceeded');
  });
});

describe('the controller at API level 1.36', () => {
  let bench: WorkloadBenchModule.WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    bench.run(
      async (context, signal) => runJobs(context, signal, { batchMs: 0, isModern: true }),
      'job-controller',
    );
  });
  afterEach(async () => bench.close());

  test('counts a pod once that is deleted after it ended', async () => {
    await bench.make(JOBS, 'j', jobOf({ completions: 2, parallelism: 1 }));
    const [pod] = await bench.whenList<Pod>(RESOURCE.pods, 'a pod', (pods) => pods.length === 1);
    await bench.setPodStatus(pod as Pod, exited(0));
    await bench.remove(RESOURCE.pods, pod?.metadata.name ?? '');
    const job = await bench.whenObject(
      JOBS,
      'j',
      ({ status }) => status?.succeeded === 1 && status.active === 1,
    );
    expect(job.status?.uncountedTerminatedPods ?? {}).toEqual({});
  });

  test('leaves a Job that another controller manages alone', async () => {
    await bench.make(JOBS, 'other', jobOf({ managedBy: 'example.com/jobs' }));
    await bench.make(JOBS, 'own', jobOf({}));
    const pods = await bench.whenList<Pod>(RESOURCE.pods, 'a pod', (all) => all.length > 0);
    expect(pods.map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(['own']);
  });

  test('releases the pods of a Job that is deleted without them', async () => {
    await bench.make(JOBS, 'j', jobOf({}));
    await bench.whenList(
      RESOURCE.pods,
      'a pod with a finalizer',
      ([pod]) => pod?.metadata.finalizers?.length === 1,
    );
    await bench.remove(JOBS, 'j', { propagationPolicy: 'Background' });
    const [released] = await bench.whenList(
      RESOURCE.pods,
      'no finalizer',
      ([pod]) => pod?.metadata.finalizers === undefined,
    );
    expect(released?.metadata.ownerReferences?.[0]?.name).toBe('j');
  });
});

describe('indexes', () => {
  test.each([
    ['', 5, '', 0],
    ['1,3-5,7', 10, '1,3-5,7', 5],
    ['0,1,2', 10, '0-2', 3],
    ['0-9', 4, '0-3', 4],
    ['x,2,-', 4, '2', 1],
    ['3,1', 9, '1,3', 2],
  ])('%s of %d are %s', (text, completions, normal, size) => {
    const set = IndexSet.parse(text, completions);
    expect([set.toString(), set.size]).toEqual([normal, size]);
  });

  test('the missing ones are the lowest', () => {
    expect(IndexSet.parse('0,2-3', 9).missing(3, 9)).toEqual([1, 4, 5]);
    expect(IndexSet.EMPTY.missing(5, 2)).toEqual([0, 1]);
    expect(IndexSet.parse('0-1', 2).missing(1, 2)).toEqual([]);
  });
});

const pod = (parts: Partial<PodStatus>, annotations: Readonly<Record<string, string>> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', creationTimestamp: '2021-01-01T00:00:00Z', annotations },
  spec: { containers: [] },
  status: parts,
});
const job = (spec: Partial<JobSpec>): Job => ({ metadata: { name: 'j' }, ...jobOf(spec) });

describe('the failure policy', () => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'web', operator: 'In', values: [42] } },
    { action: 'FailIndex', onExitCodes: { operator: 'In', values: [7] } },
    { action: 'Count', onExitCodes: { operator: 'NotIn', values: [1] } },
  ];
  const subject = job({ podFailurePolicy: { rules } });
  const disrupted = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: null,
  };

  test.each([
    [
      'ignores a disruption',
      pod({ ...exited(42), conditions: [disrupted] }),
      { counts: false, action: 'Ignore' },
    ],
    [
      'fails the Job',
      pod(exited(42)),
      {
        counts: true,
        action: 'FailJob',
        failsJob: 'Container web for pod n/p failed with exit code 42 matching FailJob rule at index 1',
      },
    ],
    ['fails the index', pod(exited(7)), { counts: true, action: 'FailIndex' }],
    ['counts', pod(exited(9)), { counts: true, action: 'Count' }],
    ['has no rule', pod(exited(1)), { counts: true }],
  ])('%s', (_what, failed, decision) => {
    expect(decideFailure(subject, failed)).toEqual(decision);
  });
});

test.each([
  ['an index of several', { succeededIndexes: '0-2', succeededCount: 1 }, '1', 'Matched rules at index 0'],
  ['all of the listed', { succeededIndexes: '0-1' }, '0-1', 'Matched rules at index 0'],
  ['not all of the listed', { succeededIndexes: '0-1' }, '0', undefined],
  ['a number of any', { succeededCount: 2 }, '3,4', 'Matched rules at index 0'],
])('the success policy demands %s', (_what, rule, succeeded, message) => {
  const subject = job({ completions: 5, successPolicy: { rules: [rule] } });
  expect(metSuccessRule(subject, IndexSet.parse(succeeded, 5))).toBe(message);
});

describe('backoff', () => {
  const at = (finishedAt: string): Pod => {
    const { containerStatuses = [] } = exited(1);
    const terminated = { exitCode: 1, startedAt: null, finishedAt };
    return pod({ containerStatuses: containerStatuses.map((each) => ({ ...each, state: { terminated } })) });
  };
  const first = at('2021-01-01T00:00:00Z');
  const second = at('2021-01-01T00:01:00Z');

  test('failures add up and end with a success', () => {
    const after = recordAfter(NO_FAILURES, { succeeded: [], failed: [first, second] });
    expect(after).toEqual({ failures: 2, lastMs: finishedMs(second) });
    expect(recordAfter(after, { succeeded: [second], failed: [first] })).toEqual(NO_FAILURES);
    expect(recordAfter(NO_FAILURES, { succeeded: [first], failed: [second] }).failures).toBe(1);
  });

  test.each([
    [0, 0],
    [1, 10_000],
    [3, 40_000],
    [20, 600_000],
  ])('%d failures wait for %d ms', (failures, waitMs) => {
    expect(remainingMs({ failures, lastMs: 5_000 }, 5_000)).toBe(waitMs);
    expect(remainingMs({ failures, lastMs: 5_000 }, 5_000 + waitMs)).toBe(0);
  });

  test('the pod after a failed one counts the failures of its index', () => {
    const subject = job({ completionMode: 'Indexed', backoffLimitPerIndex: 3 });
    const failed = pod(exited(1), { [WORKLOAD_ANNOTATION.indexFailures]: '2' });
    expect(failureAnnotations(subject, failed)).toEqual({ [WORKLOAD_ANNOTATION.indexFailures]: '3' });
    expect(failureAnnotations(subject, undefined)).toEqual({ [WORKLOAD_ANNOTATION.indexFailures]: '0' });
  });
});
