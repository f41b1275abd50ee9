import type { Answer, RequestOptions } from './support/client';
import { suiteHaSet, suiteLocalServer } from './support/suite';

/**
 * Requests that would block the event loop for long run on a worker thread of a real server, with the flags, the rules and the store of the
 * process.
 */
const local = suiteLocalServer('kubernetes');

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const VALUES = 20_000;
/** The number of listed causes; the message counts the others. */
const CAUSES_MAX = 1_000;

const call = async (options: RequestOptions): Promise<Answer> => local.replica.client.request(options);

const data = Object.fromEntries(Array.from({ length: VALUES }, (_, at) => [`key-${String(at)}`, 'x']));

async function counted(): Promise<number> {
  const { text } = await call({ path: '/metrics' });
  return Number(/^apiserver_large_requests_total (\d+)$/mu.exec(text)?.[1]);
}

test('a large object is written, read in any encoding, patched, watched and deleted', async () => {
  expect(await counted()).toBe(0);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data };
  const [created, meanwhile] = await Promise.all([
    call({ method: 'POST', path: COLLECTION, body }),
    call({ method: 'POST', path: COLLECTION, body: { ...body, metadata: { name: 'small' }, data: {} } }),
  ]);
  expect([created.status, meanwhile.status, await counted()]).toEqual([201, 201, 1]);
  expect(created.body.data).toEqual(data);
  const path = `${COLLECTION}/large`;
  const patched = await call({
    method: 'PATCH',
    path,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { data: { more: 'y' } },
  });
  expect(patched.status).toBe(200);
  // A consistent read finds the write of the thread in the cache of the process.
  const read = await call({ path });
  expect(read.body.data).toEqual({ ...data, more: 'y' });
  expect(read.body.metadata?.resourceVersion).toBe(patched.body.metadata?.resourceVersion);
  const yaml = await call({ path, headers: { accept: 'application/yaml' } });
  expect(yaml.text).toContain(`  key-${String(VALUES - 1)}: x\n`);
  // An element of a list is also encoded on a thread, and keeps its position.
  for (const accept of [
    'application/yaml',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json',
  ]) {
    const { text } = await call({ path: COLLECTION, headers: { accept } });
    const at = ['kube-root-ca.crt', 'large', 'small']
      .map((name) => text.lastIndexOf(name))
      .filter((found) => found >= 0);
    expect([at.length >= 2, at]).toEqual([true, at.toSorted((one, other) => one - other)]);
  }
  // A frame of a watch is also encoded on a thread.
  for (const accept of [
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
  ]) {
    const watching = `${COLLECTION}?watch=1&timeoutSeconds=5&fieldSelector=metadata.name%3Dlarge`;
    const { text } = await call({ path: watching, headers: { accept } });
    expect([text.includes('ADDED'), text.includes('large')]).toEqual([true, true]);
  }
  const { status } = await call({ method: 'DELETE', path });
  expect([status, (await call({ path })).status]).toEqual([200, 404]);
});

test('a large invalid body is refused with its causes', async () => {
  const { status, body } = await call({
    method: 'POST',
    path: '/api/v1/namespaces/default/pods',
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'large' },
      spec: { containers: Array.from({ length: VALUES }, () => ({ name: 'a', image: 'b' })) },
    },
  });
  expect([status, body.reason]).toEqual([422, 'Invalid']);
  expect(body.details?.causes?.filter(({ reason }) => reason === 'FieldValueDuplicate')).toHaveLength(
    CAUSES_MAX,
  );
});

test('rules that involve other objects apply to large objects too', async () => {
  const labels = { a: 'b' };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'wides.example.com', labels },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'wides', kind: 'Wide' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { values: { type: 'array', items: { type: 'integer', maximum: VALUES } } },
            },
          },
        },
      ],
    },
  };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await call({ method: 'POST', path, body: crd })).status).toBe(201);
  const wide = { apiVersion: 'example.com/v1', kind: 'Wide', metadata: { name: 'wide' } };
  const objects = '/apis/example.com/v1/namespaces/default/wides';
  const values = Array.from({ length: VALUES }, (_, at) => at);
  let answer = await call({ method: 'POST', path: objects, body: { ...wide, values } });
  while (answer.status === 404)
    answer = await call({ method: 'POST', path: objects, body: { ...wide, values } });
  expect(answer.status).toBe(201);
  const refused = await call({
    method: 'PUT',
    path: `${objects}/wide`,
    body: { ...answer.body, values: [...values, VALUES + 1] },
  });
  expect([refused.status, refused.body.message]).toEqual([
    422,
    expect.stringContaining('should be less than or equal to'),
  ]);
  const missing = await call({
    method: 'POST',
    path: '/api/v1/namespaces/absent/configmaps',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data },
  });
  expect(missing.status).toBe(404);
});

describe('in a process that may use little memory', () => {
  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
    processOf: () => ({ nodeFlags: ['--max-old-space-size=200'], env: {} }),
  });

  test('a request that needs too much memory ends its thread only, and the next one starts another', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'large' } };
    const containers = Array.from({ length: 900_000 }, () => ({}));
    const path = '/api/v1/namespaces/default/pods';
    const lost = await set.client.request({ method: 'POST', path, body: { ...pod, spec: { containers } } });
    expect([lost.status, lost.body.reason]).toEqual([504, 'Timeout']);
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data };
    const next = await set.client.request({ method: 'POST', path: COLLECTION, body: configMap });
    expect([next.status, (await set.client.request({ path: '/livez' })).status]).toEqual([201, 200]);
  });
});
