import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

async function createConfigMap(name: string, more: object = {}): Promise<Reply['json']> {
  const reply = await api.call('POST', CMS, { body: { metadata: { name, ...more }, data: { k: 'v' } } });
  expect(reply.code).toBe(201);
  return reply.json;
}

describe('create', () => {
  test('sets server fields and returns the object as stored', async () => {
    const reply = await api.call('POST', CMS, {
      body: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'a', uid: 'mine', generation: 7, deletionTimestamp: '2020-01-01T00:00:00Z' },
        data: { k: 'v' },
      },
    });
    expect(reply.code).toBe(201);
    expect(reply.json).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'a',
        namespace: 'default',
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/Z$/),
        // As upstream, a kind that counts no generations keeps the one that was sent.
        generation: 7,
        managedFields: [
          {
            manager: 'unknown',
            operation: 'Update',
            apiVersion: 'v1',
            time: expect.stringMatching(/Z$/),
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {}, 'f:k': {} } },
          },
        ],
      },
      data: { k: 'v' },
    });
    expect((await api.call('GET', `${CMS}/a`)).text).toBe(reply.text);
  });

  test('of an existing name is AlreadyExists and changes nothing', async () => {
    const first = await createConfigMap('a');
    const reply = await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
    expect(reply.json).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      details: { kind: 'configmaps', name: 'a' },
    });
    expect((await api.call('GET', `${CMS}/a`)).json).toEqual(first);
  });

  test('with generateName makes a name', async () => {
    const reply = await api.call('POST', CMS, { body: { metadata: { generateName: 'gen-' } } });
    expect(reply.json.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  test('with dryRun=All returns the object, and stores nothing', async () => {
    const reply = await api.call('POST', `${CMS}?dryRun=All`, { body: { metadata: { name: 'a' } } });
    expect(reply.code).toBe(201);
    expect(reply.json.metadata.resourceVersion).toBeUndefined();
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });

  test('reports all errors of an object at once', async () => {
    const reply = await api.call('POST', CMS, {
      body: { metadata: { name: 'A_b', labels: { '-x': 'y', ok: '-no' } } },
    });
    expect(reply.code).toBe(422);
    const fields = reply.json.details.causes.map((cause: { field: string }) => cause.field);
    expect(fields).toEqual(expect.arrayContaining(['metadata.name', 'metadata.labels']));
    expect(fields.length).toBeGreaterThanOrEqual(3);
  });
});

describe('bodies', () => {
  test.each([
    ['malformed JSON', '{"metadata":', 400],
    ['a fraction for an integer', '{"metadata":{"name":"f","generation":1.0}}', 400],
    ['an exponent for an integer', '{"metadata":{"name":"f","generation":1e0}}', 400],
    ['no object', '[]', 400],
    ['another kind', '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}', 400],
    ['another version', '{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"x"}}', 400],
    ['a field of a wrong type', '{"metadata":{"name":5}}', 400],
    ['another namespace', '{"metadata":{"name":"x","namespace":"other"}}', 400],
    ['no name', '{"metadata":{}}', 422],
    ['a resourceVersion', '{"metadata":{"name":"x","resourceVersion":"5"}}', 400],
  ])('%s is refused and nothing is stored', async (_what, text, code) => {
    const reply = await api.call('POST', CMS, { text });
    expect(reply.json).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect((await api.call('GET', CMS)).json.items).toEqual([]);
  });

  test.each([[undefined], [''], ['/'], ['v1']])(
    'with the apiVersion %j are of the version of the path',
    async (apiVersion) => {
      const body = { apiVersion, kind: 'ConfigMap', metadata: { name: 'x' } };
      const { code, json } = await api.call('POST', CMS, { body });
      expect([code, json.apiVersion]).toEqual([201, 'v1']);
    },
  );

  test('of an unknown media type is 415', async () => {
    const reply = await api.call('POST', CMS, { text: 'x', headers: { 'content-type': 'text/plain' } });
    expect(reply.json).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
    const operation = '/api/v1/namespaces/default/pods/none/eviction?dryRun=odd';
    const evicted = await api.call('POST', operation, {
      text: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(evicted.code).toBe(415);
  });

  test('an unsupported response format is 406', async () => {
    const reply = await api.call('GET', CMS, { headers: { accept: 'image/png' } });
    expect(reply.json).toMatchObject({ code: 406, reason: 'NotAcceptable' });
  });
});

describe('update', () => {
  test('replaces the object and keeps server fields', async () => {
    const { labels, ...first } = (await createConfigMap('a', { labels: { x: 'y' } }))['metadata'];
    expect(labels).toEqual({ x: 'y' });
    const reply = await api.call('PUT', `${CMS}/a`, { body: { metadata: { name: 'a' }, data: { k: '2' } } });
    expect(reply.code).toBe(200);
    expect(reply.json.metadata).toEqual({
      ...first,
      managedFields: [
        {
          ...first.managedFields[0],
          time: expect.any(String),
          fieldsV1: { 'f:data': { '.': {}, 'f:k': {} } },
        },
      ],
      resourceVersion: expect.not.stringMatching(`^${String(first.resourceVersion)}$`),
    });
  });

  test('with a stale resourceVersion is a Conflict and changes nothing', async () => {
    const first = await createConfigMap('a');
    const second = await api.call('PUT', `${CMS}/a`, { body: { metadata: { name: 'a' }, data: { k: '2' } } });
    const reply = await api.call('PUT', `${CMS}/a`, { body: { ...first, data: { k: '3' } } });
    expect(reply.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect((await api.call('GET', `${CMS}/a`)).text).toBe(second.text);
  });

  test('that changes nothing writes nothing', async () => {
    const first = await createConfigMap('a');
    const reply = await api.call('PUT', `${CMS}/a`, { body: first });
    expect(reply.json).toEqual(first);
  });

  test.each([
    ['another name', { metadata: { name: 'b' } }, 400],
    ['another uid', { metadata: { name: 'a', uid: 'other' } }, 409],
    ['no name', { metadata: {} }, 400],
  ])('with %s is refused', async (_what, body, code) => {
    await createConfigMap('a');
    expect((await api.call('PUT', `${CMS}/a`, { body })).code).toBe(code);
  });

  test('of a missing object is NotFound, but creates one of a kind that allows it', async () => {
    expect((await api.call('PUT', `${CMS}/none`, { body: { metadata: { name: 'none' } } })).code).toBe(404);
    const url = '/api/v1/namespaces/default/endpoints/e';
    expect((await api.call('PUT', url, { body: { metadata: { name: 'e' } } })).code).toBe(201);
  });

  test('increments the generation for changes of the spec, not of metadata or status', async () => {
    const url = '/apis/apps/v1/namespaces/default/deployments';
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    const created = await api.call('POST', url, {
      body: { metadata: { name: 'd' }, spec, status: { replicas: 9 } },
    });
    expect(created.json.metadata.generation).toBe(1);
    expect(created.json.status).toEqual({});
    const label = await api.call('PATCH', `${url}/d`, { body: { metadata: { labels: { x: 'y' } } } });
    expect(label.json.metadata.generation).toBe(1);
    const paused = await api.call('PATCH', `${url}/d`, { body: { spec: { paused: true } } });
    expect(paused.json.metadata.generation).toBe(2);
    const status = await api.call('PATCH', `${url}/d/status`, {
      body: { status: { replicas: 3 }, spec: { paused: false } },
    });
    expect(status.json).toMatchObject({
      metadata: { generation: 2 },
      spec: { paused: true },
      status: { replicas: 3 },
    });
    const main = await api.call('PATCH', `${url}/d`, { body: { status: { replicas: 7 } } });
    expect(main.json.status).toEqual({ replicas: 3 });
  });
});

describe('patch', () => {
  test('a merge patch and a JSON patch change the object', async () => {
    await createConfigMap('a');
    const merged = await api.call('PATCH', `${CMS}/a`, { body: { data: { k: null, n: '1' } } });
    expect(merged.json.data).toEqual({ n: '1' });
    const patched = await api.call('PATCH', `${CMS}/a`, {
      body: [{ op: 'replace', path: '/data/n', value: '2' }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(patched.json.data).toEqual({ n: '2' });
  });

  test('a patch that does not apply is Invalid, a malformed one a bad request, and neither changes anything', async () => {
    const first = await createConfigMap('a');
    const headers = { 'content-type': 'application/json-patch+json' };
    const failed = await api.call('PATCH', `${CMS}/a`, {
      body: [{ op: 'test', path: '/data/k', value: 'other' }],
      headers,
    });
    expect(failed.json).toMatchObject({ code: 422, reason: 'Invalid' });
    expect((await api.call('PATCH', `${CMS}/a`, { text: '{', headers })).code).toBe(400);
    expect(
      (await api.call('PATCH', `${CMS}/a`, { text: '{}', headers: { 'content-type': 'text/x' } })).code,
    ).toBe(415);
    expect((await api.call('GET', `${CMS}/a`)).json).toEqual(first);
  });

  test('concurrent patches of one object all take effect', async () => {
    await createConfigMap('a');
    const names = Array.from({ length: 10 }, (_, index) => `k${String(index)}`);
    const replies = await Promise.all(
      names.map((name) => api.call('PATCH', `${CMS}/a`, { body: { data: { [name]: 'x' } } })),
    );
    expect(replies.map(({ code }) => code)).toEqual(names.map(() => 200));
    expect(Object.keys((await api.call('GET', `${CMS}/a`)).json.data)).toEqual(expect.arrayContaining(names));
  });
});

describe('delete', () => {
  test('returns a Status with the removed object', async () => {
    const { metadata } = await createConfigMap('a');
    const reply = await api.call('DELETE', `${CMS}/a`);
    expect(reply.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
    });
    expect((await api.call('DELETE', `${CMS}/a`)).code).toBe(404);
  });

  test('a wrong uid or version in the preconditions is a Conflict and nothing is deleted', async () => {
    await createConfigMap('a');
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
      const reply = await api.call('DELETE', `${CMS}/a`, {
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions },
      });
      expect(reply.json).toMatchObject({ code: 409, reason: 'Conflict' });
    }
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(200);
  });

  test('waits for finalizers, refuses new ones, and ends with the last', async () => {
    await createConfigMap('a', { finalizers: ['x.example.com/y'] });
    const marked = await api.call('DELETE', `${CMS}/a`);
    expect(marked.json.metadata.deletionTimestamp).toEqual(expect.any(String));
    const added = await api.call('PATCH', `${CMS}/a`, {
      body: { metadata: { finalizers: ['x.example.com/y', 'x.example.com/z'] } },
    });
    expect(added.code).toBe(422);
    const again = await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
    expect(again.json).toMatchObject({
      code: 409,
      message: expect.stringContaining('object is being deleted'),
    });
    expect((await api.call('PATCH', `${CMS}/a`, { body: { metadata: { finalizers: null } } })).code).toBe(
      200,
    );
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });

  test('of a collection deletes and returns the selected objects', async () => {
    await createConfigMap('a', { labels: { x: 'y' } });
    await createConfigMap('b');
    const reply = await api.call('DELETE', `${CMS}?labelSelector=x%3Dy`);
    expect(reply.json).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] });
    expect((await api.call('GET', CMS)).json.items).toHaveLength(1);
  });

  test.each([
    ['propagationPolicy=Sideways', 422],
    ['gracePeriodSeconds=soon', 400],
    ['dryRun=Some', 422],
  ])('with %s is refused', async (query, code) => {
    await createConfigMap('a');
    expect((await api.call('DELETE', `${CMS}/a?${query}`)).code).toBe(code);
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(200);
  });
});

describe('list', () => {
  test('has the version of the list, and items without kind and apiVersion', async () => {
    const { metadata } = await createConfigMap('a');
    const reply = await api.call('GET', CMS);
    expect(reply.json).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: metadata.resourceVersion },
      items: [{ metadata, data: { k: 'v' } }],
    });
  });

  test('in pages shows the state of the first page despite later changes', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await createConfigMap(name);
    const first = await api.call('GET', `${CMS}?limit=2`);
    expect(first.json.metadata.remainingItemCount).toBe(3);
    const accept = (version: string): object => ({
      headers: { accept: `application/json;as=PartialObjectMetadataList;g=${GROUP.meta};v=${version}` },
    });
    const left = async (version: string): Promise<unknown> =>
      (await api.call('GET', `${CMS}?limit=2`, accept(version))).json.metadata.remainingItemCount;
    expect([await left('v1'), await left('v1beta1')]).toEqual([3, undefined]);
    await api.call('DELETE', `${CMS}/d`);
    await createConfigMap('bb');
    const names = first.json.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    let token = first.json.metadata.continue;
    while (token !== undefined) {
      const page = await api.call('GET', `${CMS}?limit=2&continue=${encodeURIComponent(token)}`);
      expect(page.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion);
      names.push(...page.json.items.map((item: { metadata: { name: string } }) => item.metadata.name));
      token = page.json.metadata.continue;
    }
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('selects by labels and fields, and refuses fields that the kind does not know', async () => {
    await createConfigMap('a', { labels: { x: '1' } });
    await createConfigMap('b', { labels: { x: '2' } });
    expect((await api.call('GET', `${CMS}?labelSelector=x+in+(1)`)).json.items).toHaveLength(1);
    expect((await api.call('GET', `${CMS}?fieldSelector=metadata.name%3Db`)).json.items).toHaveLength(1);
    expect((await api.call('GET', `${CMS}?fieldSelector=data.k%3Dv`)).code).toBe(400);
    expect((await api.call('GET', `${CMS}?labelSelector=%3D%3D`)).code).toBe(400);
  });

  test('at an exact past version returns that version', async () => {
    await createConfigMap('a');
    const version = (await api.call('GET', CMS)).json.metadata.resourceVersion;
    await createConfigMap('b');
    const past = await api.call('GET', `${CMS}?resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect(past.json.items).toHaveLength(1);
    expect(past.json.metadata.resourceVersion).toBe(version);
  });
});

describe('watch', () => {
  test('from a version returns exactly the changes after it, in order', async () => {
    const { metadata } = await createConfigMap('a');
    await api.call('PATCH', `${CMS}/a`, { body: { data: { k: '2' } } });
    await api.call('DELETE', `${CMS}/a`);
    const reader = api.watch(`${CMS}?watch=1&resourceVersion=${metadata.resourceVersion}`, patience());
    const seen: string[] = [];
    for await (const event of reader) {
      seen.push(event.type);
      if (event.type === 'DELETED') break;
    }
    expect(seen).toEqual(['MODIFIED', 'DELETED']);
  });

  test('without a version begins with the state', async () => {
    await createConfigMap('a');
    const reader = api.watch(`${CMS}?watch=true`, patience());
    const first = await reader.next();
    expect(first.value).toMatchObject({
      type: 'ADDED',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } },
    });
    await reader.return(undefined);
  });
});

describe('paths', () => {
  test.each([
    ['GET', '/api/v1/nonsense', 404],
    ['GET', '/api/v9', 404],
    ['GET', '/api/v2/namespaces/default/configmaps', 404],
    ['GET', '/apis/apps/v9', 404],
    ['GET', '/apis/apps/v9/deployments', 404],
    ['GET', '/version/x', 404],
    ['POST', '/version', 405],
    ['POST', '/apis/apps/v1', 405],
    ['GET', '/apis/apps/v1/namespaces/default/configmaps', 404],
    ['GET', `${CMS}/a/status`, 404],
    ['GET', '/api/v1/bindings', 404],
    ['GET', '/api/v1/watch/namespaces/default/namespaces', 404],
    ['POST', `${CMS}/a`, 405],
    ['PUT', CMS, 405],
    ['DELETE', '/api/v1/namespaces', 405],
  ])('%s %s is a Status %p', async (method, url, code) => {
    const reply = await api.call(method, url, { body: {} });
    expect(reply.json).toMatchObject({ kind: 'Status', code });
  });

  test.each(['/nonsense', '/ui/', '/API', '/healthz/x/y', '//api', '//api/v1/pods', '/openapi/v2/'])(
    '%s returns the list of paths',
    async (url) => {
      const { code, json } = await api.call('GET', url);
      expect([code, Object.keys(json), json.paths]).toEqual([
        404,
        ['paths'],
        [
          '/apis',
          '/apis/',
          `/apis/${GROUP.apiextensions}`,
          `/apis/${GROUP.apiextensions}/v1`,
          `/apis/${GROUP.apiextensions}/v1beta1`,
          '/healthz',
          '/metrics',
          '/openapi/v2',
          '/readyz/shutdown',
          '/version',
        ],
      ]);
    },
  );

  test.each(['/apis', '/apis/', '/apis/apps'])('%s responds to any method', async (url) => {
    expect((await api.call('POST', url, { body: {} })).code).toBe(200);
  });

  test.each(['GET', 'POST'])('%s of a group without a name is 404', async (method) => {
    const { code, text } = await api.call(method, '/apis//');
    expect([code, text]).toEqual([404, '404 page not found\n']);
  });

  test.each(['/', '/index.html'])('%s lists every path, indented', async (url) => {
    const { code, text, json } = await api.call('GET', url);
    expect([code, text]).toEqual([200, JSON.stringify(json, null, 2)]);
    expect(json.paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/', '/readyz/shutdown']));
  });

  test.each([
    ['/..', `Name parameter invalid: "..": may not be '..'`],
    ['/%2e', `Name parameter invalid: ".": may not be '.'`],
    ['/a%25b', `Name parameter invalid: "a%b": may not contain '%'`],
  ])('%s names nothing', async (name, message) => {
    expect((await api.call('GET', `${CMS}${name}`)).json).toMatchObject({ code: 400, message });
  });

  test.each([
    ['DELETE', '..?dryRun=odd', undefined, 422],
    ['PUT', '.', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: '.' } }, 400],
    ['PUT', '.?dryRun=odd', {}, 422],
    ['PATCH', '..?dryRun=odd', {}, 422],
  ])('%s of %s reports all other errors first', async (method, name, body, code) => {
    expect((await api.call(method, `${CMS}/${name}`, { body })).code).toBe(code);
  });

  test('a malformed percent-encoding is refused before content negotiation', async () => {
    const reply = await api.call('GET', '/api/v1/namespaces/%zz', { headers: { accept: 'image/png' } });
    expect([reply.code, reply.text]).toEqual([400, '400 Bad Request']);
  });

  test.each([
    ['GET', CMS, { accept: 'APPLICATION/JSON' }, 406],
    ['GET', '/version', { accept: MEDIA_TYPE.protobuf }, 406],
    ['POST', `${CMS}?dryRun=odd`, { 'content-type': 'text/plain' }, 415],
    ['PUT', `${CMS}/a?dryRun=odd`, { 'content-type': 'text/plain' }, 422],
    ['PATCH', `${CMS}/a`, { 'content-type': 'text/plain', accept: 'image/png' }, 415],
    ['PATCH', `${CMS}/a`, { 'content-type': 'Application/Merge-Patch+json' }, 415],
  ])('%s %s with %p is refused by its media types first', async (method, url, headers, code) => {
    expect((await api.call(method, url, { text: '{', headers })).code).toBe(code);
  });

  test.each([
    ['GET', CMS, { accept: 'application/*' }, '{', [406, '406: Not Acceptable']],
    ['GET', '/api/v1', { accept: 'text/html' }, '', [406, '406: Not Acceptable']],
    ['PATCH', `${CMS}/a`, { 'content-type': 'text/plain' }, '{}', [415, '415: Unsupported Media Type']],
    // As upstream: without a body, a wrong type of it leaves nothing that could answer.
    ['PATCH', `${CMS}/a`, { 'content-type': 'text/plain' }, '', [406, '406: Not Acceptable']],
  ])(
    '%s %s with %p is refused with the message of the router',
    async (method, url, headers, text, expected) => {
      const { code, json } = await api.call(method, url, { text, headers });
      expect([code, json.message]).toEqual(expected);
      expect(json.details).toEqual({});
    },
  );

  test('a format that does not fit the response is refused last', async () => {
    const as = (kind: string): { readonly headers: { readonly accept: string } } => ({
      headers: { accept: `application/json;as=${kind};g=${GROUP.meta};v=v1` },
    });
    const list = await api.call('GET', `${CMS}?limit=x`, as('PartialObjectMetadata'));
    expect([list.code, list.json.reason]).toEqual([400, 'BadRequest']);
    expect((await api.call('GET', CMS, as('PartialObjectMetadata'))).code).toBe(406);
    expect((await api.call('GET', `${CMS}/none`, as('PartialObjectMetadataList'))).code).toBe(404);
    const table = await api.call('GET', `${CMS}?includeObject=x&fieldSelector=x=y`, as('Table'));
    expect(table.json.message).toContain('is not a known field selector');
    expect((await api.call('GET', `${CMS}?includeObject=x`, as('Table'))).code).toBe(400);
    await api.call('POST', CMS, { body: { metadata: { name: 'shown-as' } } });
    const gone = await api.call('DELETE', `${CMS}/shown-as`, as('PartialObjectMetadataList'));
    expect([gone.code, gone.json.kind]).toEqual([200, 'Status']);
  });

  test('an Accept header without a type is ignored', async () => {
    const headers = { 'content-type': '' };
    const body = { metadata: { name: 'untyped' } };
    expect((await api.call('POST', `${CMS}?dryRun=All`, { body, headers })).code).toBe(201);
  });

  test('a deprecated resource without watch warns before it refuses a watch', async () => {
    const { code, warnings } = await api.call('GET', '/api/v1/componentstatuses?watch=1');
    expect([code, warnings]).toEqual([405, ['v1 ComponentStatus is deprecated in v1.19+']]);
  });

  test('a strategic merge patch cannot change kind and version', async () => {
    await api.call('POST', CMS, { body: { metadata: { name: 'typed' } } });
    const headers = { 'content-type': MEDIA_TYPE.strategicMergePatch };
    const body = { kind: 'Pod', apiVersion: 'v9', data: { a: 'b' } };
    expect((await api.call('PATCH', `${CMS}/typed`, { body, headers })).json).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: { a: 'b' },
    });
    const wrong = await api.call('PATCH', `${CMS}/typed`, { body: { kind: 1 }, headers });
    expect(wrong.code).toBe(422);
  });

  test('preconditions of a deletion may be in the query', async () => {
    const { json } = await api.call('POST', CMS, { body: { metadata: { name: 'kept' } } });
    const { uid, resourceVersion } = json.metadata as Record<string, string>;
    const url = `${CMS}/kept`;
    expect((await api.call('DELETE', `${url}?uid=x`)).code).toBe(409);
    expect((await api.call('DELETE', `${url}?uid=${uid}&resourceVersion=1`)).code).toBe(409);
    expect((await api.call('DELETE', `${url}?uid=${uid}&resourceVersion=${resourceVersion}`)).code).toBe(200);
  });

  test('requests that the router refuses have no deprecation warning', async () => {
    const url = `/apis/batch/v1beta1/namespaces/default/cronjobs`;
    const unknown = { 'content-type': 'text/plain' };
    for (const [method, path, headers, code, warnings] of [
      ['PATCH', `${url}/a`, unknown, 415, 0],
      ['GET', url, { accept: 'text/plain' }, 406, 0],
      ['PUT', url, {}, 405, 0],
      ['POST', url, unknown, 415, 1],
      ['POST', url, {}, 400, 1],
    ] as const) {
      const reply = await api.call(method, path, { text: '{', headers });
      expect([method, reply.code, reply.warnings.length]).toEqual([method, code, warnings]);
    }
  });

  test.each(['/apis/none.example.com/v1', '/apis/none.example.com/v1/things'])(
    '%s is a plain 404',
    async (url) => {
      expect(await api.call('GET', url)).toMatchObject({ code: 404, text: '404 page not found\n' });
    },
  );

  test.each(['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/version', '/'])(
    '%s answers',
    async (url) => {
      expect((await api.call('GET', url)).code).toBe(200);
    },
  );
});

describe('namespaces', () => {
  test('the bootstrap namespaces exist and three of them cannot be deleted', async () => {
    const names = (await api.call('GET', '/api/v1/namespaces')).json.items.map(
      (item: { metadata: { name: string } }) => item.metadata.name,
    );
    expect(names).toHaveLength(4);
    expect((await api.call('DELETE', '/api/v1/namespaces/default')).json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
    });
  });

  test('a missing namespace refuses objects', async () => {
    const reply = await api.call('POST', '/api/v1/namespaces/none/configmaps', {
      body: { metadata: { name: 'a' } },
    });
    expect(reply.json).toMatchObject({ code: 404, details: { kind: 'namespaces', name: 'none' } });
  });

  test('a terminating namespace refuses objects and is removed with its content finalizer', async () => {
    await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'x' } } });
    const deleted = await api.call('DELETE', '/api/v1/namespaces/x');
    expect(deleted.json).toMatchObject({ status: { phase: 'Terminating' } });
    const refused = await api.call('POST', '/api/v1/namespaces/x/configmaps', {
      body: { metadata: { name: 'a' } },
    });
    expect(refused.json).toMatchObject({
      code: 403,
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    const body = { ...deleted.json, spec: {} };
    expect((await api.call('PUT', '/api/v1/namespaces/x/finalize', { body })).code).toBe(200);
    expect((await api.call('GET', '/api/v1/namespaces/x')).code).toBe(404);
  });
});
