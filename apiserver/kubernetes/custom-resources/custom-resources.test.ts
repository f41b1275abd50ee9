import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { ReadonlyJson } from '../../../shared/object/json';
import type { TestVersion } from '../../testing/custom-resources/definitions';
import {
  DEFINITIONS_PATH,
  define,
  definitionBody,
  GIZMOS_PATH as PATH,
  gizmo,
} from '../../testing/custom-resources/definitions';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const create = async (name: string, rest: object = {}, query = ''): Promise<Reply> =>
  api.call('POST', `${PATH}${query}`, { body: gizmo(name, rest) });
const apply = async (name: string, body: object, query: string): Promise<Reply> =>
  api.call('PATCH', `${PATH}/${name}?${query}`, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    text: JSON.stringify(body),
  });

const SIZED = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'red' },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { seen: { type: 'integer', minimum: 0 } } },
  },
};

test('an update is validated, and its generation counted, in the version of the request', async () => {
  const fields = (...names: readonly string[]): ReadonlyJson => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      },
    },
  });
  const versions = [
    { name: 'v1', schema: fields('both', 'old') },
    { name: 'v2', schema: fields('both') },
  ];
  await define(api, definitionBody({ versions }));
  await create('a', { spec: { both: 'x', old: 'y' } });
  const other = `${PATH.replace('v1', 'v2')}/a`;
  const patched = await api.call('PATCH', other, { body: { spec: { unknown: 'z' } } });
  // Fields known only to the storage version are lost, while no field visible in v2 has changed.
  expect([patched.json.metadata.generation, patched.json.spec]).toEqual([1, { both: 'x' }]);
  const { resourceVersion } = patched.json.metadata;
  const again = await api.call('PATCH', other, { body: { spec: { unknown: 'z' } } });
  expect(again.json.metadata.resourceVersion).toBe(resourceVersion);
});

test('a null is kept for validation where unknown fields are preserved', async () => {
  const body = {
    metadata: { name: 'gizmos.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      scope: 'Namespaced',
      names: { plural: 'gizmos', kind: 'Gizmo' },
      validation: { openAPIV3Schema: { properties: { a: { type: 'string' } } } },
    },
  };
  await define(api, body, 'v1beta1');
  expect((await create('a', { a: null })).json.details.causes).toMatchObject([{ field: 'a' }]);
  expect((await create('a', { b: null })).code).toBe(201);
});

test.each<[object, string]>([
  [{ kind: null }, `Object 'Kind' is missing in '{"apiVersion":`],
  [{ apiVersion: null }, '.apiVersion accessor error: <nil> is of the type <nil>, expected string'],
])('a kind or a version that is null is refused: %j', async (given, why) => {
  await define(api, definitionBody());
  const { json } = await api.call('POST', PATH, { body: { ...gizmo('a'), ...given } });
  expect([json.code, json.reason]).toEqual([400, 'BadRequest']);
  expect(json.message).toContain(`Gizmo in version "v1" cannot be handled as a Gizmo: ${why}`);
});

test('an empty managedFields list leaves the owners unchanged, a list with one empty entry resets them', async () => {
  await define(api, definitionBody());
  const { metadata } = (await create('a', { spec: 1 })).json;
  const ownersAfter = async (managedFields: readonly object[]): Promise<unknown> =>
    (await api.call('PATCH', `${PATH}/a`, { body: { metadata: { managedFields } } })).json.metadata
      .managedFields;
  expect(await ownersAfter([])).toEqual(metadata.managedFields);
  expect(await ownersAfter([{}])).toBeUndefined();
});

describe('an embedded object', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  };
  const spec = { kind: null, apiVersion: 'v1' };

  test('is decoded by the schema in a body, and only validated in an apply configuration', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema }] }));
    expect((await create('a', { spec })).code).toBe(400);
    const applied = await apply('a', gizmo('a', { spec }), 'fieldManager=m');
    expect([applied.code, applied.json.details.causes]).toMatchObject([
      422,
      [{ field: 'spec.kind', message: 'Invalid value: "null": must be a string' }],
    ]);
  });

  test('is rejected with its field if a JSON patch sets a wrong type', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema }] }));
    await create('a');
    const { json } = await api.call('PATCH', `${PATH}/a`, {
      headers: { 'content-type': 'application/json-patch+json' },
      body: [{ op: 'add', path: '/spec', value: spec }],
    });
    expect([json.code, json.reason]).toEqual([422, 'Invalid']);
    expect(json.message).toContain('spec.kind: Invalid value: "null": must be a string');
  });
});

describe('objects', () => {
  test('are created, read, listed, replaced, patched and deleted like built-in ones', async () => {
    await define(api, definitionBody());
    const made = await create('a', { spec: { size: 3, big: 1 } });
    expect([made.code, made.json.metadata.generation, made.json.spec]).toEqual([201, 1, { big: 1, size: 3 }]);
    const { resourceVersion } = made.json.metadata;
    const body = { ...gizmo('a', { spec: { size: 4 } }), metadata: { name: 'a', resourceVersion } };
    const replaced = await api.call('PUT', `${PATH}/a`, { body });
    expect([replaced.code, replaced.json.metadata.generation]).toEqual([200, 2]);
    const patched = await api.call('PATCH', `${PATH}/a`, { body: { spec: { size: 5, more: [1, null] } } });
    expect(patched.json.spec).toEqual({ more: [1], size: 5 });
    const pointed = await api.call('PATCH', `${PATH}/a`, {
      headers: { 'content-type': 'application/json-patch+json' },
      body: [{ op: 'remove', path: '/spec/more' }],
    });
    expect(pointed.json.spec).toEqual({ size: 5 });
    const { json } = await api.call('GET', '/apis/example.com/v1/gizmos');
    expect(json).toMatchObject({
      kind: 'GizmoList',
      apiVersion: 'example.com/v1',
      metadata: { continue: '' },
    });
    expect(json.items).toMatchObject([{ kind: 'Gizmo', apiVersion: 'example.com/v1', spec: { size: 5 } }]);
    expect((await api.call('DELETE', `${PATH}/a`)).code).toBe(200);
    expect((await api.call('GET', `${PATH}/a`)).code).toBe(404);
  });

  test('with metadata of a wrong type are rejected with the field', async () => {
    await define(api, definitionBody());
    const { code, json } = await create('x', { metadata: { name: 'x', labels: { a: 1 } } });
    expect([code, json.message]).toEqual([
      400,
      'Gizmo in version "v1" cannot be handled as a Gizmo: cannot unmarshal number 1 into field metadata.labels[a] of type string',
    ]);
  });

  test('are sent to watchers in the requested version', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1' }, { name: 'v2' }] }));
    const stop = new AbortController();
    const frames = api.watch(`${PATH.replace('v1', 'v2')}?watch=1`, stop.signal);
    const first = frames.next();
    await create('a', { spec: { size: 1 } });
    expect((await first).value).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Gizmo', apiVersion: 'example.com/v2', spec: { size: 1 } },
    });
    stop.abort();
  });

  test('support pagination, metadata-only responses and selection by name and namespace', async () => {
    await define(api, definitionBody());
    for (const name of ['a', 'b', 'c']) await create(name);
    const page = await api.call('GET', `${PATH}?limit=2`);
    const rest = await api.call('GET', `${PATH}?limit=2&continue=${page.json.metadata.continue}`);
    expect([...page.json.items, ...rest.json.items].map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
    const as = `application/json;as=PartialObjectMetadataList;g=${GROUP.meta};v=v1`;
    expect((await api.call('GET', PATH, { headers: { accept: as } })).code).toBe(200);
    const named = await api.call(
      'GET',
      `${PATH}?fieldSelector=metadata.name%3Db,metadata.namespace%3Ddefault`,
    );
    expect(named.json.items).toHaveLength(1);
    const refused = await api.call('GET', `${PATH}?fieldSelector=spec.size%3D1`);
    expect([refused.code, refused.json.message]).toEqual([400, 'field label not supported: spec.size']);
    expect((await api.call('GET', `${PATH}?fieldSelector=apiVersion%3Dexample.com/v1`)).code).toBe(400);
  });

  test('of cluster scope do not support the namespace field selector', async () => {
    await define(api, definitionBody({ scope: 'Cluster' }));
    expect(
      (await api.call('GET', '/apis/example.com/v1/gizmos?fieldSelector=metadata.namespace%3D')).code,
    ).toBe(400);
    expect((await api.call('GET', PATH)).text).toBe('404 page not found\n');
    const body = { ...gizmo('a'), metadata: { name: 'a', namespace: 'default' } };
    const made = await api.call('POST', '/apis/example.com/v1/gizmos', { body });
    expect([made.code, made.json.metadata.namespace]).toEqual([201, undefined]);
  });

  test('that differ only in key order are not written again', async () => {
    await define(api, definitionBody());
    const made = await create('a', { spec: { x: 1, y: { b: 1, a: 2 } }, data: 1 });
    const { metadata } = made.json;
    const body = {
      kind: 'Gizmo',
      apiVersion: 'example.com/v1',
      data: 1,
      spec: { y: { a: 2, b: 1 }, x: 1 },
      metadata,
    };
    const again = await api.call('PUT', `${PATH}/a`, { body });
    expect(again.json.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test('preserve long integers and keys with a special meaning in JavaScript', async () => {
    await define(api, definitionBody());
    const text =
      '{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"name":"a"},"spec":{"big":9007199254740993,"__proto__":{"x":1}}}';
    const made = await api.call('POST', PATH, { text });
    expect(made.text).toContain('"big":9007199254740993');
    expect((await api.call('GET', `${PATH}/a`)).text).toContain('"__proto__":{"x":1}');
  });
});

describe('bodies', () => {
  beforeEach(async () => {
    await define(api, definitionBody());
  });

  test('without a kind are bad requests, with another kind invalid', async () => {
    expect((await api.call('POST', PATH, { body: { metadata: { name: 'a' } } })).code).toBe(400);
    const other = await api.call('POST', PATH, { body: { ...gizmo('a'), kind: 'Widget' } });
    expect([other.code, other.json.message]).toEqual([
      422,
      'Widget.example.com "a" is invalid: kind: Invalid value: "Widget": must be Gizmo',
    ]);
    const unversioned = await api.call('POST', PATH, { body: { kind: 'Gizmo', metadata: { name: 'a' } } });
    expect([unversioned.code, unversioned.json.details.causes[0].field]).toEqual([422, 'apiVersion']);
    expect(
      (await api.call('POST', PATH, { body: { ...gizmo('a'), apiVersion: 'example.com/v2' } })).code,
    ).toBe(400);
  });

  test('that a patch moves to another version are invalid', async () => {
    await api.call('POST', PATH, { body: gizmo('a') });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patched = await api.call('PATCH', `${PATH}/a`, { headers, body: { apiVersion: 'example.com/v2' } });
    expect([patched.code, patched.json.message]).toEqual([
      422,
      'Gizmo.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v2": must be example.com/v1',
    ]);
  });

  test('are accepted in YAML, and rejected in Protobuf and as strategic merge patches', async () => {
    const text = 'apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: yam}\nspec: {size: 7}\n';
    const made = await api.call('POST', PATH, { headers: { 'content-type': 'application/yaml' }, text });
    expect([made.code, made.json.spec]).toEqual([201, { size: 7 }]);
    const packed = { 'content-type': MEDIA_TYPE.protobuf };
    expect((await api.call('POST', PATH, { headers: packed, text: 'k8s\0' })).code).toBe(400);
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const merged = await api.call('PATCH', `${PATH}/yam`, { headers, body: {} });
    expect([merged.code, merged.json.details]).toEqual([415, undefined]);
  });

  test('may have any finalizers, and need a resourceVersion for an update', async () => {
    const body = { ...gizmo('f'), metadata: { name: 'f', finalizers: ['nodomain'] } };
    expect((await api.call('POST', PATH, { body })).code).toBe(201);
    const replaced = await api.call('PUT', `${PATH}/f`, { body: gizmo('f') });
    expect([replaced.code, replaced.json.details.causes[0].field]).toEqual([422, 'metadata.resourceVersion']);
  });
});

describe('cross-cutting features', () => {
  test('admission sees the namespace of custom resources, metrics their names', async () => {
    await define(api, definitionBody());
    const nowhere = await api.call('POST', PATH.replace('default', 'nowhere'), { body: gizmo('a') });
    expect([nowhere.code, nowhere.json.message]).toEqual([404, 'namespaces "nowhere" not found']);
    await create('a');
    await api.call('GET', '/apis/example.org/v1/unknowns');
    const { text } = await api.call('GET', '/metrics');
    const counted =
      /apiserver_request_total\{verb="POST",.*group="example.com",version="v1",resource="gizmos".*code="201".*\} 1/u;
    expect(text).toMatch(counted);
    expect(text).toContain('resource="gizmos.example.com"');
    expect(text).not.toContain('unknowns');
  });
});

describe('paths', () => {
  test('unknown paths are 404, unsupported verbs of a path are 405', async () => {
    await define(
      api,
      definitionBody({
        versions: [
          { name: 'v1', subresources: { status: {} } },
          { name: 'v2', served: false },
        ],
      }),
    );
    for (const path of [
      '/apis/example.com/v2/gizmos',
      '/apis/example.com/v1/widgets',
      '/apis/other.com/v1/gizmos',
    ]) {
      expect((await api.call('GET', path)).text).toBe('404 page not found\n');
    }
    expect((await api.call('POST', '/apis/example.com/v1/gizmos', { body: gizmo('a') })).text).toBe(
      '404 page not found\n',
    );
    const scale = await api.call('GET', `${PATH}/a/scale`);
    expect([scale.code, scale.json.message]).toEqual([404, 'gizmos.example.com "a" not found']);
    const posted = await api.call('POST', `${PATH}/a/status`, { body: gizmo('a') });
    expect([posted.code, posted.json.details]).toEqual([405, { group: 'example.com', kind: 'gizmos' }]);
    expect((await api.call('PUT', PATH, { body: gizmo('a') })).json.message).toBe('name must be provided');
    expect((await api.call('PATCH', PATH, { body: {} })).json.message).toBe('name must be provided');
    const headers = { 'content-type': 'text/plain' };
    expect((await api.call('PATCH', PATH, { body: {}, headers })).code).toBe(415);
    // A wrong kind is reported if the object exists.
    for (const wrong of [{ kind: 'Other' }, { apiVersion: '' }]) {
      const body = { ...gizmo('absent'), ...wrong };
      expect((await api.call('PUT', `${PATH}/absent`, { body })).json.message).toBe(
        'gizmos.example.com "absent" not found',
      );
    }
  });

  test('of a deprecated version send a warning that recommends the newest version', async () => {
    const versions = [
      { name: 'v1' },
      { name: 'v1beta1', deprecated: true },
      { name: 'v1alpha1', deprecated: true, deprecationWarning: 'no more' },
    ];
    await define(api, definitionBody({ versions }));
    const warningsOf = async (version: string): Promise<readonly string[]> =>
      (await api.call('GET', PATH.replace('v1', version))).warnings;
    expect(await warningsOf('v1')).toEqual([]);
    expect(await warningsOf('v1beta1')).toEqual([
      'example.com/v1beta1 Gizmo is deprecated; use example.com/v1 Gizmo',
    ]);
    expect(await warningsOf('v1alpha1')).toEqual(['no more']);
    const nowhere = await api.call('GET', `${PATH.replace('v1', 'v1alpha1')}/a/status`);
    expect([nowhere.code, nowhere.warnings]).toEqual([404, ['no more']]);
  });

  test('of a version that needs an unreachable webhook fail, those of the storage version succeed', async () => {
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1' } };
    const spec = { conversion: { strategy: 'Webhook', webhook } };
    await define(api, definitionBody({ versions: [{ name: 'v1' }, { name: 'v2' }], spec }));
    expect((await create('a')).code).toBe(201);
    const other = await api.call('GET', `${PATH.replace('v1', 'v2')}/a`);
    expect([other.code, other.json.message]).toEqual([
      500,
      expect.stringContaining('conversion webhook for example.com/v1, Kind=Gizmo failed'),
    ]);
  });
});

describe('schemas', () => {
  test('define pruning, defaulting and validation', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema: SIZED }] }));
    const made = await create('a', { spec: { size: 1, other: true }, data: 1 });
    expect(made.json).toMatchObject({ spec: { size: 1, color: 'red' } });
    expect([made.json.spec.other, made.json.data]).toEqual([undefined, undefined]);
    const refused = await create('b', { spec: { size: 0 } });
    expect([refused.code, refused.json.details.causes[0].field]).toEqual([422, 'spec.size']);
    const patched = await api.call('PATCH', `${PATH}/a`, { body: { spec: { size: 'x' } } });
    expect(patched.code).toBe(422);
  });

  test("of the request's version apply, and fields unknown to the storage version are dropped", async () => {
    const v2 = {
      type: 'object',
      properties: { spec: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    };
    await define(
      api,
      definitionBody({
        versions: [
          { name: 'v1', schema: SIZED },
          { name: 'v2', schema: v2 },
        ],
      }),
    );
    const path = PATH.replace('v1', 'v2');
    const body = { apiVersion: 'example.com/v2', kind: 'Gizmo', metadata: { name: 'a' }, spec: {} };
    expect((await api.call('POST', path, { body })).code).toBe(422);
    const made = await api.call('POST', path, { body: { ...body, spec: { name: 'n' } } });
    expect([made.code, made.json.spec]).toEqual([201, {}]);
    expect((await api.call('GET', `${PATH}/a`)).json.spec).toEqual({ color: 'red' });
  });

  test('of the current definition apply to stored objects in reads, lists and watches', async () => {
    await define(api, definitionBody());
    await create('a', { spec: { size: 1, other: true } });
    const from = (await api.call('GET', PATH)).json.metadata.resourceVersion;
    const schema = { openAPIV3Schema: SIZED };
    const body = { spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] } };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body })).code).toBe(200);
    const shown = { size: 1, color: 'red' };
    expect((await api.call('GET', `${PATH}/a`)).json.spec).toEqual(shown);
    expect((await api.call('GET', PATH)).json.items[0].spec).toEqual(shown);
    const stop = new AbortController();
    const { value } = await api.watch(`${PATH}?watch=1`, stop.signal).next();
    stop.abort();
    expect(value.object.spec).toEqual(shown);
    const patched = await api.call('PATCH', `${PATH}/a`, { body: {} });
    expect(Number(patched.json.metadata.resourceVersion)).toBeGreaterThan(Number(from));
    expect(patched.json.spec).toEqual(shown);
  });

  test('define the list and map types for server-side apply', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema: SIZED }] }));
    const body = (tags: readonly string[]): object => gizmo('a', { spec: { tags } });
    expect((await apply('a', body(['x']), 'fieldManager=one')).code).toBe(201);
    const shared = await apply('a', body(['y']), 'fieldManager=two');
    expect(shared.json.spec.tags).toEqual(['x', 'y']);
    const twice = await apply('a', body(['z', 'z']), 'fieldManager=three');
    expect(twice.code).toBe(400);
  });

  test('reject nulls in apply configurations, drop them otherwise, and apply defaults in both cases', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema: SIZED }] }));
    const withNull = (name: string, field: string): object =>
      gizmo(name, { spec: { size: 1, [field]: null } });
    const refused = await apply('a', withNull('a', 'tags'), 'fieldManager=one');
    expect([refused.code, refused.json.details.causes[0].field]).toEqual([422, 'spec.tags']);
    const filled = await apply('a', withNull('a', 'color'), 'fieldManager=one');
    expect([filled.code, filled.json.spec.color]).toEqual([201, 'red']);
    const posted = await api.call('POST', PATH, { body: withNull('b', 'tags') });
    expect([posted.code, posted.json.spec]).toEqual([201, { size: 1, color: 'red' }]);
  });
});

describe('an object stored in one version', () => {
  test('has its defaults in another version with a schema that preserves everything', async () => {
    const schema = (color: object): Readonly<Record<string, unknown>> => ({
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, color } } },
    });
    const versions = (color: object): readonly TestVersion[] => [
      { name: 'v1', schema: schema(color) },
      { name: 'v2' },
    ];
    await define(api, definitionBody({ versions: versions({ type: 'string' }) }));
    await create('a', { spec: { size: 1 } });
    const { spec } = definitionBody({ versions: versions({ type: 'string', default: 'red' }) });
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body: { spec } })).code).toBe(
      200,
    );
    expect((await api.call('GET', `${PATH.replace('v1', 'v2')}/a`)).json.spec).toEqual({
      color: 'red',
      size: 1,
    });
  });
});

describe('a schema that became stricter', () => {
  const lists = (listType: string, format = ''): object => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', format },
          tags: { type: 'array', 'x-kubernetes-list-type': listType, items: { type: 'string' } },
        },
      },
    },
  });

  test('ratchets numbers beyond their format of existing objects, and rejects new ones', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema: lists('set') as never }] }));
    await create('wide', { spec: { size: 2 ** 31 } });
    const schema = { openAPIV3Schema: lists('set', 'int32') };
    const body = { spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] } };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body })).code).toBe(200);
    const refused = await create('new', { spec: { size: 2 ** 31 } });
    expect(refused.json.details.causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: '<nil>',
        message: 'Invalid value: "": Checked value must be of type integer with format int32 in spec.size',
      },
    ]);
    const patch = async (spec: object): Promise<number> =>
      (await api.call('PATCH', `${PATH}/wide`, { body: { spec } })).code;
    expect([await patch({ tags: ['x'] }), await patch({ tags: ['x', 'x'] })]).toEqual([200, 422]);
    expect([await patch({ size: 5 }), await patch({ size: 2 ** 31 })]).toEqual([200, 422]);
  });

  test('ratchets duplicate set items of existing objects, and rejects new ones', async () => {
    await define(api, definitionBody({ versions: [{ name: 'v1', schema: lists('atomic') as never }] }));
    await create('bad', { spec: { tags: ['x', 'x'] } });
    await create('good', { spec: { tags: ['x', 'y'] } });
    const schema = { openAPIV3Schema: lists('set') };
    const body = { spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] } };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body })).code).toBe(200);
    const patch = async (name: string, spec: object): Promise<number> =>
      (await api.call('PATCH', `${PATH}/${name}`, { body: { spec } })).code;
    expect((await create('new', { spec: { tags: ['x', 'x'] } })).code).toBe(422);
    expect(await patch('bad', { size: 1 })).toBe(200);
    expect(await patch('bad', { tags: ['y', 'y'] })).toBe(200);
    expect(await patch('good', { tags: ['y', 'y'] })).toBe(422);
    expect(await patch('bad', { tags: ['y'] })).toBe(200);
    expect(await patch('bad', { tags: ['y', 'y'] })).toBe(422);
  });

  test('validates all values on every update, even unchanged ones', async () => {
    const sized = (minimum: number): object => ({
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer', minimum } } },
        status: { type: 'object' },
      },
    });
    const subresources = { status: {} };
    await define(
      api,
      definitionBody({ versions: [{ name: 'v1', schema: sized(0) as never, subresources }] }),
    );
    await create('a', { spec: { size: 1 } });
    const schema = { openAPIV3Schema: sized(5) };
    const body = { spec: { versions: [{ name: 'v1', served: true, storage: true, schema, subresources }] } };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body })).code).toBe(200);
    const labels = { metadata: { labels: { a: 'b' } } };
    expect((await api.call('PATCH', `${PATH}/a`, { body: labels })).code).toBe(422);
    expect((await api.call('PATCH', `${PATH}/a/status`, { body: { status: {} } })).code).toBe(422);
  });

  test('validates only values on status updates, not duplicates or embedded objects', async () => {
    const status = {
      type: 'object',
      properties: {
        seen: { type: 'integer' },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    };
    const schema = { type: 'object', properties: { status } };
    await define(api, definitionBody({ versions: [{ name: 'v1', schema, subresources: { status: {} } }] }));
    await create('a');
    const patch = async (body: object): Promise<number> =>
      (await api.call('PATCH', `${PATH}/a/status`, { body: { status: body } })).code;
    expect(await patch({ tags: ['x', 'x'] })).toBe(200);
    expect(await patch({ seen: 'x' })).toBe(422);
  });
});

describe('a change of the storage version', () => {
  test('leaves stored objects unchanged until the next write, even a no-op', async () => {
    const v1 = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { type: 'string', default: 'one' } } } },
    };
    const v2 = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const versions = (stored: string): readonly object[] =>
      [
        ['v1', v1],
        ['v2', v2],
      ].map(([name, schema]) => ({
        name,
        served: true,
        storage: name === stored,
        schema: { openAPIV3Schema: schema },
      }));
    await define(api, definitionBody({ spec: { versions: versions('v1') } }));
    await create('a', { spec: { b: 1 } });
    const body = { spec: { versions: versions('v2') } };
    const changed = await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body });
    expect(changed.json.status.storedVersions).toEqual(['v1', 'v2']);
    const path = `${PATH.replace('v1', 'v2')}/a`;
    const before = await api.call('GET', path);
    expect([before.json.apiVersion, before.json.spec]).toEqual(['example.com/v2', { a: 'one' }]);
    const written = await api.call('PATCH', path, { body: {} });
    expect(written.json.metadata.resourceVersion).not.toBe(before.json.metadata.resourceVersion);
    const again = await api.call('PATCH', path, { body: {} });
    expect(again.json.metadata.resourceVersion).toBe(written.json.metadata.resourceVersion);
  });
});
