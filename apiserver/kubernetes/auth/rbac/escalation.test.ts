import { GROUP } from '../../../../shared/names';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const ROLES = `${RBAC}/namespaces/default/roles`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;

const ALICE = { kind: 'User', apiGroup: GROUP.rbac, name: 'alice' };
const BOB = { ...ALICE, name: 'bob' };
const pods = (...verbs: string[]): object => ({ verbs, apiGroups: [''], resources: ['pods'] });
const secrets = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
const LACKING = '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}';

let api: InProcessApi;

/** Alice may write roles and bindings of every kind, and read pods. */
beforeEach(async () => {
  const runtimeConfig = new Map([['api/all', true]]);
  api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'], runtimeConfig });
  const writes = { verbs: ['create', 'update', 'patch', 'get'], apiGroups: [GROUP.rbac], resources: ['*'] };
  await allow('writer', [writes, pods('get', 'list')]);
});
afterEach(async () => {
  await api.close();
});

async function asMaster(method: string, path: string, body: object): Promise<Reply['json']> {
  const { code, json, text } = await api.call(method, path, { body });
  if (code >= 300) throw new Error(text);
  return json;
}

async function allow(name: string, rules: readonly object[]): Promise<void> {
  await asMaster('POST', CLUSTER_ROLES, { metadata: { name }, rules });
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name };
  await asMaster('POST', CLUSTER_BINDINGS, { metadata: { name }, roleRef, subjects: [ALICE] });
}

async function asAlice(method: string, path: string, body: object): Promise<Reply> {
  return api.call(method, path, { body, headers: { 'impersonate-user': 'alice' } });
}

const binding = (kind: string, name: string): object => ({
  metadata: { name: 'b' },
  roleRef: { apiGroup: GROUP.rbac, kind, name },
  subjects: [BOB],
});

describe('a role', () => {
  test('may give what its writer holds', async () => {
    expect((await asAlice('POST', ROLES, { metadata: { name: 'r' }, rules: [pods('list')] })).code).toBe(201);
    const url = { verbs: ['get'], nonResourceURLs: ['/x'] };
    const { json } = await asAlice('POST', CLUSTER_ROLES, { metadata: { name: 'r' }, rules: [url] });
    expect(json.message).toMatch(/currently held:\n\{NonResourceURLs:\["\/x"\], Verbs:\["get"\]\}$/u);
  });

  test('is refused with what is missing', async () => {
    const { json } = await asAlice('POST', ROLES, { metadata: { name: 'r' }, rules: [pods('get'), secrets] });
    expect(json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `roles.${GROUP.rbac} "r" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${LACKING}`,
      details: { group: GROUP.rbac, kind: 'roles', name: 'r' },
    });
  });

  // Taken apart, two lists that fit into one request are more than fits into memory.
  test('is refused when it gives more than can be compared, unless its writer holds that as a whole', async () => {
    const names = (prefix: string): string[] =>
      Array.from({ length: 5_000 }, (_each, n) => prefix + String(n));
    const rules = [{ verbs: names('v'), apiGroups: [''], resources: ['pods'], resourceNames: names('n') }];
    const role = { metadata: { name: 'r' }, rules };
    const { json } = await asAlice('POST', ROLES, role);
    expect(json).toMatchObject({
      code: 403,
      message: expect.stringMatching(
        /is attempting to grant more RBAC permissions than can be compared/u,
      ) as string,
    });
    await allow('every-pod', [pods('*')]);
    expect((await asAlice('POST', ROLES, role)).code).toBe(201);
  });

  test('tells of roles that could not be looked at', async () => {
    const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'gone' };
    await asMaster('POST', CLUSTER_BINDINGS, { metadata: { name: 'gone' }, roleRef, subjects: [ALICE] });
    const { json } = await asAlice('POST', ROLES, { metadata: { name: 'r' }, rules: [secrets] });
    const trouble = `; resolution errors: [clusterroles.${GROUP.rbac} "gone" not found]`;
    expect(json.message.endsWith(`${LACKING}${trouble}`)).toBe(true);
  });

  test('without a name yet is called by none', async () => {
    const { json } = await asAlice('POST', ROLES, { metadata: { generateName: 'r-' }, rules: [secrets] });
    expect(json.message).toMatch(new RegExp(`^roles\\.${GROUP.rbac} is forbidden: user "alice"`, 'u'));
  });

  test('that exists already is refused for its content first', async () => {
    await asMaster('POST', ROLES, { metadata: { name: 'r' }, rules: [secrets] });
    expect((await asAlice('POST', ROLES, { metadata: { name: 'r' }, rules: [secrets] })).code).toBe(403);
    expect((await asAlice('POST', ROLES, { metadata: { name: 'r' }, rules: [] })).code).toBe(409);
  });

  test('that conflicts as well is refused for its content first', async () => {
    await asMaster('POST', ROLES, { metadata: { name: 'r' }, rules: [] });
    const old = { metadata: { name: 'r', resourceVersion: '1' } };
    expect((await asAlice('PUT', `${ROLES}/r`, { ...old, rules: [secrets] })).code).toBe(403);
    expect((await asAlice('PUT', `${ROLES}/r`, { ...old, rules: [] })).code).toBe(409);
  });

  test('with more than its writer holds may only be prepared for its end', async () => {
    await asMaster('POST', ROLES, { metadata: { name: 'r' }, rules: [secrets] });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' };
    const lifetime = { metadata: { ownerReferences: [owner], finalizers: ['example.com/f'] } };
    expect((await asAlice('PATCH', `${ROLES}/r`, lifetime)).code).toBe(200);
    for (const value of ['b', '']) {
      const labelled = { metadata: { labels: { a: value } } };
      expect((await asAlice('PATCH', `${ROLES}/r`, labelled)).code).toBe(403);
    }
    expect((await asAlice('PATCH', `${ROLES}/r`, { rules: [pods('get')] })).code).toBe(200);
  });

  test('that a PUT creates is looked at as well', async () => {
    const role = { metadata: { name: 'new' }, rules: [secrets] };
    expect((await asAlice('PUT', `${ROLES}/new`, role)).code).toBe(403);
    expect((await asAlice('PUT', `${ROLES}/new`, { ...role, rules: [] })).code).toBe(201);
  });

  test('may gather others only for those who hold everything', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const role = { metadata: { name: 'r' }, rules: [], aggregationRule };
    const why = `clusterroles.${GROUP.rbac} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
    expect((await asAlice('POST', CLUSTER_ROLES, role)).json.message).toBe(why);
    await asMaster('POST', CLUSTER_ROLES, role);
    const without = await asAlice('PATCH', `${CLUSTER_ROLES}/r`, { aggregationRule: null });
    expect(without.json.message).toBe(why);
    await allow('everything', [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]);
    expect((await asAlice('PATCH', `${CLUSTER_ROLES}/r`, { aggregationRule: null })).code).toBe(200);
  });

  test('may be anything for those who may escalate; by name, only where the path has one', async () => {
    const escalate = { verbs: ['escalate'], apiGroups: [GROUP.rbac], resources: ['roles'] };
    await allow('some', [{ ...escalate, resourceNames: ['r'] }]);
    const role = { metadata: { name: 'r' }, rules: [secrets] };
    expect((await asAlice('POST', ROLES, role)).code).toBe(403);
    expect((await asAlice('PUT', `${ROLES}/r`, role)).code).toBe(201);
    await allow('all', [escalate]);
    expect((await asAlice('POST', ROLES, { ...role, metadata: { name: 's' } })).code).toBe(201);
    expect((await asAlice('POST', CLUSTER_ROLES, role)).code).toBe(403);
  });
});

describe.each(['v1', 'v1beta1', 'v1alpha1'])(
  'in %s a binding of a kind that every object has a field for',
  (version) => {
    const at = `/apis/${GROUP.rbac}/${version}`;
    const kinds = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
    const places = [`${at}/namespaces/default/rolebindings`, `${at}/clusterrolebindings`];

    test.each(places.flatMap((place) => kinds.map((kind) => [place, kind])))(
      '%s %s is invalid',
      async (place, kind) => {
        const subject = version === 'v1alpha1' ? { kind: 'User', name: 'bob' } : BOB;
        const body = { ...binding(kind, 'x'), subjects: [subject] };
        const { json } = await asAlice('POST', place, body);
        expect(json).toMatchObject({ code: 422, details: { causes: [{ field: 'roleRef.kind' }] } });
      },
    );
  },
);

describe('a binding', () => {
  beforeEach(async () => {
    await asMaster('POST', CLUSTER_ROLES, { metadata: { name: 'strong' }, rules: [secrets] });
    await asMaster('POST', CLUSTER_ROLES, { metadata: { name: 'weak' }, rules: [pods('get')] });
    await asMaster('POST', ROLES, { metadata: { name: 'strong' }, rules: [secrets] });
  });

  test('may give what its writer holds, and is refused with what is missing', async () => {
    expect((await asAlice('POST', BINDINGS, binding('ClusterRole', 'weak'))).code).toBe(201);
    const refused = await asAlice('POST', CLUSTER_BINDINGS, binding('ClusterRole', 'strong'));
    expect(refused.json.message).toBe(
      `clusterrolebindings.${GROUP.rbac} "b" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${LACKING}`,
    );
    expect(
      (await asAlice('PUT', `${BINDINGS}/s`, { ...binding('Role', 'strong'), metadata: { name: 's' } })).code,
    ).toBe(403);
  });

  test('of no role cannot be evaluated', async () => {
    const { json } = await asAlice('POST', BINDINGS, binding('Role', 'weak'));
    expect(json).toMatchObject({ code: 404, message: `roles.${GROUP.rbac} "weak" not found` });
  });

  test.each([
    ['Role', '', 'Name parameter required.'],
    ['ClusterRole', '', 'Name parameter required.'],
    ['Role', '.', `Name parameter invalid: ".": may not be '.'`],
    ['ClusterRole', 'a/b%', `Name parameter invalid: "a/b%": may not contain '/';may not contain '%'`],
  ])('to a %s that can have no such name (%j) is a bad request', async (kind, name, message) => {
    const { json } = await asAlice('POST', BINDINGS, binding(kind, name));
    expect(json).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });

  test('may be of any role that its writer may bind', async () => {
    const bind = { verbs: ['bind'], apiGroups: [GROUP.rbac], resourceNames: ['strong'] };
    await allow('binder', [{ ...bind, resources: ['roles'] }]);
    expect((await asAlice('POST', BINDINGS, binding('ClusterRole', 'strong'))).code).toBe(403);
    expect((await asAlice('POST', BINDINGS, binding('Role', 'strong'))).code).toBe(201);
  });

  test('is held by its role: another one needs another binding', async () => {
    await asMaster('POST', BINDINGS, binding('ClusterRole', 'weak'));
    const { json } = await api.call('PUT', `${BINDINGS}/b`, { body: binding('ClusterRole', 'strong') });
    expect(json).toMatchObject({ code: 422, details: { causes: [{ field: 'roleRef' }] } });
  });

  test('of what is no role is invalid', async () => {
    expect((await asAlice('POST', BINDINGS, binding('Foo', 'strong'))).code).toBe(422);
    expect((await asAlice('POST', CLUSTER_BINDINGS, binding('Role', 'strong'))).code).toBe(422);
  });

  test('loses and gets owners and finalizers by any client that may change it', async () => {
    await asMaster('POST', BINDINGS, binding('ClusterRole', 'strong'));
    const held = { metadata: { finalizers: ['example.com/f'] } };
    expect((await asAlice('PATCH', `${BINDINGS}/b`, held)).code).toBe(200);
    expect((await asAlice('PATCH', `${BINDINGS}/b`, { subjects: [] })).code).toBe(403);
  });
});

test('superusers give what they like, whatever the modes say', async () => {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  expect(
    (await api.call('POST', ROLES, { body: { metadata: { name: 'r' }, rules: [everything] } })).code,
  ).toBe(201);
});

test('where everybody may do everything, everybody may give everything', async () => {
  const open = await startInProcessApi();
  const options = {
    body: { metadata: { name: 'r' }, rules: [secrets] },
    headers: { 'impersonate-user': 'alice' },
  };
  expect((await open.call('POST', ROLES, options)).code).toBe(201);
  await open.close();
});
