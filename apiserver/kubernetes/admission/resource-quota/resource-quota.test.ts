import type { ResourceQuota } from '../../../../shared/api/types/core-v1';
import { STORAGE_CLASS_QUOTA } from '../../../../shared/names';
import { WriteNotes } from '../../../engine/registry/write-notes';
import type { AdmissionPlugin } from '../plugin';
import { PODS, RESOURCE_QUOTAS } from '../../cluster/resources';
import type { FakeCluster, GivenWrite } from '../testing/plugin-bench';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';
import { resourceQuotaProblem } from './configuration';
import { FakeQuotas, quotaOf } from './testing/fake-quotas';
import { resourceQuota } from './resource-quota';

let quotas: FakeQuotas;
let cluster: FakeCluster;
let plugin: AdmissionPlugin;

function given(objects: readonly ResourceQuota[], configuration?: unknown): void {
  quotas = new FakeQuotas(objects);
  cluster = clusterOf(objects.map((quota) => [RESOURCE_QUOTAS, quota]));
  plugin = resourceQuota({ records: quotas, configuration, clock: { now: () => 0 }, randomInt: () => 0 });
}

async function result(path: string, object: object, more: GivenWrite = {}): Promise<string> {
  const metadata = { name: 'x', namespace: 'ns' };
  const attributes = attributesOf(path, { object: { metadata, ...object }, ...more });
  return resultOf(await outcomeOf(plugin, attributes, cluster));
}

const container = (requests: object, limits: object = {}): object => ({
  name: 'c',
  resources: { requests, limits },
});
const pod = (requests: object = {}, more: object = {}): object => ({
  spec: { containers: [container(requests)], ...more },
});

describe('a creation', () => {
  test('is charged to every matching quota and to no other', async () => {
    given([
      quotaOf('cpu', { hard: { cpu: '2', services: '1' }, used: { cpu: '500m', services: '0' } }),
      quotaOf('pods', { hard: { pods: '3' }, used: { pods: '2' } }),
      quotaOf('secrets', { hard: { secrets: '3' }, used: { secrets: '2' } }),
    ]);
    expect(await result('v1/pods', pod({ cpu: '250m' }))).toBe('admitted');
    expect(quotas.used()).toEqual({
      cpu: { cpu: '750m', services: '0' },
      pods: { pods: '3' },
      secrets: { secrets: '2' },
    });
    expect(quotas.writes).toBe(2);
  });

  test('that exceeds a quota is refused with all exceeded resources', async () => {
    given([
      quotaOf('q', {
        hard: { pods: '2', 'requests.cpu': '1', memory: '1Gi', cpu: '10' },
        used: { pods: '2', 'requests.cpu': '900m', memory: '0', cpu: '0' },
      }),
    ]);
    expect(await result('v1/pods', pod({ cpu: '200m', memory: '1Gi' }))).toBe(
      '403 pods "x" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=200m, used: pods=2,requests.cpu=900m, limited: pods=2,requests.cpu=1',
    );
    expect(quotas.writes).toBe(0);
  });

  test('that exceeds the second quota is not charged to the first', async () => {
    given([
      quotaOf('a', { hard: { pods: '5' }, used: { pods: '0' } }),
      quotaOf('b', { hard: { 'count/pods': '1' }, used: { 'count/pods': '1' } }),
    ]);
    expect(await result('v1/pods', pod())).toContain('exceeded quota: b, requested: count/pods=1,');
    expect(quotas.writes).toBe(0);
  });

  test('is not refused for exceeded resources that it does not use', async () => {
    given([
      quotaOf('q', {
        hard: { pods: '5', memory: '1Gi', secrets: '1' },
        used: { pods: '1', memory: '2Gi', secrets: '9' },
      }),
    ]);
    expect(await result('v1/pods', pod({ memory: '0' }))).toBe('admitted');
  });

  test('is refused if it does not set what a quota limits', async () => {
    given([
      quotaOf('q', {
        hard: { memory: '1Gi', 'limits.cpu': '1', pods: '1' },
        used: { memory: '0', 'limits.cpu': '0', pods: '0' },
      }),
    ]);
    expect(await result('v1/pods', pod())).toBe(
      '403 pods "x" is forbidden: failed quota: q: must specify limits.cpu,memory',
    );
  });

  test('is refused while the usage is unknown', async () => {
    given([quotaOf('q', { hard: { pods: '2', 'count/pods': '3', secrets: '1' }, used: { pods: '0' } })]);
    expect(await result('v1/pods', pod())).toBe(
      '403 pods "x" is forbidden: status unknown for quota: q, resources: count/pods,pods',
    );
  });

  test('is not limited by a quota without a status', async () => {
    given([{ ...quotaOf('q', { hard: {}, used: {} }), spec: { hard: { pods: '0' } }, status: {} }]);
    expect(await result('v1/pods', pod())).toBe('admitted');
  });

  test('of a dry run is evaluated and not charged', async () => {
    given([quotaOf('q', { hard: { pods: '1' }, used: { pods: '0' } })]);
    const dryRun = { dryRun: true };
    expect(await result('v1/pods', pod(), dryRun)).toBe('admitted');
    expect(quotas.writes).toBe(0);
    expect(await result('v1/pods', pod())).toBe('admitted');
    expect(await result('v1/pods', pod(), dryRun)).toContain('exceeded quota: q');
  });

  test('of an object with several countable names is charged under all of them', async () => {
    given([
      quotaOf('q', {
        hard: { secrets: '2', 'count/secrets': '2', 'count/deployments.apps': '0' },
        used: { secrets: '0', 'count/secrets': '1', 'count/deployments.apps': '0' },
      }),
    ]);
    expect(await result('v1/secrets', {})).toBe('admitted');
    expect(quotas.used()['q']).toMatchObject({ secrets: '1', 'count/secrets': '2' });
    expect(await result('v1/secrets', {})).toContain(
      'requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2',
    );
    expect(await result('apps/v1/deployments', {})).toContain('limited: count/deployments.apps=0');
  });

  test('in a namespace without quotas is synchronous', () => {
    given([]);
    const attributes = attributesOf('v1/pods', { object: { metadata: { name: 'x' }, ...pod() } });
    expect(plugin.validate?.(attributes, cluster, new AbortController().signal)).toBeUndefined();
    expect(quotas.reads).toBe(0);
  });
});

describe('a quota with scopes', () => {
  const used = { pods: '1' };
  const hard = { pods: '1' };
  const highOnly = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }];

  test.each([
    [{ scopes: ['Terminating'] }, { activeDeadlineSeconds: 5 }, {}],
    [{ scopes: ['NotTerminating'] }, {}, { activeDeadlineSeconds: 5 }],
    [
      { scopeSelector: { matchExpressions: highOnly } },
      { priorityClassName: 'high' },
      { priorityClassName: 'low' },
    ],
    [
      { scopes: ['Terminating'], scopeSelector: { matchExpressions: highOnly } },
      { activeDeadlineSeconds: 5, priorityClassName: 'high' },
      { priorityClassName: 'high' },
    ],
  ])('%j matches a pod %j and not %j', async (scopes, inside, outside) => {
    given([quotaOf('q', { hard, used, ...scopes })]);
    expect(await result('v1/pods', pod({}, inside))).toContain('exceeded quota: q');
    expect(await result('v1/pods', pod({}, outside))).toBe('admitted');
  });

  test('for best effort does not require cpu', async () => {
    given([quotaOf('q', { hard, used: { pods: '0' }, scopes: ['BestEffort'] })]);
    expect(await result('v1/pods', pod({ cpu: '1' }))).toBe('admitted');
    expect(quotas.writes).toBe(0);
    expect(await result('v1/pods', pod())).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ pods: '1' });
  });

  test('matches only pods', async () => {
    given([
      quotaOf('q', {
        hard: { services: '0', pods: '0' },
        used: { services: '0', pods: '0' },
        scopes: ['NotTerminating'],
      }),
    ]);
    expect(await result('v1/services', { spec: {} })).toBe('admitted');
  });
});

describe('an update', () => {
  const update = async (path: string, from: object, to: object): Promise<string> =>
    result(path, to, {
      operation: 'UPDATE',
      oldObject: { metadata: { name: 'x', resourceVersion: '1' }, ...from },
    });
  const service = (type: string, ports: number): object => ({
    spec: { type, ports: Array.from({ length: ports }, (_, index) => ({ port: index + 1 })) },
  });

  test('of a service is charged for its additional usage', async () => {
    given([
      quotaOf('q', {
        hard: { services: '1', 'services.nodeports': '3', 'services.loadbalancers': '0' },
        used: { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '0' },
      }),
    ]);
    expect(await update('v1/services', service('NodePort', 1), service('NodePort', 2))).toBe('admitted');
    expect(quotas.used()['q']).toMatchObject({ services: '1', 'services.nodeports': '3' });
    expect(await update('v1/services', service('NodePort', 2), service('NodePort', 1))).toBe('admitted');
    expect(quotas.used()['q']).toMatchObject({ 'services.nodeports': '3' });
    expect(await update('v1/services', service('NodePort', 2), service('LoadBalancer', 2))).toBe(
      '403 services "x" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0',
    );
  });

  test('of a claim is charged for its growth, also to its class', async () => {
    const ofGold = `gold${STORAGE_CLASS_QUOTA}requests.storage`;
    const claim = (storage: string): object => ({
      spec: { storageClassName: 'gold', resources: { requests: { storage } } },
    });
    given([
      quotaOf('q', {
        hard: { 'requests.storage': '20Gi', [ofGold]: '10Gi' },
        used: { 'requests.storage': '5Gi', [ofGold]: '5Gi' },
      }),
    ]);
    expect(await update('v1/persistentvolumeclaims', claim('5Gi'), claim('8Gi'))).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ 'requests.storage': '8Gi', [ofGold]: '8Gi' });
    expect(await update('v1/persistentvolumeclaims', claim('8Gi'), claim('11Gi'))).toContain(
      `exceeded quota: q, requested: ${ofGold}=3Gi, used: ${ofGold}=8Gi, limited: ${ofGold}=10Gi`,
    );
  });

  test('of a claim that gets another class of volume attributes is charged to the quota of that class', async () => {
    const claim = (volumeAttributesClassName: string, storage = '5Gi'): object => ({
      spec: { volumeAttributesClassName, resources: { requests: { storage } } },
    });
    const matchExpressions = [
      { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] } as const,
    ];
    const hard = { persistentvolumeclaims: '2', 'requests.storage': '9Gi' };
    const used = { persistentvolumeclaims: '0', 'requests.storage': '0' };
    given([quotaOf('q', { hard, used, scopeSelector: { matchExpressions } })]);
    const claims = 'v1/persistentvolumeclaims';
    expect(await update(claims, claim('slow'), claim('slow', '8Gi'))).toBe('admitted');
    expect(quotas.used()['q']).toEqual(used);
    expect(await update(claims, claim('slow'), claim('fast'))).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ persistentvolumeclaims: '1', 'requests.storage': '5Gi' });
    expect(await update(claims, claim('fast'), claim('fast', '6Gi'))).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ persistentvolumeclaims: '1', 'requests.storage': '6Gi' });
    expect(await update(claims, claim('slow'), claim('fast'))).toContain('exceeded quota: q');
  });

  test.each([
    ['UPDATE', 'pods', ''],
    ['UPDATE', 'secrets', ''],
    ['DELETE', 'pods', ''],
    ['CREATE', 'pods', 'binding'],
    ['UPDATE', 'services', 'status'],
    ['CREATE', 'events', ''],
  ] as const)('%s of %s/%s is ignored', (operation, resource, subresource) => {
    given([]);
    expect(plugin.concerns({ operation, group: PODS.group, resource, subresource, namespaced: true })).toBe(
      false,
    );
  });

  test('cluster-scoped objects are ignored', () => {
    given([]);
    const nodes = {
      operation: 'CREATE',
      group: '',
      resource: 'nodes',
      subresource: '',
      namespaced: false,
    } as const;
    expect(plugin.concerns(nodes)).toBe(false);
  });
});

describe('limited resources', () => {
  const kind = 'ResourceQuotaConfiguration';
  const high = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high', 'top'] }];

  test('may be used only with a matching quota', async () => {
    const limitedResources = [{ resource: 'persistentvolumeclaims', matchContains: ['gold', 'nothing'] }];
    given([], { kind, limitedResources });
    const claim = (storageClassName: string): object => ({
      spec: { storageClassName, resources: { requests: { storage: '1Gi' } } },
    });
    const [asClaims, asStorage] = ['persistentvolumeclaims', 'requests.storage'].map(
      (name) => `gold${STORAGE_CLASS_QUOTA}${name}`,
    );
    const claims = 'v1/persistentvolumeclaims';
    expect(await result(claims, claim('silver'))).toBe('admitted');
    expect(await result(claims, claim('gold'))).toBe(
      `403 persistentvolumeclaims "x" is forbidden: insufficient quota to consume: ${String(asClaims)},${String(asStorage)}`,
    );
    const names = Object.fromEntries([asClaims, asStorage].map((name) => [name, '9Gi']));
    const none = Object.fromEntries([asClaims, asStorage].map((name) => [name, '0']));
    given([quotaOf('q', { hard: names, used: none })], { kind, limitedResources });
    expect(await result(claims, claim('gold'))).toBe('admitted');
    expect(await result('v1/pods', pod())).toBe('admitted');
  });

  test('pods of a scope need a quota of that scope', async () => {
    const configuration = { kind, limitedResources: [{ resource: 'pods', matchScopes: high }] };
    given([], configuration);
    expect(await result('v1/pods', pod({}, { priorityClassName: 'low' }))).toBe('admitted');
    expect(await result('v1/pods', pod({}, { priorityClassName: 'high' }))).toBe(
      '403 pods "x" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high top]}]',
    );
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }];
    given(
      [quotaOf('q', { hard: { pods: '1' }, used: { pods: '0' }, scopeSelector: { matchExpressions } })],
      configuration,
    );
    expect(await result('v1/pods', pod({}, { priorityClassName: 'high' }))).toBe('admitted');
    expect(await result('v1/pods', pod({}, { priorityClassName: 'top' }))).toContain('insufficient quota');
  });

  test.each([
    [undefined, undefined],
    [{ kind }, undefined],
    [{ kind: 'Configuration', limitedResources: [{ resource: 'pods' }] }, undefined],
    [{ kind: 'Pod' }, 'the kind must be ResourceQuotaConfiguration or Configuration'],
    [
      { kind, limitedResources: [{ resource: 'pods' }, { apiGroup: 'apps' }] },
      'limitedResources[1] needs a resource',
    ],
  ])('%j has the problem %j', (configuration, problem) => {
    expect(resourceQuotaProblem(configuration)).toBe(problem);
  });
});

describe('concurrency', () => {
  test("another replica's charge is not overwritten", async () => {
    given([quotaOf('q', { hard: { pods: '3' }, used: { pods: '0' } })]);
    quotas.beforeWrite = () => {
      quotas.beforeWrite = undefined;
      quotas.replace('q', { pods: '2' });
    };
    expect(await result('v1/pods', pod())).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ pods: '3' });
  });

  test('another replica that takes the rest causes a refusal', async () => {
    given([quotaOf('q', { hard: { pods: '3' }, used: { pods: '2' } })]);
    quotas.beforeWrite = () => quotas.replace('q', { pods: '3' });
    expect(await result('v1/pods', pod())).toContain('used: pods=3, limited: pods=3');
  });

  test('a quota that is deleted meanwhile limits nothing', async () => {
    given([quotaOf('q', { hard: { pods: '3' }, used: { pods: '2' } })]);
    quotas.beforeWrite = () => quotas.remove('q');
    expect(await result('v1/pods', pod())).toBe('admitted');
  });

  test('a write that loses every race gets the conflict', async () => {
    given([quotaOf('q', { hard: { pods: '999' }, used: { pods: '0' } })]);
    quotas.beforeWrite = () => quotas.replace('q', { pods: '1' });
    expect(await result('v1/pods', pod())).toBe(
      '409 Operation cannot be fulfilled on resourcequotas "q": the object has been modified; please apply your changes to the latest version and try again',
    );
  });

  test('a further attempt of the same write is charged only for additional usage', async () => {
    given([quotaOf('q', { hard: { pods: '1', cpu: '2' }, used: { pods: '0', cpu: '0' } })]);
    const notes = new WriteNotes();
    expect(await result('v1/pods', pod({ cpu: '500m' }), { notes })).toBe('admitted');
    expect(await result('v1/pods', pod({ cpu: '500m' }), { notes })).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ pods: '1', cpu: '500m' });
    expect(await result('v1/pods', pod({ cpu: '1' }), { notes })).toBe('admitted');
    expect(quotas.used()['q']).toEqual({ pods: '1', cpu: '1' });
    expect(await result('v1/pods', pod({ cpu: '500m' }))).toContain('exceeded quota');
  });

  test('writes that wait during a batch are charged by one more write', async () => {
    given([quotaOf('q', { hard: { pods: '60' }, used: { pods: '0' } })]);
    const results = await Promise.all(Array.from({ length: 100 }, async () => result('v1/pods', pod())));
    expect(results.filter((each) => each === 'admitted')).toHaveLength(60);
    expect(quotas.used()['q']).toEqual({ pods: '60' });
    expect(quotas.writes).toBeLessThanOrEqual(2);
  });
});
