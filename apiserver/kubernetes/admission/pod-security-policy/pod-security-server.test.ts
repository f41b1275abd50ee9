import { ANNOTATION, GROUP } from '../../../../shared/names';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

/** The plugin in a server with RBAC. */

const SPACE = '/api/v1/namespaces/default';
const POLICIES = '/apis/policy/v1beta1/podsecuritypolicies';
const RBAC = `/apis/${GROUP.rbac}/v1`;
const ANY = { rule: 'RunAsAny' };
const OPEN = { runAsUser: ANY, seLinux: ANY, fsGroup: ANY, supplementalGroups: ANY, volumes: ['*'] };

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi(undefined, {
    authorizationModes: ['RBAC'],
    admission: { enable: ['PodSecurityPolicy'], disable: ['StorageObjectInUseProtection'] },
    kindSettings: { allowPrivileged: true, ephemeralContainers: false },
  });
  await post(`${SPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  await post(POLICIES, {
    metadata: { name: 'a-restricted' },
    spec: { ...OPEN, runAsUser: { rule: 'MustRunAsNonRoot' } },
  });
  await post(POLICIES, { metadata: { name: 'b-privileged' }, spec: { ...OPEN, privileged: true } });
  await may('jane', { verbs: ['*'], apiGroups: [''], resources: ['pods'] });
});
afterEach(async () => api.close());

async function post(url: string, body: object): Promise<void> {
  const { code, json } = await api.call('POST', url, { body });
  expect([code, json.message]).toEqual([201, undefined]);
}

let roles = 0;

/** Grants a user, or the accounts of the namespace, a permission in the namespace. */
async function may(who: string, rule: object): Promise<void> {
  const name = `r${String((roles += 1))}`;
  await post(`${RBAC}/namespaces/default/roles`, { metadata: { name }, rules: [rule] });
  const kind = who.startsWith('system:') ? 'Group' : 'User';
  await post(`${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: GROUP.rbac, kind: 'Role', name },
    subjects: [{ kind, apiGroup: GROUP.rbac, name: who }],
  });
}

const useOf = (name: string) => ({
  verbs: ['use'],
  apiGroups: ['policy'],
  resources: ['podsecuritypolicies'],
  resourceNames: [name],
});

async function asJane(method: string, url: string, body: object): Promise<Reply> {
  return api.call(method, url, { body, headers: { 'impersonate-user': 'jane' } });
}

async function create(name: string, securityContext: object = {}): Promise<Reply> {
  const containers = [{ name: 'c', image: 'i', securityContext }];
  return asJane('POST', `${SPACE}/pods`, { metadata: { name }, spec: { containers } });
}

test('a user without a usable policy writes no pod and learns nothing about policies', async () => {
  const { code, json } = await create('p');
  expect([code, json.message]).toEqual([
    403,
    'pods "p" is forbidden: PodSecurityPolicy: unable to admit pod: []',
  ]);
});

test("a policy of the namespace's accounts applies to pods of all authors", async () => {
  await may('system:serviceaccounts:default', useOf('a-restricted'));
  const { json: pod } = await create('p');
  expect(pod.metadata.annotations[ANNOTATION.securityPolicy]).toBe('a-restricted');
  expect(pod.spec.containers[0].securityContext).toEqual({ runAsNonRoot: true });
  const refused = await create('q', { privileged: true, runAsUser: 1 });
  expect(refused.json.message).toBe(
    'pods "q" is forbidden: PodSecurityPolicy: unable to admit pod: ' +
      '[spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed]',
  );
  await may('jane', useOf('b-privileged'));
  const { json: other } = await create('q', { privileged: true, runAsUser: 1 });
  expect(other.metadata.annotations[ANNOTATION.securityPolicy]).toBe('b-privileged');
});

test('a policy without changes comes before one with changes', async () => {
  await may('jane', useOf('a-restricted'));
  await may('jane', useOf('b-privileged'));
  const { json } = await create('p');
  expect(json.metadata.annotations[ANNOTATION.securityPolicy]).toBe('b-privileged');
  expect(json.spec.containers[0].securityContext).toEqual({});
});

test('an update must match as well, and a deleted policy admits none', async () => {
  await may('jane', useOf('b-privileged'));
  await create('p', { privileged: true });
  const patch = { metadata: { labels: { a: 'b' } } };
  const patched = async (): Promise<number> => (await asJane('PATCH', `${SPACE}/pods/p`, patch)).code;
  expect(await patched()).toBe(200);
  await api.call('DELETE', `${POLICIES}/b-privileged`);
  const { code, json } = await asJane('PATCH', `${SPACE}/pods/p`, { metadata: { labels: { a: 'c' } } });
  expect([code, json.message]).toEqual([
    403,
    'pods "p" is forbidden: PodSecurityPolicy: unable to validate pod: []',
  ]);
});
