import { GROUP, MEDIA_TYPE } from '../../../../shared/names';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

const SELECTOR = { matchLabels: { app: 'web' } };
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

/** The kinds with a scale: where they are, and a valid spec but for the replicas. */
const PARENTS = [
  ['Deployment', 'apps/v1', '/apis/apps/v1/namespaces/default/deployments', { selector: SELECTOR }],
  ['ReplicaSet', 'apps/v1', '/apis/apps/v1/namespaces/default/replicasets', { selector: SELECTOR }],
  [
    'StatefulSet',
    'apps/v1',
    '/apis/apps/v1/namespaces/default/statefulsets',
    { selector: SELECTOR, serviceName: 's' },
  ],
  ['ReplicationController', 'v1', '/api/v1/namespaces/default/replicationcontrollers', {}],
] as const;

async function applyTo(url: string, manager: string, body: object, query = ''): Promise<Reply> {
  return api.call('PATCH', `${url}?fieldManager=${manager}${query}`, {
    body,
    headers: { 'content-type': MEDIA_TYPE.applyPatch },
  });
}

function scale(spec: object, metadata: object = { name: 'web' }): object {
  return { apiVersion: `${GROUP.autoscaling}/v1`, kind: 'Scale', metadata, spec };
}

async function owners(url: string): Promise<unknown> {
  return (await api.call('GET', url)).json.metadata.managedFields as unknown;
}

describe.each(PARENTS)('the scale of a %s', (kind, apiVersion, collection, rest) => {
  const url = `${collection}/web`;
  const parent = (replicas?: number): object => ({
    apiVersion,
    kind,
    metadata: { name: 'web' },
    spec: { ...rest, template: TEMPLATE, ...(replicas === undefined ? {} : { replicas }) },
  });

  test('a forced apply does not change the other owners of the object', async () => {
    await applyTo(url, 'deployer', parent(2));
    const before = await owners(url);
    const reply = await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 3 }), '&force=true');
    expect(reply.json).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    expect(reply.code).toBe(200);
    expect((await api.call('GET', url)).json.spec.replicas).toBe(3);
    expect(await owners(url)).toEqual(before);
    expect((await applyTo(url, 'deployer', parent(2))).json.spec.replicas).toBe(2);
  });

  test('conflicts with a current value without a known owner, unless the values are equal', async () => {
    await applyTo(url, 'deployer', parent(2));
    const before = await api.call('GET', url);
    const refused = await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 3 }));
    expect(refused.json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }] },
    });
    expect((await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 2 }))).code).toBe(200);
    expect((await api.call('GET', url)).text).toBe(before.text);
  });

  test('does not conflict when there are no replicas', async () => {
    await applyTo(url, 'deployer', parent(0));
    const reply = await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 3 }));
    expect([reply.code, reply.json.spec]).toEqual([200, { replicas: 3 }]);
  });

  test('that says the same again writes nothing', async () => {
    await applyTo(url, 'deployer', parent());
    await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 3 }), '&force=true');
    const before = await api.call('GET', url);
    await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 3 }));
    expect((await api.call('GET', url)).text).toBe(before.text);
  });

  test('as a dry run shows what would be and stores nothing', async () => {
    await applyTo(url, 'deployer', parent());
    const before = await api.call('GET', url);
    const dry = await applyTo(`${url}/scale`, 'scaler', scale({ replicas: 7 }), '&force=true&dryRun=All');
    expect(dry.json.spec).toEqual({ replicas: 7 });
    expect((await api.call('GET', url)).text).toBe(before.text);
  });
});

const [, , DEPLOYMENTS] = PARENTS[0];
const WEB = `${DEPLOYMENTS}/web`;

async function createDeployment(spec: object = {}): Promise<void> {
  const body = { metadata: { name: 'web' }, spec: { selector: SELECTOR, template: TEMPLATE, ...spec } };
  expect((await api.call('POST', `${DEPLOYMENTS}?fieldManager=creator`, { body })).code).toBe(201);
}

test('an update or patch of the scale leaves the owners of the object as they are', async () => {
  await createDeployment({ replicas: 1 });
  const before = await owners(WEB);
  await api.call('PATCH', `${WEB}/scale?fieldManager=person`, { body: { spec: { replicas: 5 } } });
  const { json } = await api.call('GET', `${WEB}/scale`);
  const put = { ...json, spec: { replicas: 6 } };
  expect((await api.call('PUT', `${WEB}/scale?fieldManager=another`, { body: put })).code).toBe(200);
  expect(await owners(WEB)).toEqual(before);
});

test.each<[what: string, body: object, code: number]>([
  ['another kind', { ...scale({}), kind: 'Deployment' }, 400],
  ['another version', { ...scale({}), apiVersion: `${GROUP.autoscaling}/v2beta2` }, 400],
  ['another name', scale({ replicas: 1 }, { name: 'other' }), 400],
  ['a negative number', scale({ replicas: -1 }), 422],
  [
    'an owner without a name',
    scale({ replicas: 1 }, { name: 'web', ownerReferences: [{ apiVersion: 'v1', kind: 'K', uid: 'u' }] }),
    422,
  ],
  ['a text for a number', scale({ replicas: 'three' }), 400],
  ['an unknown field', scale({ replicas: 1, nonsense: 1 }), 400],
  ['managedFields', scale({ replicas: 1 }, { name: 'web', managedFields: [{}] }), 400],
  ['a stale version', scale({ replicas: 1 }, { name: 'web', resourceVersion: '1' }), 409],
])('a scale with %s is refused and changes nothing', async (_what, body, code) => {
  await createDeployment({ replicas: 1 });
  const before = await api.call('GET', WEB);
  expect((await applyTo(`${WEB}/scale`, 'scaler', body, '&force=true')).code).toBe(code);
  expect((await api.call('GET', WEB)).text).toBe(before.text);
});

test('the scale of nothing is NotFound', async () => {
  expect((await applyTo(`${DEPLOYMENTS}/none/scale`, 'scaler', scale({}, { name: 'none' }))).code).toBe(404);
  const ofOther = { ...scale({}, { name: 'none' }), apiVersion: 'apps/v1' };
  expect((await applyTo(`${DEPLOYMENTS}/none/scale`, 'scaler', ofOther)).code).toBe(404);
});
