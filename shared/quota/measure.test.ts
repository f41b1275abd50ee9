import { resourceOf } from '../api/resources';
import type { ApiObject } from '../object/object';
import { ANNOTATION, GROUP, RESERVED_PREFIX, STORAGE_CLASS_QUOTA } from '../names';
import { decodeObject } from '../schema/decode';
import { kindType } from '../schema/types';
import { formatResourceList } from './amounts';
import { getEvaluator } from './evaluators';
import type { Evaluator } from './measure';
import { computeUsageAt } from './measure';

const core = (resource: string): Evaluator => known({ group: GROUP.core, resource });
function known(name: { readonly group: string; readonly resource: string }): Evaluator {
  const found = getEvaluator(name);
  if (found === undefined) throw new Error(`${name.resource} are not counted`);
  return found;
}

function object({ group, resource }: Evaluator, more: object): ApiObject {
  const row = resourceOf({ group, version: 'v1' }, resource);
  const bare = { metadata: { name: 'x' }, ...more };
  return row === undefined ? bare : decodeObject(kindType(row.schema), bare).object;
}
const usageOf = (evaluator: Evaluator, more: object, nowMs = 0): unknown =>
  formatResourceList(computeUsageAt(evaluator.measure(object(evaluator, more)), nowMs));

const container = (requests: object, limits: object = {}): object => ({
  name: 'c',
  resources: { requests, limits },
});

describe('a pod', () => {
  const pods = core('pods');
  const bare = { 'count/pods': '1', pods: '1' };

  test('uses the sum of its containers, under both names of requests', () => {
    const spec = {
      containers: [
        container({ cpu: '500m', memory: '1Gi' }, { cpu: '1', memory: '2Gi' }),
        container({ cpu: '250m', 'ephemeral-storage': '1Gi' }, { 'ephemeral-storage': '2Gi' }),
      ],
    };
    expect(usageOf(pods, { spec })).toEqual({
      ...bare,
      cpu: '750m',
      'requests.cpu': '750m',
      'limits.cpu': '1',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'limits.memory': '2Gi',
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'limits.ephemeral-storage': '2Gi',
    });
  });

  test('uses its largest init container where that is more, plus overhead', () => {
    const spec = {
      initContainers: [container({ cpu: '2' }), container({ cpu: '3', memory: '1Mi' })],
      containers: [container({ cpu: '1', memory: '5Mi' }), container({ cpu: '1' })],
      overhead: { cpu: '100m' },
    };
    expect(usageOf(pods, { spec })).toEqual({
      ...bare,
      cpu: '3100m',
      'requests.cpu': '3100m',
      'limits.cpu': '100m',
      memory: '5Mi',
      'requests.memory': '5Mi',
    });
  });

  // A quadratic sum blocked the event loop for minutes.
  test('is measured in linear time', () => {
    const devices = Array.from({ length: 20_000 }, (_each, index) => `example.com/${String(index)}`);
    const many = Object.fromEntries(devices.map((name) => [name, '1']));
    const containers = [container(many), ...Array.from({ length: 20_000 }, () => container({ cpu: '1m' }))];
    expect(usageOf(pods, { spec: { containers, initContainers: containers } })).toEqual({
      ...bare,
      ...Object.fromEntries(devices.map((name) => [`requests.${name}`, '1'])),
      cpu: '20',
      'requests.cpu': '20',
    });
  });

  test('uses huge pages under both names, and extended resources by requests only', () => {
    const asked = { 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2', [`${RESERVED_PREFIX}own`]: '1' };
    expect(usageOf(pods, { spec: { containers: [container(asked, asked)] } })).toEqual({
      ...bare,
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
    });
  });

  test.each(['Failed', 'Succeeded'])('in phase %s only counts as an object', (phase) => {
    const spec = { containers: [container({ cpu: '1' })] };
    expect(usageOf(pods, { spec, status: { phase } })).toEqual({ 'count/pods': '1' });
  });

  test('past its deletion deadline only counts as an object', () => {
    const deletionTimestamp = '2021-01-01T00:00:00Z';
    const leaving = { metadata: { name: 'x', deletionTimestamp, deletionGracePeriodSeconds: 30 }, spec: {} };
    const endMs = Date.parse(deletionTimestamp) + 30_000;
    expect(usageOf(pods, leaving, endMs)).toEqual(bare);
    expect(usageOf(pods, leaving, endMs + 1)).toEqual({ 'count/pods': '1' });
  });

  test.each([
    ['pods', true],
    ['count/pods', true],
    ['limits.ephemeral-storage', true],
    ['hugepages-1Gi', true],
    ['requests.hugepages-1Gi', true],
    ['requests.example.com/gpu', true],
    ['example.com/gpu', false],
    ['limits.example.com/gpu', false],
    [`requests.${RESERVED_PREFIX}own`, false],
    ['requests.storage', false],
    ['services', false],
    ['count/services', false],
  ])('is measured by %s: %j', (name, measured) => {
    expect(pods.measures(name)).toBe(measured);
  });

  test('must specify limited cpu and memory in every container, and no other resource', () => {
    const names = [
      'requests.memory',
      'pods',
      'limits.cpu',
      'cpu',
      'requests.ephemeral-storage',
      'hugepages-2Mi',
    ];
    const said = container({ cpu: '1', memory: '1' }, { cpu: '1' });
    const silent = container({ memory: '1' });
    const missing = (spec: object): unknown => pods.missing(names, object(pods, { spec }));
    expect(missing({ containers: [said] })).toEqual([]);
    expect(missing({ containers: [said, silent] })).toEqual(['cpu', 'limits.cpu']);
    expect(missing({ containers: [said], initContainers: [silent] })).toEqual(['cpu', 'limits.cpu']);
    expect(missing({ containers: [container({})] })).toEqual(['cpu', 'limits.cpu', 'requests.memory']);
  });
});

describe('a service', () => {
  const services = core('services');
  const ports = [{ port: 80 }, { port: 81, nodePort: 30_000 }];

  test.each([
    ['ClusterIP', '0', '0'],
    ['NodePort', '2', '0'],
    ['LoadBalancer', '2', '1'],
    ['ExternalName', '0', '0'],
  ])('of type %s uses %s node ports and %s load balancers', (type, nodePorts, balancers) => {
    expect(usageOf(services, { spec: { type, ports } })).toEqual({
      'count/services': '1',
      services: '1',
      'services.nodeports': nodePorts,
      'services.loadbalancers': balancers,
    });
    expect(services.chargesUpdates).toBe(true);
  });
});

describe('a claim', () => {
  const claims = core('persistentvolumeclaims');
  const spec = { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } };

  test('uses storage in whole bytes, in total and of its class', () => {
    expect(usageOf(claims, { spec })).toEqual({
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '2',
      [`gold${STORAGE_CLASS_QUOTA}persistentvolumeclaims`]: '1',
      [`gold${STORAGE_CLASS_QUOTA}requests.storage`]: '2',
    });
  });

  test('has the class of its annotation before that of its spec', () => {
    const metadata = { name: 'x', annotations: { [ANNOTATION.betaStorageClass]: 'silver' } };
    expect(usageOf(claims, { metadata, spec })).toHaveProperty([
      `silver${STORAGE_CLASS_QUOTA}requests.storage`,
    ]);
    expect(usageOf(claims, { spec: {} })).toEqual({
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
    });
  });

  test.each([
    ['requests.storage', true],
    [`gold${STORAGE_CLASS_QUOTA}requests.storage`, true],
    [`gold${STORAGE_CLASS_QUOTA}persistentvolumeclaims`, true],
    [`gold${STORAGE_CLASS_QUOTA}limits.storage`, false],
    ['count/persistentvolumeclaims', true],
    ['storage', false],
  ])('is measured by %s: %j', (name, measured) => {
    expect(claims.measures(name)).toBe(measured);
  });
});

test.each([
  [GROUP.core, 'configmaps', { configmaps: '1', 'count/configmaps': '1' }],
  [GROUP.core, 'secrets', { secrets: '1', 'count/secrets': '1' }],
  [GROUP.core, 'resourcequotas', { resourcequotas: '1', 'count/resourcequotas': '1' }],
  [
    GROUP.core,
    'replicationcontrollers',
    { replicationcontrollers: '1', 'count/replicationcontrollers': '1' },
  ],
  [GROUP.core, 'endpoints', { 'count/endpoints': '1' }],
  [GROUP.apps, 'deployments', { 'count/deployments.apps': '1' }],
  ['example.com', 'secrets', { 'count/secrets.example.com': '1' }],
])('one object of group "%s", %s, is counted', (group, resource, usage) => {
  const evaluator = known({ group, resource });
  expect(usageOf(evaluator, {})).toEqual(usage);
  expect(Object.keys(usage).every((name) => evaluator.measures(name))).toBe(true);
  expect(evaluator.measures('count/other')).toBe(false);
});

test.each([
  [GROUP.core, 'events'],
  [GROUP.events, 'events'],
  [GROUP.core, 'bindings'],
  [GROUP.authorization, 'localsubjectaccessreviews'],
])('objects of group "%s", %s, are not counted', (group, resource) => {
  expect(getEvaluator({ group, resource })).toBeUndefined();
});
