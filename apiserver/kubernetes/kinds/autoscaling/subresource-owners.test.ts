import { GROUP, MEDIA_TYPE } from '../../../../shared/names';
import type { ManagedFieldsEntry } from '../../../../shared/object/object';
import { define, definitionBody, gizmo, GIZMOS_PATH } from '../../../testing/custom-resources/definitions';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

/** Managers own fields through subresources, as since v1.22; in orch's own dialect they do not. */

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, {
    subresourceOwners: true,
    kindSettings: { allowPrivileged: false, ephemeralContainers: true },
  });
});
afterAll(async () => api.close());

const CORE = '/api/v1/namespaces/default';
const APPS = '/apis/apps/v1/namespaces/default';
const SELECTOR = { matchLabels: { app: 'web' } };
const CONTAINERS = [{ name: 'c', image: 'i' }];
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: CONTAINERS } };
const REPLICAS = { 'f:spec': { 'f:replicas': {} } };

async function applyTo(url: string, manager: string, body: object, query = ''): Promise<Reply> {
  const headers = { 'content-type': MEDIA_TYPE.applyPatch };
  return api.call('PATCH', `${url}?fieldManager=${manager}${query}`, { body, headers });
}

async function patchOf(url: string, manager: string, body: object): Promise<Reply> {
  return api.call('PATCH', `${url}?fieldManager=${manager}`, { body });
}

async function entriesOf(url: string): Promise<readonly ManagedFieldsEntry[]> {
  const { json } = await api.call('GET', url);
  return json.metadata.managedFields as readonly ManagedFieldsEntry[];
}

/** The owners of these fields: `Update kubectl scale`. */
async function ownersOf(url: string, fields: object): Promise<readonly string[]> {
  return (await entriesOf(url))
    .filter(({ fieldsV1 }) => contains(fieldsV1 as object, fields))
    .map(({ operation = '', manager = '', subresource = '' }) =>
      `${operation} ${manager} ${subresource}`.trim(),
    );
}

function contains(all: object, part: object): boolean {
  return Object.entries(part).every(([key, below]) => {
    const there = (all as Record<string, object>)[key];
    return there !== undefined && contains(there, below as object);
  });
}

const scale = (replicas: number): object => ({
  apiVersion: `${GROUP.autoscaling}/v1`,
  kind: 'Scale',
  metadata: { name: 'web' },
  spec: { replicas },
});

describe.each([
  ['Deployment', 'apps/v1', `${APPS}/deployments/web`, { selector: SELECTOR }],
  ['ReplicaSet', 'apps/v1', `${APPS}/replicasets/web`, { selector: SELECTOR }],
  ['StatefulSet', 'apps/v1', `${APPS}/statefulsets/web`, { selector: SELECTOR, serviceName: 's' }],
  ['ReplicationController', 'v1', `${CORE}/replicationcontrollers/web`, {}],
])('the scale of a %s', (kind, apiVersion, url, rest) => {
  const parent = (replicas?: number): object => ({
    apiVersion,
    kind,
    metadata: { name: 'web' },
    spec: { ...rest, template: TEMPLATE, ...(replicas === undefined ? {} : { replicas }) },
  });

  test('gives the replicas to its writer, so that an apply of the old number is a conflict', async () => {
    expect((await applyTo(url, 'deployer', parent(2))).code).toBe(201);
    expect((await patchOf(`${url}/scale`, 'kubectl', { spec: { replicas: 3 } })).code).toBe(200);
    expect(await entriesOf(url)).toContainEqual({
      manager: 'kubectl',
      operation: 'Update',
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: REPLICAS,
      subresource: 'scale',
    });
    expect(await ownersOf(url, REPLICAS)).toEqual(['Update kubectl scale']);
    const refused = await applyTo(url, 'deployer', parent(2));
    expect(refused.json).toMatchObject({
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using ${apiVersion}: .spec.replicas`,
    });
  });

  test('a PUT or a patch of the same number writes nothing', async () => {
    const before = await api.call('GET', url);
    await patchOf(`${url}/scale`, 'another', { spec: { replicas: 3 } });
    const { json } = await api.call('GET', `${url}/scale`);
    await api.call('PUT', `${url}/scale?fieldManager=third`, { body: json });
    expect((await api.call('GET', url)).text).toBe(before.text);
  });

  test('an apply of the same number shares the replicas, and a forced apply takes them', async () => {
    expect((await applyTo(url, 'deployer', parent(3))).code).toBe(200);
    expect(await ownersOf(url, REPLICAS)).toEqual(['Apply deployer', 'Update kubectl scale']);
    const refused = await applyTo(`${url}/scale`, 'scaler', scale(5));
    expect(refused.json.details.causes.map(({ message }: { message: string }) => message).sort()).toEqual([
      'conflict with "deployer"',
      `conflict with "kubectl" with subresource "scale" using ${GROUP.autoscaling}/v1`,
    ]);
    expect((await applyTo(`${url}/scale`, 'scaler', scale(5), '&force=true')).code).toBe(200);
    expect(await ownersOf(url, REPLICAS)).toEqual(['Apply scaler scale']);
    const before = await api.call('GET', url);
    expect((await applyTo(`${url}/scale`, 'scaler', scale(5))).code).toBe(200);
    expect((await api.call('GET', url)).text).toBe(before.text);
  });

  test('a client cannot set managedFields through the scale', async () => {
    const before = await entriesOf(url);
    await patchOf(`${url}/scale`, 'kubectl', { metadata: { managedFields: [{}] } });
    expect(await entriesOf(url)).toEqual(before);
  });

  test('zero replicas have no owner, and an object without owners of them gets none by an update', async () => {
    await patchOf(`${url}/scale`, 'kubectl', { spec: { replicas: 0 } });
    expect(await ownersOf(url, REPLICAS)).toEqual([]);
    await patchOf(`${url}/scale`, 'kubectl', { spec: { replicas: 4 } });
    expect(await ownersOf(url, REPLICAS)).toEqual([]);
  });
});

test('the scale of a custom resource owns the field of its definition, in the versions that have a scale', async () => {
  const scaled = {
    status: {},
    scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
  };
  const versions = [{ name: 'v1', subresources: scaled }, { name: 'v2' }];
  await define(api, definitionBody({ versions }));
  const url = `${GIZMOS_PATH}/g`;
  const other = url.replace('/v1/', '/v2/');
  const size = { 'f:spec': { 'f:size': {} } };
  expect((await applyTo(url, 'one', gizmo('g', { spec: { size: 2 } }))).code).toBe(201);
  const inOther = { ...gizmo('g', { spec: { size: 2 } }), apiVersion: 'example.com/v2' };
  expect((await applyTo(other, 'two', inOther)).code).toBe(200);
  expect((await patchOf(`${url}/scale`, 'kubectl', { spec: { replicas: 3 } })).code).toBe(200);
  // A version without a scale keeps its owners, as upstream.
  expect(await ownersOf(url, size)).toEqual(['Apply two', 'Update kubectl scale']);
  const { json } = await applyTo(url, 'one', gizmo('g', { spec: { size: 2 } }));
  expect([json.code, json.details.causes[0].field]).toEqual([409, '.spec.size']);
});

describe('a subresource of the object itself', () => {
  const pods = `${CORE}/pods`;

  beforeAll(async () => {
    const body = { metadata: { name: 'p' }, spec: { containers: CONTAINERS } };
    await api.call('POST', `${pods}?fieldManager=one`, { body });
  });

  test('has entries of its own, for updates and for applies', async () => {
    await patchOf(`${pods}/p/status`, 'one', { status: { phase: 'Running' } });
    const status = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { reason: 'R' } };
    await applyTo(`${pods}/p/status`, 'one', status);
    const labels = { ...status, metadata: { name: 'p', labels: { a: 'b' } }, status: undefined };
    await applyTo(`${pods}/p`, 'one', labels);
    const found = await entriesOf(`${pods}/p`);
    expect(found.map(({ operation, subresource }) => [operation, subresource])).toEqual(
      expect.arrayContaining([
        ['Apply', undefined],
        ['Apply', 'status'],
        ['Update', undefined],
        ['Update', 'status'],
      ]),
    );
    expect(found).toHaveLength(4);
    const refused = await applyTo(`${pods}/p/status`, 'two', { ...status, status: { phase: 'Failed' } });
    expect(refused.json.details.causes).toMatchObject([
      { message: 'conflict with "one" with subresource "status" using v1', field: '.status.phase' },
    ]);
  });

  test('such as the ephemeral containers of a pod', async () => {
    const body = { ephemeralContainers: [{ name: 'debug', image: 'i' }] };
    expect((await patchOf(`${pods}/p/ephemeralcontainers`, 'debugger', body)).code).toBe(200);
    const fields = { 'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"debug"}': { 'f:image': {} } } } };
    expect(await ownersOf(`${pods}/p`, fields)).toEqual(['Update debugger ephemeralcontainers']);
  });

  test('such as the finalizers of a namespace', async () => {
    const spaces = '/api/v1/namespaces';
    const { json } = await api.call('POST', `${spaces}?fieldManager=one`, {
      body: { metadata: { name: 'n' } },
    });
    const body = { ...json, spec: { finalizers: ['example.com/f'] } };
    expect((await api.call('PUT', `${spaces}/n/finalize?fieldManager=two`, { body })).code).toBe(200);
    expect(await ownersOf(`${spaces}/n`, { 'f:spec': {} })).toEqual(['Update two finalize']);
  });

  test('a binding changes no owners', async () => {
    const before = await entriesOf(`${pods}/p`);
    const body = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'node' } };
    expect((await api.call('POST', `${pods}/p/binding?fieldManager=scheduler`, { body })).code).toBe(201);
    expect(await entriesOf(`${pods}/p`)).toEqual(before);
  });
});
