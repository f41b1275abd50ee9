import type { Pod, PodSpec } from '../../shared/api/types/core-v1';
import { formatTime } from '../../shared/meta/time';
import { KWOK_DOMAIN } from '../../shared/names';
import { advancePod } from './pod-status';

const PLACE = { hostIP: '127.0.0.1', podIP: '10.244.0.1' };
const START_MS = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number): number => START_MS + seconds * 1_000;

interface Shape {
  readonly spec?: Partial<PodSpec>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string;
}

function podOf({ spec = {}, labels = {}, annotations = {}, owner }: Shape): Pod {
  const own = (words: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(words).map(([key, value]) => [
        key.replace(/^([a-z-]+)(\/|$)/u, `$1.stage.${KWOK_DOMAIN}$2`),
        value,
      ]),
    );
  return {
    metadata: {
      name: 'web',
      namespace: 'team',
      uid: 'u',
      creationTimestamp: formatTime(START_MS),
      labels: own(labels),
      annotations: own(annotations),
      ...(owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'v1', kind: owner, name: 'o', uid: 'o' }] }),
    },
    spec: { containers: [{ name: 'a', image: 'x', resources: {} }], ...spec },
  };
}

/** Lets a pod live until a moment, moving from one due time to the next; returns what it was meanwhile. */
function live(pod: Pod, untilSeconds: number): { readonly pod: Pod; readonly history: readonly string[] } {
  let current = pod;
  let nowMs = START_MS;
  const history: string[] = [];
  for (;;) {
    const { status, dueAtMs } = advancePod(current, PLACE, nowMs);
    current = { ...current, status };
    history.push(`${String((nowMs - START_MS) / 1_000)} ${summaryOf(current)}`);
    if (dueAtMs === undefined || dueAtMs > at(untilSeconds)) return { pod: current, history };
    expect(dueAtMs).toBeGreaterThan(nowMs);
    nowMs = dueAtMs;
  }
}

/** `Running/True a=running*1`: phase, condition Ready, and each container with the number of its restarts. */
function summaryOf({ status }: Pod): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '';
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
    ({ name, state, restartCount }) => {
      const { terminated, waiting } = state;
      const word =
        terminated === undefined ? (waiting?.reason ?? 'running') : `exit ${String(terminated.exitCode)}`;
      return `${name}=${word}${restartCount === 0 ? '' : `*${String(restartCount)}`}`;
    },
  );
  return `${status?.phase ?? ''}/${ready} ${containers.join(' ')}`;
}

test.each<[title: string, shape: Shape, history: readonly string[]]>([
  ['without rules a pod runs at once, and for ever', {}, ['0 Running/True a=running']],
  [
    'a delay of readiness keeps it pending',
    { annotations: { 'pod-ready/delay': '2s' } },
    ['0 Pending/False a=ContainerCreating', '2 Running/True a=running'],
  ],
  [
    'a pod of a Job completes after a second',
    { owner: 'Job', spec: { restartPolicy: 'Never' } },
    ['0 Running/True a=running', '1 Succeeded/False a=exit 0'],
  ],
  [
    'a failing container without a restart fails the pod',
    {
      labels: { 'pod-container-running-failed': 'true' },
      annotations: { 'pod-container-running-failed/exit-code': '7' },
      spec: { restartPolicy: 'Never' },
    },
    ['0 Running/True a=running', '1 Failed/False a=exit 7'],
  ],
  [
    'only the named container fails',
    {
      labels: { 'pod-container-running-failed': 'true' },
      annotations: { 'pod-container-running-failed/container-name': 'b' },
      spec: {
        restartPolicy: 'Never',
        containers: ['a', 'b'].map((name) => ({ name, image: 'x', resources: {} })),
      },
    },
    ['0 Running/True a=running b=running', '1 Running/False a=running b=exit 1'],
  ],
  [
    'OnFailure restarts at once, then with a backoff that doubles',
    {
      annotations: { 'pod-complete/delay': '1s', 'pod-complete/exit-code': '3' },
      spec: { restartPolicy: 'OnFailure' },
    },
    [
      '0 Running/True a=running',
      '1 Running/True a=running*1',
      '2 Running/False a=CrashLoopBackOff*1',
      '12 Running/True a=running*2',
      '13 Running/False a=CrashLoopBackOff*2',
      '33 Running/True a=running*3',
      '34 Running/False a=CrashLoopBackOff*3',
    ],
  ],
  [
    'OnFailure ends with success',
    { annotations: { 'pod-complete/delay': '1s' }, spec: { restartPolicy: 'OnFailure' } },
    ['0 Running/True a=running', '1 Succeeded/False a=exit 0'],
  ],
  [
    'init containers run one after the other',
    {
      annotations: { 'pod-init-container-completed/delay': '2s' },
      spec: { initContainers: ['i', 'j'].map((name) => ({ name, image: 'x', resources: {} })) },
    },
    [
      '0 Pending/False i=running j=PodInitializing a=PodInitializing',
      '2 Pending/False i=exit 0 j=running a=PodInitializing',
      '4 Running/True i=exit 0 j=exit 0 a=running',
    ],
  ],
  [
    'a failing init container fails a pod without restarts',
    {
      labels: { 'pod-init-container-running-failed': 'true' },
      spec: { restartPolicy: 'Never', initContainers: [{ name: 'i', image: 'x', resources: {} }] },
    },
    ['0 Failed/False i=exit 1 a=PodInitializing'],
  ],
  [
    'a pod is stopped at its deadline',
    { spec: { activeDeadlineSeconds: 5, restartPolicy: 'Never' } },
    ['0 Running/True a=running', '5 Failed/False a=exit 143'],
  ],
  [
    'a sidecar runs beside the containers, and ends with them',
    {
      owner: 'Job',
      spec: {
        restartPolicy: 'Never',
        initContainers: [{ name: 's', image: 'x', resources: {}, restartPolicy: 'Always' }],
      },
    },
    ['0 Running/True s=running a=running', '1 Succeeded/False s=exit 0 a=exit 0'],
  ],
  [
    'an annotation makes running containers unready',
    { annotations: { 'pod-ready/ready': 'false' } },
    ['0 Running/False a=running'],
  ],
])('%s', (_title, shape, history) => {
  expect(live(podOf(shape), 50).history).toEqual(history);
});

test.each<[command: readonly string[], history: readonly string[], image?: string]>([
  [
    ['sh', '-c', 'exit 3'],
    ['0 Running', '1 Failed'],
  ],
  [['/bin/false'], ['0 Running', '1 Failed']],
  [
    ['sleep', '30'],
    ['0 Running', '30 Succeeded'],
  ],
  [
    ['sh', '-c', 'sleep 2; sleep 1; exit 0; exit 1'],
    ['0 Running', '3 Succeeded'],
  ],
  [['sleep', '1d'], ['0 Running']],
  [['sleep', 'infinity'], ['0 Running']],
  [['sh', '-c', 'while true; do sleep 1; done'], ['0 Running']],
  [[], ['0 Running'], 'registry:5000/tools/pause:3'],
  [[], ['0 Running'], 'registry/pause@sha256:0'],
  [['serve'], ['0 Running', '1 Succeeded']],
])('a container of a Job ends as its command %j says', (command, history, image = 'x') => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image, command, resources: {} }] };
  const phases = live(podOf({ owner: 'Job', spec }), 50).history.map((line) => line.replace(/\/.*/u, ''));
  expect(phases).toEqual(history);
});

test('the name of an image is read in one pass, however long it is', () => {
  const image = `${'a'.repeat(200_000)}/b/pause`;
  const pod = podOf({ owner: 'Job', spec: { containers: [{ name: 'a', image, resources: {} }] } });
  const spec = { ...pod.spec, restartPolicy: 'Never' };
  expect(advancePod({ ...pod, spec }, PLACE, at(5)).dueAtMs).toBeUndefined();
});

test('another image restarts a container, and a new ephemeral container runs, in the generation of the pod', () => {
  const { pod } = live(podOf({}), 1);
  const changed: Pod = {
    ...pod,
    metadata: { ...pod.metadata, generation: 2 },
    spec: {
      containers: [{ name: 'a', image: 'y', resources: {} }],
      ephemeralContainers: [{ name: 'debug', image: 'z', resources: {} }],
    },
  };
  const { status } = advancePod(changed, PLACE, at(5));
  expect(status).toMatchObject({
    observedGeneration: 2,
    phase: 'Running',
    containerStatuses: [
      { image: 'y', restartCount: 1, ready: true, lastState: { terminated: { exitCode: 143 } } },
    ],
    ephemeralContainerStatuses: [{ name: 'debug', state: { running: {} } }],
  });
  expect(status.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2]);
});

test('a readiness gate is respected, and conditions of other writers stay', () => {
  const spec = { readinessGates: [{ conditionType: 'lb' }] };
  const { pod } = live(podOf({ spec }), 1);
  const readyOf = (each: Pod): object | undefined =>
    each.status?.conditions?.find(({ type }) => type === 'Ready');
  expect(readyOf(pod)).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: 'corresponding condition of pod readiness gate "lb" does not exist.',
  });
  const gate = { type: 'lb', status: 'True', lastProbeTime: null, lastTransitionTime: null };
  const gated = { ...pod, status: { ...pod.status, conditions: [...(pod.status?.conditions ?? []), gate] } };
  const { status } = advancePod(gated, PLACE, at(9));
  expect(readyOf({ ...gated, status })).toMatchObject({
    status: 'True',
    lastTransitionTime: formatTime(at(9)),
  });
  expect(status.conditions).toContainEqual(gate);
});

test('advancing a pod again without a change gives an equal status', () => {
  const { pod } = live(podOf({}), 1);
  expect(advancePod(pod, PLACE, at(30)).status).toEqual(pod.status);
});
