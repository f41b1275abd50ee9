import type { IncomingHttpHeaders } from 'node:http';
import { ANNOTATION, GROUP, MEDIA_TYPE, NODE_USER } from '../../shared/names';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';

/*
 * Published vulnerabilities of v1.21 that are closed here, through every kind of write. Each plugin has its own tests as well.
 */

const PODS = '/api/v1/namespaces/default/pods';
const NODE = '/api/v1/nodes/n1';
const RBAC = `/apis/${GROUP.rbac}/v1`;
const AS_DEV: IncomingHttpHeaders = { 'impersonate-user': 'dev' };
const AS_NODE: IncomingHttpHeaders = {
  'impersonate-user': `${NODE_USER.prefix}n1`,
  'impersonate-group': NODE_USER.group,
};
const ABSENT_OWNER = { apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: 'gone' };

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi(undefined, {
    authorizationModes: ['RBAC'],
    admission: {
      enable: ['NodeRestriction', 'ServiceAccount'],
      disable: ['StorageObjectInUseProtection'],
    },
    kindSettings: { allowPrivileged: false, ephemeralContainers: true },
  });
});
afterEach(async () => {
  await api.close();
});

async function make(path: string, body: object): Promise<void> {
  const { code, text } = await api.call('POST', path, { body });
  if (code !== 201) throw new Error(text);
}

/** Grants a user or group these verbs on these resources. */
async function allow(subject: object, verbs: readonly string[], resources: readonly string[]): Promise<void> {
  const metadata = { name: resources[0]?.replaceAll('/', '-') };
  await make(`${RBAC}/clusterroles`, { metadata, rules: [{ verbs, apiGroups: [''], resources }] });
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ apiGroup: GROUP.rbac, ...subject }];
  await make(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects });
}

/** The kinds of writes that set `field` of an object. */
const WAYS: readonly (readonly [
  way: string,
  change: (url: string, field: string, value: unknown) => Promise<Parameters<InProcessApi['call']>>,
])[] = [
  [
    'a replacement',
    async (url, field, value) => {
      const { json } = await api.call('GET', url);
      const [first = '', second] = field.split('.');
      const inner = second === undefined ? value : { ...json[first], [second]: value };
      return ['PUT', url, { body: { ...json, [first]: inner } }];
    },
  ],
  [
    'a merge patch',
    async (url, field, value) =>
      Promise.resolve(['PATCH', url, { body: nested(field, value), headers: typed(MEDIA_TYPE.mergePatch) }]),
  ],
  [
    'a strategic merge patch',
    async (url, field, value) =>
      Promise.resolve([
        'PATCH',
        url,
        { body: nested(field, value), headers: typed(MEDIA_TYPE.strategicMergePatch) },
      ]),
  ],
  [
    'a JSON patch',
    async (url, field, value) =>
      Promise.resolve([
        'PATCH',
        url,
        {
          body: [{ op: 'add', path: `/${field.replaceAll('.', '/')}`, value }],
          headers: typed(MEDIA_TYPE.jsonPatch),
        },
      ]),
  ],
];

const typed = (type: string): IncomingHttpHeaders => ({ 'content-type': type });

function nested(field: string, value: unknown): object {
  return field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

async function carryOut(
  [method, url, options = {}]: Parameters<InProcessApi['call']>,
  headers: IncomingHttpHeaders,
): Promise<Reply> {
  return api.call(method, url, { ...options, headers: { ...options.headers, ...headers } });
}

describe('CVE-2023-2728: an ephemeral container with a Secret that its account does not list', () => {
  const URL = `${PODS}/p/ephemeralcontainers`;
  const debuggerWith = (secret: string): readonly object[] => [
    { name: 'd', image: 'i:1', terminationMessagePolicy: 'File', envFrom: [{ secretRef: { name: secret } }] },
  ];

  beforeEach(async () => {
    await make('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'strict', annotations: { [ANNOTATION.enforceMountableSecrets]: 'true' } },
      secrets: [{ name: 'own' }],
    });
    const spec = {
      serviceAccountName: 'strict',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i:1' }],
    };
    await make(PODS, { metadata: { name: 'p' }, spec });
  });

  test.each(WAYS)('is refused in %s, and a listed Secret is accepted', async (_way, change) => {
    await allow({ kind: 'User', name: 'dev' }, ['get', 'update', 'patch'], ['pods/ephemeralcontainers']);
    const refused = await carryOut(await change(URL, 'ephemeralContainers', debuggerWith('x')), AS_DEV);
    expect([refused.code, refused.json.message]).toEqual([
      403,
      expect.stringContaining('ephemeral container d with envFrom referencing secret.secretName="x"'),
    ]);
    const added = await carryOut(await change(URL, 'ephemeralContainers', debuggerWith('own')), AS_DEV);
    expect([added.code, added.json.ephemeralContainers?.length]).toEqual([200, 1]);
  });

  test.each(WAYS)('is refused in %s to a user who may only change pods', async (_way, change) => {
    await allow({ kind: 'User', name: 'dev' }, ['*'], ['pods', 'pods/status']);
    const { code, json } = await carryOut(
      await change(URL, 'ephemeralContainers', debuggerWith('own')),
      AS_DEV,
    );
    expect([code, json.message]).toEqual([
      403,
      expect.stringMatching(/cannot (?:update|patch) resource "pods\/ephemeralcontainers"/),
    ]);
    expect((await api.call('GET', URL)).json.ephemeralContainers).toBeNull();
  });
});

describe('CVE-2024-3177: a pod with a Secret that its account does not list', () => {
  test.each([
    ['for all variables', { envFrom: [{ secretRef: { name: 'x' } }] }, []],
    ['in a projected volume', {}, [{ name: 'v', projected: { sources: [{ secret: { name: 'x' } }] } }]],
  ])('%s is refused', async (_what, more, volumes) => {
    await allow({ kind: 'User', name: 'dev' }, ['create'], ['pods']);
    await make('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'strict', annotations: { [ANNOTATION.enforceMountableSecrets]: 'true' } },
    });
    const spec = {
      serviceAccountName: 'strict',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i:1', ...more }],
      volumes,
    };
    const body = { metadata: { name: 'p' }, spec };
    const { code, json } = await api.call('POST', PODS, { body, headers: AS_DEV });
    expect([code, json.message]).toEqual([
      403,
      expect.stringContaining('secret.secretName="x" is not allowed'),
    ]);
  });
});

describe('CVE-2025-5187: a node that gives itself an owner whose absence would delete it', () => {
  beforeEach(async () => {
    await allow({ kind: 'Group', name: NODE_USER.group }, ['*'], ['nodes', 'nodes/status']);
    await make('/api/v1/nodes', { metadata: { name: 'n1', labels: { a: 'b' } } });
  });

  test.each(WAYS.flatMap(([way, change]) => ['', '/status'].map((part) => [way, part, change] as const)))(
    'is refused in %s of nodes%s, and other changes are accepted',
    async (_way, part, change) => {
      const refused = await carryOut(
        await change(`${NODE}${part}`, 'metadata.ownerReferences', [ABSENT_OWNER]),
        AS_NODE,
      );
      expect([refused.code, refused.json.message]).toEqual([
        403,
        expect.stringContaining('node "n1" is not allowed to modify ownerReferences'),
      ]);
      const annotated = await change(`${NODE}${part}`, 'metadata.annotations', { a: 'b' });
      expect((await carryOut(annotated, AS_NODE)).code).toBe(200);
      expect((await api.call('GET', NODE)).json.metadata).toMatchObject({ annotations: { a: 'b' } });
      expect((await api.call('GET', NODE)).json.metadata.ownerReferences).toBeUndefined();
    },
  );

  test('is refused in server-side apply', async () => {
    const metadata = { name: 'n1', ownerReferences: [ABSENT_OWNER] };
    const { code, json } = await api.call('PATCH', `${NODE}?fieldManager=m`, {
      body: { apiVersion: 'v1', kind: 'Node', metadata },
      headers: { ...typed(MEDIA_TYPE.applyPatch), ...AS_NODE },
    });
    expect([code, json.message]).toEqual([403, expect.stringContaining('modify ownerReferences')]);
  });
});
