import { GROUP } from '../../../../shared/names';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const REVIEWS = `/apis/${GROUP.authorization}/v1`;
const POD_READER = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'] });
});
afterEach(async () => {
  await api.close();
});

const user = (name: string): object => ({ kind: 'User', apiGroup: GROUP.rbac, name });
const group = (name: string): object => ({ kind: 'Group', apiGroup: GROUP.rbac, name });

async function write(path: string, body: object, method = 'POST'): Promise<Reply['json']> {
  const { code, json, text } = await api.call(method, `${RBAC}${path}`, { body });
  if (code >= 300) throw new Error(text);
  return json;
}

async function clusterRole(name: string, rules: readonly object[] = POD_READER): Promise<void> {
  await write('/clusterroles', { metadata: { name }, rules });
}

async function bindInCluster(name: string, role: string, subjects: readonly object[]): Promise<void> {
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: role };
  await write('/clusterrolebindings', { metadata: { name }, roleRef, subjects });
}

async function bind(
  name: string,
  [kind, role]: readonly [kind: string, role: string],
  subjects: readonly object[],
): Promise<void> {
  const roleRef = { apiGroup: GROUP.rbac, kind, name: role };
  await write('/namespaces/default/rolebindings', { metadata: { name }, roleRef, subjects });
}

interface Asked {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly namespace?: string;
  readonly path?: string;
}

/** The answer of a review about getting a pod, or a path. */
async function review({ path, namespace = '', ...who }: Asked): Promise<Reply['json']> {
  const about =
    path === undefined
      ? { resourceAttributes: { verb: 'get', resource: 'pods', name: 'p', namespace } }
      : { nonResourceAttributes: { verb: 'get', path } };
  const body = { spec: { user: 'u', ...who, ...about } };
  return (await api.call('POST', `${REVIEWS}/subjectaccessreviews`, { body })).json.status;
}

test('a role bound in the cluster holds everywhere, and the reason says by what', async () => {
  await clusterRole('reader');
  await bindInCluster('readers', 'reader', [group('dev'), user('u')]);
  const reason = 'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to User "u"';
  expect(await review({})).toEqual({ allowed: true, reason });
  expect(await review({ namespace: 'default' })).toEqual({ allowed: true, reason });
  expect(await review({ user: 'other' })).toEqual({ allowed: false });
  expect(await review({ user: 'other', groups: ['x', 'dev'] })).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "dev"',
  });
});

test('a role bound in a namespace holds there alone', async () => {
  await write('/namespaces/default/roles', { metadata: { name: 'reader' }, rules: POD_READER });
  await bind('readers', ['Role', 'reader'], [{ kind: 'ServiceAccount', name: 'robot' }]);
  const robot = 'system:serviceaccount:default:robot';
  expect(await review({ user: robot, namespace: 'default' })).toEqual({
    allowed: true,
    reason:
      'RBAC: allowed by RoleBinding "readers/default" of Role "reader" to ServiceAccount "robot/default"',
  });
  expect(await review({ user: robot })).toEqual({ allowed: false });
  expect(await review({ user: robot, namespace: 'other' })).toEqual({ allowed: false });
  expect(await review({ user: 'robot', namespace: 'default' })).toEqual({ allowed: false });
});

test('an account of another namespace is who it is there', async () => {
  await clusterRole('reader');
  await bind(
    'readers',
    ['ClusterRole', 'reader'],
    [{ kind: 'ServiceAccount', name: 'robot', namespace: 'far' }],
  );
  const asked = { namespace: 'default' };
  expect(await review({ ...asked, user: 'system:serviceaccount:far:robot' })).toMatchObject({
    allowed: true,
  });
  expect(await review({ ...asked, user: 'system:serviceaccount:default:robot' })).toEqual({ allowed: false });
});

test('what names, roles and bindings change counts at once', async () => {
  await clusterRole('reader');
  await bindInCluster('readers', 'reader', [user('u')]);
  expect(await review({})).toMatchObject({ allowed: true });
  await write('/clusterroles/reader', { rules: [{ ...POD_READER[0], resources: ['secrets'] }] }, 'PATCH');
  expect(await review({})).toEqual({ allowed: false });
  await write('/clusterroles/reader', { rules: POD_READER }, 'PATCH');
  expect(await review({})).toMatchObject({ allowed: true });
  await write('/clusterrolebindings/readers', { subjects: [user('v'), user('v')] }, 'PATCH');
  expect(await review({ user: 'v' })).toMatchObject({ allowed: true });
  expect(await review({})).toEqual({ allowed: false });
  await api.call('DELETE', `${RBAC}/clusterrolebindings/readers`);
  expect(await review({ user: 'v' })).toEqual({ allowed: false });
});

test('missing roles are reported, each once, and do not hide others', async () => {
  await bindInCluster('a', 'gone', [user('u')]);
  await bindInCluster('b', 'gone', [user('u')]);
  const one = `RBAC: clusterrole.${GROUP.rbac} "gone" not found`;
  expect(await review({})).toEqual({ allowed: false, reason: one });
  await bind('c', ['Role', 'lost'], [user('u')]);
  expect(await review({ namespace: 'default' })).toEqual({
    allowed: false,
    reason: `RBAC: [clusterrole.${GROUP.rbac} "gone" not found, role.${GROUP.rbac} "lost" not found]`,
  });
  await clusterRole('reader');
  await bindInCluster('d', 'reader', [user('u')]);
  expect(await review({})).toMatchObject({ allowed: true });
  await clusterRole('gone', [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }]);
  expect(await review({ path: '/a/b' })).toMatchObject({ allowed: true });
  expect(await review({ path: '/b' })).toEqual({ allowed: false });
});

test('a role of a namespace is no role of the cluster, and bindings there allow no paths', async () => {
  await clusterRole('all', [{ verbs: ['*'], nonResourceURLs: ['*'] }]);
  await bind('all', ['ClusterRole', 'all'], [user('u')]);
  expect(await review({ path: '/metrics' })).toEqual({ allowed: false });
});

test('requests are refused and allowed by it', async () => {
  const asUser = { headers: { 'impersonate-user': 'u' } };
  const refused = await api.call('GET', '/api/v1/namespaces/default/pods/p', asUser);
  expect(refused.json).toMatchObject({
    code: 403,
    message:
      'pods "p" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "default"',
  });
  await clusterRole('reader');
  await bind('readers', ['ClusterRole', 'reader'], [user('u')]);
  expect((await api.call('GET', '/api/v1/namespaces/default/pods/p', asUser)).code).toBe(404);
  expect((await api.call('GET', '/api/v1/pods', asUser)).code).toBe(403);
});

test('a rules review returns the rules of the namespace and the missing roles', async () => {
  await clusterRole('paths', [
    { verbs: ['get'], nonResourceURLs: ['/a'] },
    { ...POD_READER[0], resourceNames: ['p'] },
  ]);
  await clusterRole('asker', [{ verbs: ['create'], apiGroups: [GROUP.authorization], resources: ['*'] }]);
  await bindInCluster('asker', 'asker', [user('u')]);
  await bindInCluster('paths', 'paths', [user('u')]);
  await bind('gone', ['Role', 'gone'], [user('u')]);
  const body = { spec: { namespace: 'default' } };
  const asUser = { headers: { 'impersonate-user': 'u' } };
  const { json } = await api.call('POST', `${REVIEWS}/selfsubjectrulesreviews`, { body, ...asUser });
  expect(json.status).toEqual({
    resourceRules: [
      { verbs: ['create'], apiGroups: [GROUP.authorization], resources: ['*'] },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
    incomplete: false,
    evaluationError: `role.${GROUP.rbac} "gone" not found`,
  });
});

test('refilled roles are those of the store', async () => {
  await clusterRole('reader');
  await bindInCluster('readers', 'reader', [user('u')]);
  expect(await review({})).toMatchObject({ allowed: true });
  for (const resource of ['clusterroles', 'clusterrolebindings']) {
    api.plane.cache.rebuildResource(`${GROUP.rbac}/${resource}/`, 'a test');
  }
  expect(await review({})).toMatchObject({ allowed: true });
  await api.call('DELETE', `${RBAC}/clusterroles/reader`);
  expect(await review({})).toMatchObject({ allowed: false });
});

test('no request is allowed while roles are unavailable', async () => {
  await clusterRole('reader');
  await bindInCluster('readers', 'reader', [user('u')]);
  const cache = api.plane.cache.resource(`${GROUP.rbac}/clusterrolebindings/`);
  jest.spyOn(cache, 'isReady', 'get').mockReturnValue(false);
  jest.spyOn(cache, 'whenReady').mockReturnValue(Promise.reject(new Error('in time')));
  const asUser = { headers: { 'impersonate-user': 'u' } };
  expect((await api.call('GET', '/api/v1/namespaces/default/pods/p', asUser)).code).toBe(503);
  jest.restoreAllMocks();
  expect((await api.call('GET', '/api/v1/namespaces/default/pods/p', asUser)).code).toBe(404);
});
