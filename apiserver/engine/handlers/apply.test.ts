import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

function configMap(data: object, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data };
}

async function apply(manager: string, body: unknown, more = ''): Promise<Reply> {
  return api.call('PATCH', `${CMS}/a?fieldManager=${manager}${more}`, { body, headers: APPLY });
}

describe('apply', () => {
  test('creates with 201, changes with 200, and writes nothing the third time', async () => {
    const created = await apply('one', configMap({ x: '1' }));
    expect(created.code).toBe(201);
    expect(created.json.metadata.managedFields).toMatchObject([
      { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:data': { 'f:x': {} } } },
    ]);
    const changed = await apply('one', configMap({ x: '2' }));
    expect(changed.code).toBe(200);
    const again = await apply('one', configMap({ x: '2' }));
    expect(again.text).toBe(changed.text);
  });

  test('accepts the type of a claim template, and no unknown fields in it', async () => {
    const url = '/apis/apps/v1/namespaces/default/statefulsets/s?fieldManager=one';
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } };
    const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const applied = async (more: object): Promise<Reply> =>
      api.call('PATCH', url, {
        headers: APPLY,
        body: {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          metadata: { name: 's' },
          spec: {
            serviceName: 's',
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
            volumeClaimTemplates: [{ ...claim, ...more, spec: storage }],
          },
        },
      });
    expect((await applied({ other: 1 })).json.message).toContain('field not declared in schema');
    expect((await applied({})).code).toBe(201);
    expect((await applied({})).code).toBe(200);
  });

  test('with the uid of a missing object is 409, and creates none', async () => {
    const reply = await apply('one', configMap({ x: '1' }, { uid: 'gone' }));
    expect(reply.json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid gone, and no existing object was found',
    });
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });

  test('reads YAML', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n';
    const reply = await api.call('PATCH', `${CMS}/a?fieldManager=one`, { text, headers: APPLY });
    expect(reply.json).toMatchObject({ data: { x: '1' } });
  });

  test('in conflict is 409 with a cause for each field, and changes nothing', async () => {
    const first = await apply('one', configMap({ x: '1', y: '1' }));
    const reply = await apply('two', configMap({ x: '2', y: '2' }));
    expect(reply.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(reply.json.details.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.x' },
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.y' },
    ]);
    expect((await api.call('GET', `${CMS}/a`)).text).toBe(first.text);
    expect((await apply('two', configMap({ x: '2' }), '&force=true')).json.data).toEqual({ x: '2', y: '1' });
  });

  test('removes dropped fields, and keeps the object', async () => {
    await apply('one', configMap({ x: '1' }, { labels: { l: '1' } }));
    const { code, json } = await apply('one', configMap({}));
    expect(code).toBe(200);
    expect(json).not.toHaveProperty('data');
    expect(json.metadata).not.toHaveProperty('labels');
    expect(json.metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:data': {} } }]);
    expect(json.metadata).toMatchObject({ name: 'a', namespace: 'default' });
  });

  test('with a stale resourceVersion is a Conflict', async () => {
    await apply('one', configMap({ x: '1' }));
    const reply = await apply('one', configMap({ x: '2' }, { resourceVersion: '1' }));
    expect(reply.json).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  test('in another version conflicts with the owners in the first, and takes over their fields', async () => {
    const url = (version: string, manager: string): string =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/h?fieldManager=${manager}`;
    const body = (version: string, maxReplicas: number): object => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    });
    const created = await api.call('PATCH', url('v1', 'one'), { body: body('v1', 5), headers: APPLY });
    expect(created.code).toBe(201);
    const other = { body: body('v2beta2', 7), headers: APPLY };
    const refused = await api.call('PATCH', url('v2beta2', 'two'), other);
    expect(refused.json.details.causes).toMatchObject([{ field: '.spec.maxReplicas' }]);
    const forced = await api.call('PATCH', `${url('v2beta2', 'two')}&force=true`, other);
    const entries = forced.json.metadata.managedFields as {
      manager: string;
      apiVersion: string;
      fieldsV1: object;
    }[];
    expect(entries).toMatchObject([
      { manager: 'one', apiVersion: 'autoscaling/v1' },
      { manager: 'two', apiVersion: 'autoscaling/v2beta2', fieldsV1: { 'f:spec': { 'f:maxReplicas': {} } } },
    ]);
    expect(entries[0]?.fieldsV1).not.toHaveProperty(['f:spec', 'f:maxReplicas']);
  });

  test('with a field of a wrong type is a BadRequest, also when another version owns fields', async () => {
    const path = (version: string): string =>
      `/apis/policy/${version}/namespaces/default/poddisruptionbudgets`;
    const budget = {
      metadata: { name: 'typed' },
      spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    };
    const created = await api.call('POST', path('v1'), { body: budget });
    expect(created.code).toBe(201);
    const body = {
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1beta1',
      ...budget,
      status: { desiredHealthy: [] },
    };
    const url = `${path('v1beta1')}/typed?fieldManager=two&force=true`;
    const reply = await api.call('PATCH', url, { body, headers: APPLY });
    expect(reply.json).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  test('as a dry run stores nothing', async () => {
    expect((await apply('one', configMap({ x: '1' }), '&dryRun=All')).code).toBe(201);
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
    const first = await apply('one', configMap({ x: '1' }));
    expect((await apply('one', configMap({ x: '2' }), '&dryRun=All')).json.data).toEqual({ x: '2' });
    expect((await api.call('GET', `${CMS}/a`)).text).toBe(first.text);
  });

  test('to a subresource of a missing object is NotFound', async () => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { phase: 'Running' } };
    const url = '/api/v1/namespaces/default/pods/p/status?fieldManager=one';
    expect((await api.call('PATCH', url, { body, headers: APPLY })).code).toBe(404);
  });

  test.each<[string, string, unknown, number]>([
    ['no manager', '?fieldManager=', configMap({}), 422],
    ['a manager that cannot be printed', '?fieldManager=%07', configMap({}), 422],
    ['managedFields', '?fieldManager=one', configMap({}, { managedFields: [{}] }), 400],
    ['another version', '?fieldManager=one', { ...configMap({}), apiVersion: 'v2' }, 400],
    ['another kind', '?fieldManager=one', { ...configMap({}), kind: 'Secret' }, 400],
    ['another name', '?fieldManager=one', configMap({}, { name: 'b' }), 400],
    ['no name', '?fieldManager=one', configMap({}, { name: '' }), 400],
    ['another namespace', '?fieldManager=one', configMap({}, { namespace: 'b' }), 400],
    ['no kind', '?fieldManager=one', { apiVersion: 'v1', metadata: { name: 'a' } }, 400],
    ['an unknown field', '?fieldManager=one', { ...configMap({}), nonsense: 1 }, 400],
    ['a field of a wrong type', '?fieldManager=one', configMap({ x: 5 }), 400],
    ['metadata that is text', '?fieldManager=one', { ...configMap({}), metadata: 'x' }, 400],
    ['a list', '?fieldManager=one', [], 400],
  ])('with %s is refused and creates nothing', async (_what, query, body, code) => {
    const reply = await api.call('PATCH', `${CMS}/a${query}`, { body, headers: APPLY });
    expect(reply.code).toBe(code);
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });

  test.each([
    ['nothing', ''],
    ['no YAML', '{"a": ['],
    ['tabs', 'a:\n\t- b'],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['ten thousand lists in each other', '['.repeat(10_000)],
    ['ten thousand objects in each other', '{"a":'.repeat(10_000)],
    [
      'aliases that expand to gigabytes',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((name, at) => {
          const last = 'abcdefghi'[at] ?? '';
          return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${last}`).join(',')}]`;
        }),
      ].join('\n'),
    ],
  ])('of %s is a BadRequest', async (_what, text) => {
    const reply = await api.call('PATCH', `${CMS}/a?fieldManager=one`, { text, headers: APPLY });
    expect(reply.json).toMatchObject({ code: 400, reason: 'BadRequest' });
  });
});

describe('other writes', () => {
  test('have the given manager, or that of their user agent', async () => {
    const headers = { 'user-agent': 'kubectl/v1.21 (linux)' };
    const body = configMap({ x: '1' });
    const created = await api.call('POST', CMS, { body, headers });
    expect(created.json.metadata.managedFields).toMatchObject([{ manager: 'kubectl', operation: 'Update' }]);
    const patched = await api.call('PATCH', `${CMS}/a?fieldManager=m`, {
      body: { data: { y: '1' } },
      headers,
    });
    expect(patched.json.metadata.managedFields).toMatchObject([{ manager: 'kubectl' }, { manager: 'm' }]);
  });

  test('cannot be forced', async () => {
    await apply('one', configMap({ x: '1' }));
    const reply = await api.call('PATCH', `${CMS}/a?force=true`, { body: {} });
    expect(reply.json).toMatchObject({ code: 422, details: { causes: [{ field: 'force' }] } });
  });

  test('that change nothing write nothing, from any manager', async () => {
    const first = await apply('one', configMap({ x: '1' }));
    const same = await api.call('PATCH', `${CMS}/a`, { body: { data: { x: '1' } } });
    expect(same.text).toBe(first.text);
    const { metadata, ...rest } = first.json;
    const { managedFields: _left, ...bare } = metadata;
    expect((await api.call('PUT', `${CMS}/a`, { body: { ...rest, metadata: bare } })).text).toBe(first.text);
  });

  test('reset managedFields with one empty entry, by merge patch, JSON patch and update', async () => {
    for (const [body, headers] of [
      [{ metadata: { managedFields: [{}] } }, {}],
      [[{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], JSON_PATCH],
    ] as const) {
      await apply('one', configMap({ x: '1' }));
      const reply = await api.call('PATCH', `${CMS}/a`, { body, headers });
      expect(reply.json.metadata).not.toHaveProperty('managedFields');
    }
    const { json } = await apply('one', configMap({ x: '1' }));
    const body = { ...json, metadata: { ...json.metadata, managedFields: [{}] } };
    expect((await api.call('PUT', `${CMS}/a`, { body })).json.metadata).not.toHaveProperty('managedFields');
  });

  test('to the status own only the status', async () => {
    const url = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await api.call('POST', `${url}?fieldManager=one`, {
      body: { metadata: { name: 'p' }, spec, status: { phase: 'Running' } },
    });
    const body = { status: { phase: 'Running' } };
    const { json } = await api.call('PATCH', `${url}/p/status?fieldManager=two`, {
      body,
      headers: STRATEGIC,
    });
    const fields = Object.fromEntries(
      json.metadata.managedFields.map((entry: { manager: string; fieldsV1: object }) => [
        entry.manager,
        Object.keys(entry.fieldsV1),
      ]),
    );
    expect(fields).toEqual({ one: ['f:spec'], two: ['f:status'] });
  });
});

describe('strategic merge patch', () => {
  test('merges lists by their keys', async () => {
    const url = '/api/v1/namespaces/default/serviceaccounts';
    await api.call('POST', url, {
      body: { metadata: { name: 's' }, secrets: [{ name: 'a' }, { name: 'b' }] },
    });
    const body = { secrets: [{ name: 'b', $patch: 'delete' }, { name: 'c' }] };
    const { json } = await api.call('PATCH', `${url}/s`, { body, headers: STRATEGIC });
    expect(json.secrets).toEqual([{ name: 'c' }, { name: 'a' }]);
  });

  test.each<[string, unknown, number]>([
    ['a list', [], 400],
    ['an unknown directive', { data: { $patch: 'explode' } }, 422],
    ['a wrong type', { data: 'text' }, 422],
  ])('of %s is refused and changes nothing', async (_what, body, code) => {
    const first = await apply('one', configMap({ x: '1' }));
    const reply = await api.call('PATCH', `${CMS}/a`, { body, headers: STRATEGIC });
    expect(reply.code).toBe(code);
    expect((await api.call('GET', `${CMS}/a`)).text).toBe(first.text);
  });
});
