import { GROUP, USER_GROUP } from '../../../shared/names';
import { meantForApi, tokenReviewer } from '../../engine/authn/token-authenticator';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const AUTHENTICATION = `/apis/${GROUP.authentication}`;
const AUTHORIZATION = `/apis/${GROUP.authorization}`;
const VERSIONS = ['v1', 'v1beta1'] as const;

let api: InProcessApi;
let isWell = true;

beforeEach(async () => {
  isWell = true;
  api = await startInProcessApi(undefined, {
    authorizationModes: ['AlwaysDeny'],
    services: {
      reviewToken: tokenReviewer(
        meantForApi(['https://api.example'], async (token) =>
          Promise.resolve(
            token === 'good'
              ? { user: { name: 'ann', uid: '7', groups: ['dev'], extra: { k: ['v'] } } }
              : undefined,
          ),
        ),
      ),
      apiAudiences: ['https://api.example'],
      components: [
        {
          name: 'store',
          check: async () => (isWell ? Promise.resolve() : Promise.reject(new Error('no leader'))),
        },
      ],
    },
  });
});

afterEach(async () => {
  await api.close();
});

describe.each(VERSIONS)('token reviews in %s', (version) => {
  const path = `${AUTHENTICATION}/${version}/tokenreviews`;
  const review = (spec: object): ReturnType<InProcessApi['call']> =>
    api.call('POST', path, { body: { spec } });

  test('tell whose a token is', async () => {
    const { code, json } = await review({ token: 'good' });
    expect(code).toBe(201);
    expect(json).toMatchObject({
      kind: 'TokenReview',
      spec: { token: 'good' },
      status: {
        authenticated: true,
        user: {
          username: 'ann',
          uid: '7',
          groups: ['dev', USER_GROUP.authenticated],
          extra: { k: ['v'] },
        },
        audiences: ['https://api.example'],
      },
    });
  });

  test('answer that a token is not known, which is no error', async () => {
    const { code, json } = await review({ token: 'bad' });
    expect(code).toBe(201);
    expect(json.status).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  test('believe nothing of what the client says the outcome was, and leave it where nothing is known', async () => {
    const status = {
      authenticated: true,
      error: 'e',
      user: { username: 'evil', uid: '1' },
      audiences: ['x'],
    };
    const bad = await api.call('POST', path, { body: { spec: { token: 'bad' }, status } });
    expect(bad.json.status).toEqual({
      user: { username: 'evil', uid: '1' },
      audiences: ['x'],
      error: 'invalid bearer token',
    });
    const good = await api.call('POST', path, { body: { spec: { token: 'good' }, status } });
    expect(good.json.status).toMatchObject({
      authenticated: true,
      user: { username: 'ann', uid: '7' },
      audiences: ['https://api.example'],
    });
  });

  test('take a token to be meant for the audiences of the API alone', async () => {
    const meant = await review({ token: 'good', audiences: ['x', 'https://api.example'] });
    expect(meant.json.status).toMatchObject({ authenticated: true, audiences: ['https://api.example'] });
    expect((await review({ token: 'good', audiences: ['x'] })).json.status.authenticated).toBeUndefined();
  });

  test('need a token', async () => {
    expect((await review({})).code).toBe(400);
  });

  test('have no namespace, so that one in the metadata is no matter', async () => {
    const body = { metadata: { name: 'x', namespace: 'none' }, spec: { token: 'good' } };
    expect((await api.call('POST', path, { body })).code).toBe(201);
  });
});

describe.each(VERSIONS)('access reviews in %s', (version) => {
  const base = `${AUTHORIZATION}/${version}`;
  const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' };

  test('answer from the authorizers', async () => {
    const ask = async (spec: object): Promise<unknown> =>
      (
        await api.call('POST', `${base}/subjectaccessreviews`, {
          body: { spec: { ...spec, resourceAttributes } },
        })
      ).json.status;
    expect(await ask({ user: 'u' })).toEqual({ allowed: false, reason: 'Everything is forbidden.' });
    const groups = version === 'v1' ? 'groups' : 'group';
    expect(await ask({ user: 'u', [groups]: [USER_GROUP.masters] })).toEqual({ allowed: true });
  });

  test('about oneself need no subject', async () => {
    const { code, json } = await api.call('POST', `${base}/selfsubjectaccessreviews`, {
      body: { spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } } },
    });
    expect([code, json.status.allowed]).toEqual([201, true]);
  });

  test('refuse a review with two attributes, with none, and without a user', async () => {
    const nonResourceAttributes = { path: '/', verb: 'get' };
    const fieldsOf = async (spec: object): Promise<unknown> =>
      (await api.call('POST', `${base}/subjectaccessreviews`, { body: { spec } })).json.details.causes.map(
        ({ field }: { field: string }) => field,
      );
    expect(await fieldsOf({ user: 'u', resourceAttributes, nonResourceAttributes })).toEqual([
      'spec.nonResourceAttributes',
    ]);
    expect(await fieldsOf({})).toEqual(['spec.resourceAttributes', 'spec.user']);
  });

  test('within a namespace are about that namespace', async () => {
    const path = `${base}/namespaces/default/localsubjectaccessreviews`;
    const ask = (attributes: object): ReturnType<InProcessApi['call']> =>
      api.call('POST', path, {
        body: { metadata: { namespace: 'default' }, spec: { user: 'u', resourceAttributes: attributes } },
      });
    expect((await ask(resourceAttributes)).code).toBe(201);
    const other = await ask({ ...resourceAttributes, namespace: 'other' });
    expect(other.json.details.causes[0].field).toBe('spec.resourceAttributes.namespace');
  });

  test('list the rules of the requesting user in a namespace', async () => {
    const path = `${base}/selfsubjectrulesreviews`;
    const { json } = await api.call('POST', path, { body: { spec: { namespace: 'default' } } });
    expect(json.status).toEqual({
      incomplete: false,
      resourceRules: [],
      nonResourceRules: [],
    });
    expect((await api.call('POST', path, { body: { spec: {} } })).code).toBe(400);
  });

  test('are created and nothing else', async () => {
    expect((await api.call('GET', `${base}/subjectaccessreviews`)).code).toBe(405);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await api.call(method, `${base}/subjectaccessreviews/x`)).code).toBe(404);
    }
  });
});

test('component statuses tell the health of the store as it is now', async () => {
  const path = '/api/v1/componentstatuses';
  const well = await api.call('GET', path);
  expect(well.json.items).toMatchObject([
    { metadata: { name: 'store' }, conditions: [{ type: 'Healthy', status: 'True' }] },
  ]);
  isWell = false;
  const ill = await api.call('GET', `${path}/store`);
  expect(ill.json.conditions).toMatchObject([{ status: 'False', message: 'no leader' }]);
  expect((await api.call('GET', `${path}/none`)).code).toBe(404);
  expect((await api.call('GET', `${path}?labelSelector=a`)).json.items).toEqual([]);
  expect((await api.call('GET', `${path}?limit=x`)).code).toBe(400);
  expect((await api.call('GET', `${path}?resourceVersionMatch=Exact`)).code).toBe(422);
});

test('operations keep nothing: discovery shows no storage version for them, and the cache does not know them', async () => {
  const { json } = await api.call('GET', `${AUTHORIZATION}/v1`);
  for (const resource of json.resources) expect(resource.storageVersionHash).toBeUndefined();
  const stored = api.plane.registry().stored.map(({ name }) => name);
  expect(stored.filter((name) => name.includes('review') || name === 'bindings')).toEqual([]);
});
