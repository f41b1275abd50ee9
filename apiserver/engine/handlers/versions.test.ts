import { apiVersionOf } from '../../../shared/object/object';
import { ANNOTATION, GROUP } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

const place = (group: string, version: string, resource: string): string =>
  `${group === '' ? '/api' : '/apis'}/${apiVersionOf({ group, version })}/namespaces/default/${resource}`;

const EVENT = {
  eventTime: '2021-01-02T03:04:05.000001Z',
  action: 'A',
  type: 'Normal',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
};

test('an event is served in both groups, with the field names and selectors of each', async () => {
  const events = place(GROUP.events, 'v1', 'events');
  for (const name of ['a', 'b']) {
    const regarding = { kind: 'Pod', namespace: 'default', name };
    const body = { metadata: { name }, reason: 'R', note: 'n', regarding, ...EVENT };
    expect((await api.call('POST', events, { body })).code).toBe(201);
  }
  const core = await api.call('GET', `${place('', 'v1', 'events')}/a`);
  expect(core.json).toMatchObject({
    apiVersion: 'v1',
    message: 'n',
    involvedObject: { name: 'a' },
    reportingComponent: 'example.com/c',
  });
  expect(core.text).not.toContain('"regarding"');
  const selected = await api.call('GET', `${events}?fieldSelector=regarding.name%3Db`);
  expect(selected.json.items).toHaveLength(1);
  expect(selected.json.items[0]).toMatchObject({
    metadata: { name: 'b' },
    regarding: { name: 'b' },
    note: 'n',
  });
  const foreign = await api.call('GET', `${events}?fieldSelector=involvedObject.name%3Db`);
  expect(foreign.code).toBe(400);
});

test('a patch is applied in the version of its request, and changes what is stored', async () => {
  const old = place(GROUP.networking, 'v1beta1', 'ingresses');
  const spec = { backend: { serviceName: 's', servicePort: 'web' } };
  await api.call('POST', old, { body: { metadata: { name: 'i' }, spec } });
  const patched = await api.call('PATCH', `${old}/i`, { body: { spec: { backend: { servicePort: 80 } } } });
  expect(patched.json).toMatchObject({
    apiVersion: `${GROUP.networking}/v1beta1`,
    spec: { backend: { serviceName: 's', servicePort: 80 } },
  });
  const current = await api.call('GET', `${place(GROUP.networking, 'v1', 'ingresses')}/i`);
  expect(current.json).toMatchObject({
    metadata: { generation: 2 },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  });
});

test('a watch of one version returns writes through another in its own version', async () => {
  const stop = new AbortController();
  const frames = api.watch(`${place(GROUP.discovery, 'v1beta1', 'endpointslices')}?watch=1`, stop.signal);
  const next = frames.next();
  const body = {
    metadata: { name: 'e' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], zone: 'z', nodeName: 'n' }],
  };
  await api.call('POST', place(GROUP.discovery, 'v1', 'endpointslices'), { body });
  const { value } = await next;
  stop.abort();
  expect(value).toMatchObject({ type: 'ADDED', object: { apiVersion: `${GROUP.discovery}/v1beta1` } });
  expect(JSON.stringify(value)).toContain('"topology":{');
  expect(JSON.stringify(value)).not.toContain('"zone"');
});

test('each version has its own defaults, on creation and in the result of a patch', async () => {
  const path = (version: string): string =>
    `/apis/${GROUP.admissionregistration}/${version}/validatingwebhookconfigurations`;
  const hook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://example.com' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  for (const version of ['v1', 'v1beta1']) {
    const created = await api.call('POST', path(version), {
      body: { metadata: { name: version }, webhooks: [hook] },
    });
    expect(created.code).toBe(201);
  }
  const read = async (name: string): Promise<unknown> =>
    (await api.call('GET', `${path('v1')}/${name}`)).json.webhooks;
  expect(await read('v1')).toMatchObject([{ failurePolicy: 'Fail', timeoutSeconds: 10 }]);
  expect(await read('v1beta1')).toMatchObject([{ failurePolicy: 'Ignore', timeoutSeconds: 30 }]);
  const body = { webhooks: [hook] };
  expect((await api.call('PATCH', `${path('v1beta1')}/v1`, { body })).code).toBe(200);
  expect(await read('v1')).toMatchObject([{ failurePolicy: 'Ignore', timeoutSeconds: 30 }]);
});

test('annotations with invalid values of fields are dropped, as in v1.21', async () => {
  const path = place(GROUP.autoscaling, 'v1', 'horizontalpodautoscalers');
  const body = {
    metadata: { name: 'h', annotations: { [ANNOTATION.autoscalerMetrics]: '[{"type":5}]' } },
    spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
  };
  const { code, json } = await api.call('POST', path, { body });
  expect(code).toBe(201);
  expect(json.metadata.annotations).toBeUndefined();
  expect(json.spec.targetCPUUtilizationPercentage).toBe(80);
});

test('requests to a deprecated version get a warning, also when they fail; others do not', async () => {
  const old = place(GROUP.extensions, 'v1beta1', 'ingresses');
  const warning = `extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use ${GROUP.networking}/v1 Ingress`;
  expect((await api.call('GET', old)).warnings).toEqual([warning]);
  expect((await api.call('GET', `${old}/none`)).warnings).toEqual([warning]);
  expect((await api.call('GET', place(GROUP.networking, 'v1', 'ingresses'))).warnings).toEqual([]);
});

test('a deletion through batch/v1beta1 orphans dependents, one through batch/v1 does not', async () => {
  const path = (version: string): string => place(GROUP.batch, version, 'cronjobs');
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } };
  for (const name of ['old', 'new']) {
    expect((await api.call('POST', path('v1'), { body: { metadata: { name }, spec } })).code).toBe(201);
  }
  expect((await api.call('DELETE', `${path('v1beta1')}/old`)).json.metadata.finalizers).toEqual(['orphan']);
  expect((await api.call('DELETE', `${path('v1')}/new`)).json.kind).toBe('Status');
});

test('an alpha version is not served by default', async () => {
  const { json } = await api.call('GET', `/apis/${GROUP.rbac}/v1alpha1/clusterroles`);
  expect(json).toMatchObject({ kind: 'Status', code: 404, details: {} });
});
