import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION } from '../../../../shared/names';
import { limitRanger } from './limit-ranger';
import { LIMIT_RANGES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const clock = { now: () => 0 };

const rangeOf = (name: string, limits: readonly object[], namespace = 'ns') =>
  [LIMIT_RANGES, { metadata: { name, namespace }, spec: { limits } }] as const;

const podOf = (resources: readonly object[], initResources: readonly object[] = []): ApiObject => ({
  metadata: { name: 'p' },
  spec: {
    containers: resources.map((each, index) => ({ name: `c${String(index)}`, resources: each })),
    ...(initResources.length === 0
      ? {}
      : {
          initContainers: initResources.map((each, index) => ({
            name: `i${String(index)}`,
            resources: each,
          })),
        }),
  },
});

const pod = async (object: ApiObject, ...ranges: ReturnType<typeof rangeOf>[]) =>
  outcomeOf(limitRanger(clock), attributesOf('v1/pods', { object }), clusterOf(ranges));

describe('defaults', () => {
  const range = rangeOf('a', [
    { type: 'Container', default: { cpu: '500m', memory: '256Mi' }, defaultRequest: { cpu: '250m' } },
  ]);

  test('are filled in, and an annotation lists them', async () => {
    const outcome = await pod(
      podOf([{}, { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } }], [{}]),
      range,
    );
    expect(outcome).toMatchObject({
      metadata: {
        annotations: {
          [ANNOTATION.limitRanger]:
            'LimitRanger plugin set: cpu request for container c0; cpu, memory limit for container c0; cpu request for init container i0; cpu, memory limit for init container i0',
        },
      },
      spec: {
        containers: [
          { resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '250m' } } },
          { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } },
        ],
        initContainers: [
          { resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '250m' } } },
        ],
      },
    });
  });

  test('of another namespace do not apply', async () => {
    const object = podOf([{}]);
    expect(await pod(object, rangeOf('a', [{ type: 'Container', default: { cpu: '1' } }], 'other'))).toBe(
      object,
    );
  });
});

describe('limits', () => {
  const container = (limits: object) => rangeOf('a', [{ type: 'Container', ...limits }]);
  const whole = (limits: object) => rangeOf('a', [{ type: 'Pod', ...limits }]);
  const amounts = (limit: string, request = limit) => ({
    limits: { cpu: limit },
    requests: { cpu: request },
  });

  test.each<[string, ApiObject, ReturnType<typeof rangeOf>, string | undefined]>([
    ['at the minimum', podOf([amounts('100m')]), container({ min: { cpu: '0.1' } }), undefined],
    [
      'below the minimum',
      podOf([amounts('200m', '99m')]),
      container({ min: { cpu: '100m' } }),
      'minimum cpu usage per Container is 100m, but request is 99m',
    ],
    [
      'no request where there is a minimum',
      podOf([{}]),
      container({ min: { cpu: '100m' } }),
      'minimum cpu usage per Container is 100m, but no request is specified',
    ],
    ['at the maximum', podOf([amounts('1000m')]), container({ max: { cpu: '1' } }), undefined],
    [
      'above the maximum',
      podOf([amounts('1001m')]),
      container({ max: { cpu: '1' } }),
      'maximum cpu usage per Container is 1, but limit is 1001m',
    ],
    [
      'no limit where there is a maximum',
      podOf([{}]),
      container({ max: { cpu: '1' } }),
      'maximum cpu usage per Container is 1, but no limit is specified',
    ],
    [
      'a request above the maximum',
      podOf([amounts('1', '2')]),
      container({ max: { cpu: '1' } }),
      'but request is 2',
    ],
    [
      'at the ratio',
      podOf([amounts('4', '1')]),
      container({ maxLimitRequestRatio: { cpu: '4' } }),
      undefined,
    ],
    [
      'at a ratio that floating point numbers miss',
      podOf([amounts('9m', '3m')]),
      container({ maxLimitRequestRatio: { cpu: '3' } }),
      undefined,
    ],
    [
      'above the ratio',
      podOf([amounts('5', '1')]),
      container({ maxLimitRequestRatio: { cpu: '4' } }),
      'cpu max limit to request ratio per Container is 4, but provided ratio is 5.000000',
    ],
    [
      'a request of nothing',
      podOf([amounts('5', '0')]),
      container({ maxLimitRequestRatio: { cpu: '4' } }),
      'no request is specified or request is 0',
    ],
    [
      'an init container above the maximum',
      podOf([amounts('1')], [amounts('2')]),
      container({ max: { cpu: '1' } }),
      'but limit is 2',
    ],
    [
      'containers that are too much together',
      podOf([amounts('900m'), amounts('900m')]),
      whole({ max: { cpu: '1500m' } }),
      'maximum cpu usage per Pod is 1500m, but limit is 1800m',
    ],
    [
      'an init container that needs more than all others',
      podOf([amounts('1')], [amounts('2')]),
      whole({ max: { cpu: '1500m' } }),
      'maximum cpu usage per Pod is 1500m, but limit is 2',
    ],
    [
      'an init container that needs less',
      podOf([amounts('1')], [amounts('500m')]),
      whole({ max: { cpu: '1500m' } }),
      undefined,
    ],
    [
      'a sum that one container says nothing about',
      podOf([amounts('1'), {}]),
      whole({ max: { cpu: '2' } }),
      'maximum cpu usage per Pod is 2, but no limit is specified',
    ],
  ])('%s', async (_what, object, range, problem) => {
    const outcome = await pod(object, range);
    expect(resultOf(outcome)).toContain(problem ?? 'admitted');
  });

  test('all excesses are reported at once', async () => {
    const outcome = await pod(
      podOf([amounts('2', '50m')]),
      container({ min: { cpu: '100m' }, max: { cpu: '1' } }),
    );
    expect(outcome).toBe(
      '403 pods "p" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 1, but limit is 2]',
    );
  });
});

describe('claims', () => {
  const range = rangeOf('a', [
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
  ]);
  const claimOf = (storage: string): ApiObject => ({
    metadata: { name: 'c' },
    spec: { resources: { requests: { storage } } },
  });

  test.each([
    ['1Gi', undefined],
    ['1536Mi', undefined],
    ['512Mi', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi'],
    ['3Gi', 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
  ])('of %s', async (storage, problem) => {
    const object = claimOf(storage);
    const outcome = await outcomeOf(
      limitRanger(clock),
      attributesOf('v1/persistentvolumeclaims', { object }),
      clusterOf([range]),
    );
    expect(resultOf(outcome)).toBe(
      problem === undefined ? 'admitted' : `403 persistentvolumeclaims "c" is forbidden: ${problem}`,
    );
  });

  test('that are terminating may still be changed', async () => {
    const object = claimOf('3Gi');
    const oldObject = { ...object, metadata: { name: 'c', deletionTimestamp: '2024-01-01T00:00:00Z' } };
    const attributes = attributesOf('v1/persistentvolumeclaims', { operation: 'UPDATE', object, oldObject });
    expect(await outcomeOf(limitRanger(clock), attributes, clusterOf([range]))).toBe(object);
    const unlimited = clusterOf();
    await outcomeOf(limitRanger(clock), attributes, unlimited);
    expect(unlimited.freshened()).toBe(0);
  });
});

test('a namespace without limits is confirmed by a fresh read, and then not for a while', async () => {
  let nowMs = 0;
  const plugin = limitRanger({ now: () => nowMs });
  const later = clusterOf([], [rangeOf('a', [{ type: 'Container', default: { cpu: '1' } }])]);
  const object = podOf([{}]);
  const run = async (cluster: ReturnType<typeof clusterOf>, namespace: string) =>
    outcomeOf(plugin, attributesOf('v1/pods', { object, namespace }), cluster);
  expect(await run(later, 'ns')).toMatchObject({
    spec: { containers: [{ resources: { limits: { cpu: '1' } } }] },
  });
  const empty = clusterOf();
  for (const at of [0, 1_000, 29_000]) {
    nowMs = at;
    await run(empty, 'other');
  }
  expect(empty.freshened()).toBe(1);
  nowMs = 31_000;
  await run(empty, 'other');
  expect(empty.freshened()).toBe(2);
  // A clock that was set back says nothing about the elapsed time.
  nowMs = 1_000;
  await run(empty, 'other');
  expect(empty.freshened()).toBe(3);
});

test('the number of remembered namespaces is bounded', async () => {
  const plugin = limitRanger(clock);
  const cluster = clusterOf();
  const object = podOf([{}]);
  const run = async (namespace: string) =>
    outcomeOf(plugin, attributesOf('v1/pods', { object, namespace }), cluster);
  const namespaces = Array.from({ length: 10_001 }, (_, at) => `n${String(at)}`);
  for (const namespace of namespaces) await run(namespace);
  expect(cluster.freshened()).toBe(namespaces.length);
  await run('n10000');
  expect(cluster.freshened()).toBe(namespaces.length);
  await run('n0');
  expect(cluster.freshened()).toBe(namespaces.length + 1);
});

test('an update of a pod is not checked: its requests cannot change', () => {
  const subject = {
    operation: 'UPDATE',
    group: '',
    resource: 'pods',
    subresource: '',
    namespaced: true,
  } as const;
  expect(limitRanger(clock).concerns(subject)).toBe(false);
  expect(limitRanger(clock).concerns({ ...subject, operation: 'CREATE' })).toBe(true);
  expect(limitRanger(clock).concerns({ ...subject, resource: 'persistentvolumeclaims' })).toBe(true);
});
