import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

/** What an apply leaves of what it no longer says, or says to be empty. */
let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const CORE = '/api/v1/namespaces/default';

async function apply(url: string, kind: object, body: object): Promise<Reply> {
  const metadata = {
    name: url
      .replace(/\/status$/u, '')
      .split('/')
      .at(-1),
    ...metadataOf(body),
  };
  return api.call('PATCH', `${url}?fieldManager=m&force=true`, {
    headers: { 'content-type': MEDIA_TYPE.applyPatch },
    body: { ...kind, ...body, metadata },
  });
}

function metadataOf(body: { readonly metadata?: object }): object {
  return body.metadata ?? {};
}

test('the last annotation of an autoscaler is removed, for owners of the rest in any version', async () => {
  const url = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/annotated`;
  const kind = (version: string): object => ({
    kind: 'HorizontalPodAutoscaler',
    apiVersion: `autoscaling/${version}`,
  });
  const spec = { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
  const annotated = { metadata: { annotations: { note: 'x' } }, spec };
  expect((await apply(url('v1'), kind('v1'), annotated)).code).toBe(201);
  const other = await api.call('PATCH', `${url('v2beta2')}?fieldManager=other&force=true`, {
    headers: { 'content-type': MEDIA_TYPE.applyPatch },
    body: { ...kind('v2beta2'), metadata: { name: 'annotated' }, spec },
  });
  expect(other.code).toBe(200);
  const reply = await apply(`${url('v1')}/status`, kind('v1'), { status: { currentReplicas: 2 } });
  expect([reply.code, reply.json.metadata.annotations]).toEqual([200, undefined]);
});

describe('an object without labels gets those of its template', () => {
  const containers = [{ name: 'c', image: 'i' }];

  test('a Job, of its status', async () => {
    const url = '/apis/batch/v1/namespaces/default/jobs/labelled';
    const kind = { kind: 'Job', apiVersion: 'batch/v1' };
    const spec = { template: { spec: { restartPolicy: 'Never', containers } } };
    const created = await apply(url, kind, { metadata: { labels: { tier: 'y' } }, spec });
    expect(created.json.metadata.labels).toEqual({ tier: 'y' });
    const { json } = await apply(`${url}/status`, kind, { status: { failed: 1 } });
    expect(json.metadata.labels).toEqual({
      'controller-uid': created.json.metadata.uid,
      'job-name': 'labelled',
    });
  });

  test('a ReplicationController, of its status', async () => {
    const url = `${CORE}/replicationcontrollers/labelled`;
    const kind = { kind: 'ReplicationController', apiVersion: 'v1' };
    const spec = { template: { metadata: { labels: { app: 'a' } }, spec: { containers } } };
    const created = await apply(url, kind, { metadata: { labels: { tier: 'y' } }, spec });
    expect(created.json.metadata.labels).toEqual({ tier: 'y' });
    const { json } = await apply(`${url}/status`, kind, { status: { replicas: 0 } });
    expect(json.metadata.labels).toEqual({ app: 'a' });
  });
});

test('an item whose key is empty is stored without it, and the list cannot be applied to again', async () => {
  const url = `${CORE}/serviceaccounts/nameless`;
  const kind = { kind: 'ServiceAccount', apiVersion: 'v1' };
  await apply(url, kind, {});
  const named = { secrets: [{ name: '' }] };
  expect((await apply(url, kind, named)).json['secrets']).toEqual([{}]);
  const reply = await apply(url, kind, named);
  expect([reply.code, reply.json.message]).toEqual([
    400,
    'failed to create typed live object: .secrets: element 0: associative list with keys has an element that omits key field "name" ' +
      "(and doesn't have default value)",
  ]);
  // What says nothing of the list is let through: upstream refuses that, too.
  const elsewhere = await apply(url, kind, { automountServiceAccountToken: false });
  expect([elsewhere.code, elsewhere.json['automountServiceAccountToken']]).toEqual([200, false]);
});

test('empty bytes are absent, and do not increment the generation', async () => {
  const url = `/apis/${GROUP.admissionregistration}/v1/validatingwebhookconfigurations/bytes`;
  const kind = {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: `${GROUP.admissionregistration}/v1`,
  };
  const webhooks = (caBundle: object): object[] => [
    {
      name: 'a.example.com',
      clientConfig: { service: { namespace: 'default', name: 's' }, ...caBundle },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ];
  await apply(url, kind, { webhooks: webhooks({}) });
  const { json } = await apply(url, kind, { webhooks: webhooks({ caBundle: '' }) });
  expect(json.metadata.generation).toBe(1);
  const patched = await api.call('PATCH', url, { body: { webhooks: webhooks({ caBundle: '' }) } });
  expect(patched.json.metadata.generation).toBe(1);
});
