import { ANNOTATION, FINALIZER, GROUP, LABEL, MEDIA_TYPE } from '../../../shared/names';
import { RESOURCES } from '../../../shared/api/resources';
import { minimalObject } from '../../testing/minimal-objects';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

/** The fields of metadata that an update of an object is refused for. */
async function refusedFields(
  { group, resource }: { readonly group: string; readonly resource: string },
  metadata: Readonly<Record<string, unknown>>,
  subresource = '',
): Promise<readonly string[]> {
  const row = RESOURCES.find((each) => each.group === group && each.resource === resource);
  if (row === undefined) throw new Error(`no ${resource}`);
  const root = group === '' ? `/api/${row.version}` : `/apis/${group}/${row.version}`;
  const url = `${root}${row.namespaced ? '/namespaces/default' : ''}/${resource}`;
  const object = minimalObject(row, 'default');
  const { name } = object.metadata;
  const { json } = await api.call('POST', url, { body: { ...object, metadata: { name } } });
  const body = { ...json, metadata: { ...json.metadata, ...metadata } };
  const reply = await api.call('PUT', `${url}/${name}${subresource}?dryRun=All`, { body });
  await api.call('DELETE', `${url}/${name}`);
  const causes = (reply.json.details?.causes ?? []) as readonly { readonly field: string }[];
  return causes.map(({ field }) => field);
}

describe('an update of an object', () => {
  test.each([
    [GROUP.core, 'configmaps', '', true],
    [GROUP.core, 'pods', '', true],
    [GROUP.core, 'resourcequotas', '', false],
    [GROUP.coordination, 'leases', '', false],
    [GROUP.apps, 'deployments', '/status', false],
    [GROUP.storage, 'volumeattachments', '/status', true],
    [GROUP.flowcontrol, 'flowschemas', '/status', false],
  ])('%s %s%s: validates generateName: %s', async (group, resource, subresource, asks) => {
    const fields = await refusedFields({ group, resource }, { generateName: 'Always' }, subresource);
    expect(fields).toEqual(asks ? ['metadata.generateName'] : []);
  });

  test.each([
    [GROUP.core, 'configmaps', '', true],
    [GROUP.coordination, 'leases', '', false],
    [GROUP.batch, 'cronjobs', '/status', false],
    [GROUP.batch, 'jobs', '/status', true],
  ])('%s %s%s: validates the domains of finalizers: %s', async (group, resource, subresource, asks) => {
    const fields = await refusedFields({ group, resource }, { finalizers: ['none'] }, subresource);
    expect(fields).toEqual(asks ? ['metadata.finalizers[0]'] : []);
  });

  test.each([
    [GROUP.apps, 'deployments', ['deletionTimestamp', 'deletionGracePeriodSeconds']],
    [GROUP.apiregistration, 'apiservices', ['deletionTimestamp', 'deletionGracePeriodSeconds']],
    [GROUP.storage, 'volumeattachments', ['deletionGracePeriodSeconds']],
    [GROUP.flowcontrol, 'flowschemas', []],
  ])(
    '%s %s/status: refuses deletion fields that the subresource does not keep: %s',
    async (group, resource, refused) => {
      const marks = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
      const fields = await refusedFields({ group, resource }, marks, '/status');
      expect([...new Set(fields)].toSorted()).toEqual(refused.map((field) => `metadata.${field}`).toSorted());
    },
  );
});

/** The fields of all causes, sorted, each once. */
const fieldsOf = ({ json }: Reply): readonly string[] =>
  [
    ...new Set(
      ((json.details?.causes ?? []) as readonly { readonly field: string }[]).map(({ field }) => field),
    ),
  ].toSorted();

test.each([
  ['v1', ['metadata.finalizers', 'metadata.finalizers[0]']],
  ['v1beta1', ['metadata.finalizers']],
])('finalizers of an Event through %s', async (version, expected) => {
  const url = `/apis/${GROUP.events}/${version}/namespaces/default/events`;
  const row = RESOURCES.find((each) => each.group === GROUP.events && each.version === 'v1');
  if (row === undefined) throw new Error('no events');
  const name = `final-${version}`;
  const { apiVersion: _v1, ...body } = minimalObject(row, 'default') as object as { apiVersion: string };
  await api.call('POST', url, { body: { ...body, metadata: { name } } });
  const reply = await api.call('PATCH', `${url}/${name}`, { body: { metadata: { finalizers: ['A B'] } } });
  expect(fieldsOf(reply)).toEqual(expected);
});

test('topology terms without expressions are duplicates', async () => {
  const url = `/apis/${GROUP.storage}/v1/storageclasses`;
  const body = { metadata: { name: 'empty' }, provisioner: 'p', allowedTopologies: [{}, {}] };
  const at = (index: number): string => `allowedTopologies[${String(index)}].matchLabelExpressions`;
  expect(fieldsOf(await api.call('POST', url, { body }))).toEqual([at(0), at(1)]);
});

describe('an integer with too many bits', () => {
  const url = '/api/v1/namespaces/default/replicationcontrollers';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const name = 'bits';
  const patched = async (type: string, replicas: string): Promise<Reply> =>
    api.call(
      'PATCH',
      `${url}/${name}?fieldManager=m&dryRun=All${type === MEDIA_TYPE.applyPatch ? '&force=true' : ''}`,
      {
        headers: { 'content-type': type },
        text: `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"${name}"},"spec":{"replicas":${replicas}}}`,
      },
    );
  beforeAll(async () => {
    await api.call('POST', url, { body: { metadata: { name }, spec: { template } } });
  });

  test.each([
    ['4294967299', 3],
    ['9223372036854775807', -1],
    // Beyond 64 bits it is floating point first.
    ['9223372036854775809', 0],
  ])('%s keeps its lowest bits in a strategic merge patch or apply: %i', async (replicas, expected) => {
    for (const type of [MEDIA_TYPE.strategicMergePatch, MEDIA_TYPE.applyPatch]) {
      const { code, json } = await patched(type, replicas);
      expect(expected < 0 ? [code, fieldsOf({ code, json } as Reply)] : json.spec.replicas).toEqual(
        expected < 0 ? [422, ['spec.replicas']] : expected,
      );
    }
  });

  test('is refused in a merge patch', async () => {
    expect((await patched(MEDIA_TYPE.mergePatch, '4294967299')).code).toBe(422);
  });
});

test('an update of a Namespace with metadata.namespace of another one fails', async () => {
  const body = { metadata: { name: 'default', namespace: 'other' } };
  const { code, json } = await api.call('PUT', '/api/v1/namespaces/default', { body });
  expect([code, json.message]).toEqual([
    400,
    'the namespace of the object (other) does not match the namespace on the request (default)',
  ]);
});

test('an apply with another name fails even without a change', async () => {
  const url = '/apis/apps/v1/namespaces/default/deployments';
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } };
  const containers = [{ name: 'c', image: 'i' }];
  const whole = { ...spec, template: { ...spec.template, spec: { containers } } };
  await api.call('POST', url, { body: { metadata: { name: 'named' }, spec: whole } });
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'x' },
    status: { replicas: 1 },
  };
  const type = { 'content-type': MEDIA_TYPE.applyPatch };
  const reply = await api.call('PATCH', `${url}/named?fieldManager=m`, { headers: type, body });
  expect([reply.code, reply.json.message]).toEqual([
    400,
    'the name of the object (x) does not match the name on the URL (named)',
  ]);
});

test('the managers of an Event in its other group are dropped on the next write', async () => {
  const name = 'owned';
  const core = `/api/v1/namespaces/default/events`;
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
  await api.call('POST', core, { body: { metadata: { name }, involvedObject } });
  const url = `/apis/${GROUP.events}/v1beta1/namespaces/default/events/${name}`;
  const { json } = await api.call('PATCH', url, { body: { reason: 'Because' } });
  const owners = json.metadata.managedFields as readonly { readonly apiVersion: string }[];
  expect(owners.map(({ apiVersion }) => apiVersion)).toEqual([`${GROUP.events}/v1beta1`]);
  // Also by a write that changes nothing else.
  const again = await api.call('PATCH', `${core}/${name}`, { body: {} });
  expect(again.json.metadata.managedFields).toBeUndefined();
});

test('a scope that is dropped from an IngressClass counts as a change', async () => {
  const url = `/apis/${GROUP.networking}/v1/ingressclasses`;
  const spec = { controller: 'example.com/c', parameters: { kind: 'K', name: 'n' } };
  await api.call('POST', url, { body: { metadata: { name: 'scoped' }, spec } });
  const same = await api.call('PATCH', `${url}/scoped`, { body: { spec } });
  expect(same.json.metadata.generation).toBe(1);
  const scoped = await api.call('PATCH', `${url}/scoped`, {
    body: { spec: { parameters: { scope: 'Cluster' } } },
  });
  expect([scoped.json.spec.parameters.scope, scoped.json.metadata.generation]).toEqual([null, 2]);
});

test('the deletion of a Service with a finalizer returns a Status', async () => {
  const url = '/api/v1/namespaces/default/services';
  const metadata = { name: 'held', finalizers: ['example.com/f'] };
  await api.call('POST', url, { body: { metadata, spec: { ports: [{ port: 80 }] } } });
  const deleted = await api.call('DELETE', `${url}/held`);
  expect([deleted.code, deleted.json.kind, deleted.json.details?.kind]).toEqual([200, 'Status', 'services']);
  const held = await api.call('GET', `${url}/held`);
  expect(typeof held.json.metadata.deletionTimestamp).toBe('string');
});

test.each([
  [9_007_199_254_740_991, '9007199254740992'],
  [9_223_372_036_854_775_000, '9223372036854775001'],
])('setting deletionTimestamp increments a generation of %d', async (generation, next) => {
  const url = '/api/v1/namespaces/default/resourcequotas';
  const metadata = { name: 'counted', generation, finalizers: ['example.com/hold'] };
  expect((await api.call('POST', url, { body: { metadata } })).code).toBe(201);
  const reply = await api.call('DELETE', `${url}/counted`);
  expect([reply.code, /"generation":(\d+)/u.exec(reply.text)?.[1]]).toEqual([200, next]);
  expect((await api.call('PATCH', `${url}/counted`, { body: { metadata: { finalizers: null } } })).code).toBe(
    200,
  );
});

test('the label of empty selectors is dropped from a disruption budget with other selectors', async () => {
  const url = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const matchExpressions = [{ key: LABEL.budgetOfEmptySelector, operator: 'Exists' }];
  const make = (name: string, selector: object): Promise<Reply> =>
    api.call('POST', url, { body: { metadata: { name }, spec: { minAvailable: 1, selector } } });
  const alone = await make('alone', { matchExpressions });
  expect(alone.json.spec.selector).toEqual({ matchExpressions });
  const beside = await make('beside', { matchExpressions, matchLabels: { a: 'b' } });
  expect(beside.json.spec.selector).toEqual({ matchLabels: { a: 'b' } });
  const patched = await api.call('PATCH', `${url}/beside`, {
    body: { spec: { selector: { matchExpressions } } },
  });
  expect(patched.json.spec.selector).toEqual({ matchLabels: { a: 'b' } });
});

test('an EndpointSlice with duplicate addresses has managedFields', async () => {
  const url = `/apis/${GROUP.discovery}/v1/namespaces/default/endpointslices`;
  const make = (name: string, addresses: readonly string[]): Promise<Reply> =>
    api.call('POST', url, { body: { metadata: { name }, addressType: 'IPv4', endpoints: [{ addresses }] } });
  const other = await make('other', ['10.1.2.3', '10.1.2.4']);
  const equal = await make('equal', ['10.1.2.3', '10.1.2.3']);
  const fieldsV1 = { 'f:addressType': {}, 'f:endpoints': {} };
  for (const { code, json } of [other, equal]) {
    expect([code, json.metadata.managedFields]).toEqual([201, [expect.objectContaining({ fieldsV1 })]]);
  }
});

test('a field that an old version keeps in an annotation is owned as the annotation', async () => {
  const url = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const spec = { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
  await api.call('POST', url, { body: { metadata: { name: 'scaled' }, spec } });
  const status = { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 3 };
  const { json } = await api.call('PATCH', `${url}/scaled/status?fieldManager=s`, { body: { status } });
  expect(json.metadata.annotations).toHaveProperty([ANNOTATION.autoscalerCurrentMetrics]);
  const entries = json.metadata.managedFields as readonly { manager: string; fieldsV1: object }[];
  expect(entries.find(({ manager }) => manager === 's')?.fieldsV1).toMatchObject({
    'f:metadata': { 'f:annotations': { [`f:${ANNOTATION.autoscalerCurrentMetrics}`]: {} } },
  });
});

test('a field of an old version that is not stored does not count as a change', async () => {
  const url = `/apis/${GROUP.rbac}/v1alpha1/namespaces/default/rolebindings`;
  const roleRef = { apiGroup: GROUP.rbac, kind: 'Role', name: 'r' };
  const subject = { kind: 'ServiceAccount', name: 's', namespace: 'default' };
  const made = await api.call('POST', url, {
    body: { metadata: { name: 'bound' }, roleRef, subjects: [{ ...subject, apiVersion: 'v1' }] },
  });
  const again = await api.call('PATCH', `${url}/bound?fieldManager=other`, {
    body: { subjects: [{ ...subject, apiVersion: 'v2' }] },
  });
  expect(again.json).toEqual(made.json);
});

describe('a write of a missing object', () => {
  const services = '/api/v1/namespaces/default/services';
  const service = { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' } };
  const applied = { headers: { 'content-type': MEDIA_TYPE.applyPatch } };

  test('creates a valid Service through its status', async () => {
    const url = `${services}/s/status?fieldManager=a`;
    const bad = await api.call('PATCH', url, { ...applied, body: { ...service, status: {} } });
    expect([bad.code, bad.json.details.causes[0].field]).toEqual([422, 'spec.ports']);
    const body = { ...service, spec: { ports: [{ port: 80 }] } };
    expect((await api.call('PUT', `${services}/s/status?dryRun=All`, { body })).code).toBe(201);
    expect((await api.call('PATCH', `${services}/s/status`, { body: {} })).code).toBe(404);
  });

  test('returns 409 for a PUT of a Service with a uid, and creates one without it', async () => {
    const spec = { ports: [{ port: 80 }] };
    const put = async (metadata: object): Promise<Reply> =>
      api.call('PUT', `${services}/s?dryRun=All`, { body: { ...service, metadata, spec } });
    expect((await put({ name: 's', uid: 'u' })).code).toBe(409);
    expect((await put({ name: 's' })).code).toBe(201);
  });

  test('is refused with an invalid resourceVersion where an update would create the object', async () => {
    const url = '/api/v1/namespaces/default/endpoints/e';
    const body = { kind: 'Endpoints', apiVersion: 'v1', metadata: { name: 'e', resourceVersion: 'x' } };
    expect((await api.call('PUT', url, { body })).code).toBe(400);
    expect((await api.call('PATCH', `${url}?fieldManager=a`, { ...applied, body })).code).toBe(400);
  });

  test('returns 409 for an apply with a uid, whatever its name', async () => {
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'other', uid: 'u' } };
    const url = '/api/v1/namespaces/default/configmaps/c?fieldManager=a';
    expect((await api.call('PATCH', url, { ...applied, body })).code).toBe(409);
  });
});

test.each([
  ['?dryRun=All', '/old'],
  ['', undefined],
])('an update%s returns the selfLink %s of the client', async (query, shown) => {
  const collection = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', collection, { body: { metadata: { name: 'linked' } } });
  const body = { metadata: { name: 'linked', selfLink: '/old' } };
  const reply = await api.call('PUT', `${collection}/linked${query}`, { body });
  await api.call('DELETE', `${collection}/linked`);
  expect([reply.code, (reply.json.metadata as { selfLink?: string }).selfLink]).toEqual([200, shown]);
});

describe('an equal quantity in another unit is no change', () => {
  const APPS = '/apis/apps/v1/namespaces/default/statefulsets';
  const JOBS = '/apis/batch/v1/namespaces/default/jobs';
  const containers = (memory: string): object[] => [
    { name: 'c', image: 'i', resources: { requests: { memory } } },
  ];

  test('in the claim templates of a StatefulSet', async () => {
    const spec = (storage: string): object => ({
      serviceName: 's',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: containers('1') } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'v' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
        },
      ],
    });
    const body = { metadata: { name: 'units' }, spec: spec('1Gi') };
    expect((await api.call('POST', APPS, { body })).code).toBe(201);
    const patch = (storage: string) => api.call('PATCH', `${APPS}/units`, { body: { spec: spec(storage) } });
    expect((await patch('1073741824')).code).toBe(200);
    expect((await patch('2Gi')).code).toBe(422);
  });

  test.each(['deployments', 'replicasets', 'daemonsets', 'statefulsets'])(
    'that increments the generation of %s',
    async (resource) => {
      const url = `/apis/apps/v1/namespaces/default/${resource}`;
      const spec = (memory: string): object => ({
        serviceName: 's',
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: containers(memory) } },
      });
      const body = { metadata: { name: 'counted' }, spec: spec('1Gi') };
      expect((await api.call('POST', url, { body })).json.metadata.generation).toBe(1);
      const patch = async (memory: string) =>
        (await api.call('PATCH', `${url}/counted`, { body: { spec: spec(memory) } })).json;
      const { metadata, spec: kept } = await patch('1073741824');
      expect(metadata.generation).toBe(1);
      expect(metadata.annotations?.['deprecated.daemonset.template.generation']).toBe(
        resource === 'daemonsets' ? '1' : undefined,
      );
      expect(kept.template.spec.containers).toMatchObject(containers('1073741824'));
      expect((await patch('2Gi')).metadata.generation).toBe(2);
    },
  );

  test('in the pod template of a Job', async () => {
    const pods = (memory: string): object => ({
      spec: { template: { spec: { restartPolicy: 'Never', containers: containers(memory) } } },
    });
    const body = { metadata: { name: 'units' }, ...pods('1k') };
    expect((await api.call('POST', JOBS, { body })).code).toBe(201);
    const patch = (memory: string) => api.call('PATCH', `${JOBS}/units`, { body: pods(memory) });
    expect((await patch('1e3')).code).toBe(200);
    expect((await patch('2k')).code).toBe(422);
  });
});

test('an update of a pod status does not set deletionTimestamp', async () => {
  await api.call('POST', `/api/v1/namespaces/default/pods`, {
    body: { spec: { containers: [{ name: 'c', image: 'i' }] }, metadata: { name: 'unmarked' } },
  });
  const { code, json } = await api.call('PATCH', `/api/v1/namespaces/default/pods/unmarked/status`, {
    body: { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' }, status: { message: 'm' } },
  });
  expect([code, json.metadata.deletionTimestamp, json.status.message]).toEqual([200, undefined, 'm']);
});

test('a new namespace keeps its requested finalizers, repeated ones too', async () => {
  const finalizers = ['example.com/a', 'example.com/a'];
  const { json } = await api.call('POST', '/api/v1/namespaces?dryRun=All', {
    body: { metadata: { name: 'held' }, spec: { finalizers } },
  });
  expect(json.spec.finalizers).toEqual([...finalizers, FINALIZER.namespaceContent]);
});

test('a HorizontalPodAutoscaler is stored with what autoscaling/v1 can represent', async () => {
  const url = '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers';
  const described = { kind: 'Service', name: 's' };
  const metric = { name: 'm' };
  const spec = {
    maxReplicas: 1,
    scaleTargetRef: { kind: 'Deployment', name: 'd' },
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'Value', value: '5', averageValue: '6' } },
      },
      {
        type: 'Object',
        object: { describedObject: described, metric, target: { type: 'AverageValue', averageValue: '7' } },
      },
    ],
  };
  const { json } = await api.call('POST', url, { body: { spec, metadata: { name: 'a' } } });
  expect(json.spec.metrics).toEqual([
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '6' } } },
    {
      type: 'Object',
      object: {
        describedObject: described,
        metric,
        target: { type: 'AverageValue', value: '0', averageValue: '7' },
      },
    },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
  ]);
  const again = await api.call('PUT', `${url}/a`, { body: json });
  expect([again.code, again.json.metadata.resourceVersion]).toEqual([200, json.metadata.resourceVersion]);
});

test('a PUT creates a RuntimeClass', async () => {
  const url = `/apis/${GROUP.node}/v1/runtimeclasses/r`;
  const reply = await api.call('PUT', url, { body: { metadata: { name: 'r' }, handler: 'h' } });
  expect(reply.code).toBe(201);
});

test('an integer of 64 bits in an invalid field is shown exactly', async () => {
  const { code, json } = await api.call('POST', '/apis/batch/v1/namespaces/default/jobs', {
    text: `{"metadata":{"name":"exact"},"spec":{"activeDeadlineSeconds":-9223372036854775807,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
  });
  expect([code, json.message]).toEqual([422, expect.stringContaining('-9223372036854775807')]);
});
