import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const CORE = '/api/v1/namespaces/default';

let api: InProcessApi;

/** Alice may change what is there. */
beforeEach(async () => {
  api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'] });
  await allow('changer', ['update', 'patch']);
});
afterEach(async () => {
  await api.close();
});

async function asMaster(path: string, body: object): Promise<void> {
  const { code, text } = await api.call('POST', path, { body });
  if (code >= 300) throw new Error(text);
}

async function allow(
  name: string,
  verbs: readonly string[],
  resourceNames?: readonly string[],
): Promise<void> {
  const resources = ['configmaps', 'limitranges', 'endpoints'];
  const rules = [{ verbs, apiGroups: [''], resources, ...(resourceNames && { resourceNames }) }];
  await asMaster(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name };
  const subjects = [{ kind: 'User', apiGroup: GROUP.rbac, name: 'alice' }];
  await asMaster(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
}

async function put(resource: string, name: string, content: object = {}): Promise<Reply> {
  return api.call('PUT', `${CORE}/${resource}/${name}`, {
    body: { metadata: { name }, ...content },
    headers: { 'impersonate-user': 'alice' },
  });
}

async function apply(name: string, query = ''): Promise<Reply> {
  return api.call('PATCH', `${CORE}/configmaps/${name}?fieldManager=alice${query}`, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    headers: { 'impersonate-user': 'alice', 'content-type': MEDIA_TYPE.applyPatch },
  });
}

test('a PUT that would create is forbidden for those who may only change', async () => {
  const { json } = await put('endpoints', 'e');
  expect(json).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message: 'endpoints "e" is forbidden: ',
    details: { name: 'e', kind: 'endpoints' },
  });
  await asMaster(`${CORE}/endpoints`, { metadata: { name: 'e' } });
  expect((await put('endpoints', 'e')).code).toBe(200);
});

test('an apply that would create is forbidden for those who may only patch, as a dry run too', async () => {
  expect((await apply('c', '&dryRun=All')).code).toBe(403);
  expect((await apply('c')).json.message).toBe('configmaps "c" is forbidden: ');
  await asMaster(`${CORE}/configmaps`, { metadata: { name: 'c' } });
  expect((await apply('c')).code).toBe(200);
});

test('those who may create as well may create by a change, also where only one name is theirs', async () => {
  await allow('creator', ['create'], ['e', 'c']);
  expect((await put('endpoints', 'e')).code).toBe(201);
  expect((await put('endpoints', 'f')).code).toBe(403);
  expect((await apply('c')).code).toBe(201);
  expect((await apply('d')).code).toBe(403);
});

test('validation errors come first, and a missing object that no change creates is 404', async () => {
  const subsets = [{ addresses: [{ ip: 'x' }] }];
  expect((await put('endpoints', 'e', { subsets })).code).toBe(422);
  expect((await put('configmaps', 'c')).code).toBe(404);
});

test('where it is not known who may create, a PUT that would create fails, and forbids nothing', async () => {
  const unsure = await startInProcessApi(undefined, {
    services: {
      authorize: async ({ verb }) =>
        Promise.resolve(
          verb === 'create'
            ? { decision: 'no-opinion', reason: '', error: 'no authorizer answered' }
            : { decision: 'allow', reason: '' },
        ),
    },
  });
  const { json } = await unsure.call('PUT', `${CORE}/endpoints/e`, { body: { metadata: { name: 'e' } } });
  expect(json).toMatchObject({ code: 500, message: 'Internal error occurred: no authorizer answered' });
  await unsure.close();
});

test('a POST is asked about once, and a PUT that creates once more', async () => {
  const asked: string[] = [];
  const noting = await startInProcessApi(undefined, {
    services: {
      authorize: async ({ verb, resource, name }) => {
        asked.push(`${verb} ${resource} ${name}`);
        return Promise.resolve({ decision: 'allow', reason: '' });
      },
    },
  });
  asked.length = 0;
  await noting.call('POST', `${CORE}/configmaps`, { body: { metadata: { name: 'c' } } });
  await noting.call('PUT', `${CORE}/endpoints/e`, { body: { metadata: { name: 'e' } } });
  expect(asked).toEqual(['create configmaps ', 'update endpoints e', 'create endpoints e']);
  await noting.close();
});
