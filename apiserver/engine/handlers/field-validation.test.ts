import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { eventually } from '../../../shared/testing/eventually';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';
const SERVICES = '/api/v1/namespaces/default/services';

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

const JSON_BODY = '{"metadata":{"name":"a","nonsense":1},"data":{"x":"1","x":"2"}}';
const YAML_BODY = 'metadata:\n  name: a\n  nonsense: 1\ndata:\n  x: "1"\n  x: "2"\n';
/** In JSON, upstream finds the unknown field first. */
const problemsOf = (what: string): readonly string[] => {
  const problems = ['duplicate field "data.x"', 'unknown field "metadata.nonsense"'];
  return what.endsWith('YAML') ? problems : problems.toReversed();
};

/** Every way to send a document with an unknown and a repeated field, after an object `a` exists where it must. */
const WAYS: readonly (readonly [what: string, send: (query: string) => Promise<Reply>])[] = [
  ['a creation in JSON', async (query) => api.call('POST', `${CMS}${query}`, { text: JSON_BODY })],
  [
    'a creation in YAML',
    async (query) => send('POST', CMS, { query, text: YAML_BODY, type: MEDIA_TYPE.yaml }),
  ],
  ['an update in JSON', async (query) => update(query, JSON_BODY, MEDIA_TYPE.json)],
  ['an update in YAML', async (query) => update(query, YAML_BODY, MEDIA_TYPE.yaml)],
  ['a merge patch', async (query) => patch(query, JSON_BODY, MEDIA_TYPE.mergePatch)],
  ['a strategic merge patch', async (query) => patch(query, JSON_BODY, MEDIA_TYPE.strategicMergePatch)],
];

interface Sent {
  readonly query: string;
  readonly text: string;
  readonly type: string;
}

async function send(method: string, url: string, { query, text, type }: Sent): Promise<Reply> {
  return api.call(method, `${url}${query}`, { text, headers: { 'content-type': type } });
}

async function create(): Promise<void> {
  expect((await api.call('POST', CMS, { body: { metadata: { name: 'a' } } })).code).toBe(201);
}

async function update(query: string, text: string, type: string): Promise<Reply> {
  await create();
  return send('PUT', `${CMS}/a`, { query, text, type });
}

async function patch(query: string, text: string, type: string): Promise<Reply> {
  await create();
  return send('PATCH', `${CMS}/a`, { query, text, type });
}

async function dataOf(): Promise<unknown> {
  return (await api.call('GET', `${CMS}/a`)).json.data;
}

describe.each(WAYS)('%s', (what, sendIt) => {
  test.each(['', '?fieldValidation=', '?fieldValidation=Ignore'])(
    'with the query %j drops unknown fields without a warning',
    async (query) => {
      const { code, warnings } = await sendIt(query);
      expect([200, 201]).toContain(code);
      expect(warnings).toEqual([]);
      expect(await dataOf()).toEqual({ x: '2' });
    },
  );

  test('with Warn does the same, with one warning for each', async () => {
    const { code, warnings } = await sendIt('?fieldValidation=Warn');
    expect([200, 201]).toContain(code);
    expect(warnings).toEqual(problemsOf(what));
    expect(await dataOf()).toEqual({ x: '2' });
  });

  test('with Strict is refused with all problems in one message, and stores nothing', async () => {
    const { json } = await sendIt('?fieldValidation=Strict');
    // What a patch makes is refused by the patch, as upstream; what is sent whole, as a body that cannot be read.
    const isPatch = what.endsWith('patch');
    expect(json).toMatchObject({
      code: isPatch ? 422 : 400,
      reason: isPatch ? 'Invalid' : 'BadRequest',
      message: expect.stringMatching(/(?:^|: )strict decoding error: /u),
    });
    expect(json.message).toContain(`strict decoding error: ${problemsOf(what).join(', ')}`);
    expect(await dataOf()).toBeUndefined();
  });

  test('with another value is Invalid', async () => {
    const { json } = await sendIt('?fieldValidation=Maybe');
    expect(json).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'fieldValidation', reason: 'FieldValueNotSupported' }] },
    });
  });
});

test('an unknown field of a JSON patch is found in its result', async () => {
  const text = '[{"op":"add","path":"/metadata/nonsense","value":1}]';
  const strict = await patch('?fieldValidation=Strict', text, MEDIA_TYPE.jsonPatch);
  expect(strict.json).toMatchObject({
    code: 422,
    message: expect.stringContaining('strict decoding error: unknown field "metadata.nonsense"'),
  });
  const request = { query: '?fieldValidation=Warn', text, type: MEDIA_TYPE.jsonPatch };
  const warned = await send('PATCH', `${CMS}/a`, request);
  expect(warned).toMatchObject({ code: 200, warnings: ['unknown field "metadata.nonsense"'] });
});

describe('an applied configuration', () => {
  const repeated = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: "1"\n  x: "2"\n';

  async function applyText(query: string, text: string): Promise<Reply> {
    return send('PATCH', `${CMS}/a?fieldManager=one`, { query, text, type: MEDIA_TYPE.applyPatch });
  }

  test('with a duplicate key is accepted, warned of, or refused', async () => {
    expect(await applyText('', repeated)).toMatchObject({ code: 201, warnings: [] });
    expect(await applyText('&fieldValidation=Warn', repeated)).toMatchObject({
      code: 200,
      warnings: ['duplicate field "data.x"'],
    });
    const { json } = await applyText('&fieldValidation=Strict', repeated);
    expect(json).toMatchObject({
      code: 400,
      message: 'strict decoding error: duplicate field "data.x"',
    });
  });

  test('in JSON is validated in the same way', async () => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}';
    const { json } = await applyText('&fieldValidation=Strict', text);
    expect(json.message).toBe('strict decoding error: duplicate field "data.x"');
  });

  test('with an unknown field is a BadRequest in any mode, because it cannot have an owner', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, nonsense: 1}\n';
    const ignored = await applyText('', text);
    expect(ignored.json).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(ignored.json.message).toContain('.metadata.nonsense: field not declared in schema');
    const strict = await applyText('&fieldValidation=Strict', text);
    expect(strict.json.message).toBe(ignored.json.message);
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });
});

test('the path of a problem has list indexes and keys', async () => {
  const text = `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80},{"port":81,"nonsense":1,"port":82,"name":"b"}]}}`;
  const { json } = await api.call('POST', `${SERVICES}?fieldValidation=Strict`, { text });
  expect(json.message).toBe(
    'strict decoding error: unknown field "spec.ports[1].nonsense", duplicate field "spec.ports[1].port"',
  );
});

test('a patch that is retried after a conflict warns once', async () => {
  await create();
  const patches = Array.from({ length: 8 }, async (_, index) =>
    api.call('PATCH', `${CMS}/a?fieldValidation=Warn`, {
      body: { metadata: { nonsense: 1 }, data: { [`k${String(index)}`]: 'x' } },
    }),
  );
  for (const { code, warnings } of await Promise.all(patches)) {
    expect(code).toBe(200);
    expect(warnings).toEqual(['unknown field "metadata.nonsense"']);
  }
});

describe('a custom resource', () => {
  const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;
  const THINGS = '/apis/example.com/v1/things';
  const SCHEMA = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          list: { type: 'array', items: { type: 'object', properties: { b: { type: 'integer' } } } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          templates: {
            type: 'array',
            items: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
        },
      },
    },
  };
  const BODY = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a', nonsense: 1 },
    spec: { a: 'x', nonsense: {}, list: [{ b: 1 }, { c: 2 }], free: { anything: { goes: 1 } } },
    more: 1,
  };
  const FOUND = [
    'unknown field "metadata.nonsense"',
    'unknown field "more"',
    'unknown field "spec.list[1].c"',
    'unknown field "spec.nonsense"',
  ];
  const KEPT = { a: 'x', list: [{ b: 1 }, {}], free: { anything: { goes: 1 } } };

  async function define(spec: object): Promise<void> {
    const body = {
      metadata: { name: 'things.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, ...spec },
    };
    const version = 'preserveUnknownFields' in spec ? 'v1beta1' : 'v1';
    const reply = await api.call('POST', DEFINITIONS.replace('/v1/', `/${version}/`), { body });
    expect(reply).toMatchObject({ code: 201 });
    await eventually('the definition is served', async () => (await api.call('GET', THINGS)).code === 200);
  }

  async function defineWithSchema(): Promise<void> {
    const schema = { openAPIV3Schema: SCHEMA };
    await define({ versions: [{ name: 'v1', served: true, storage: true, schema }] });
  }

  async function specOf(): Promise<unknown> {
    return (await api.call('GET', `${THINGS}/a`)).json.spec;
  }

  test.each(['', '?fieldValidation=Ignore'])('with the query %j is pruned', async (query) => {
    await defineWithSchema();
    expect(await api.call('POST', `${THINGS}${query}`, { body: BODY })).toMatchObject({
      code: 201,
      warnings: [],
    });
    expect(await specOf()).toEqual(KEPT);
  });

  test('with Warn lists all pruned fields, for every kind of write', async () => {
    await defineWithSchema();
    const created = await api.call('POST', `${THINGS}?fieldValidation=Warn`, { body: BODY });
    expect(created.code).toBe(201);
    expect(created.warnings.toSorted()).toEqual(FOUND);
    expect(await specOf()).toEqual(KEPT);
    const { resourceVersion } = created.json.metadata;
    const body = { ...BODY, metadata: { ...BODY.metadata, resourceVersion } };
    const updated = await api.call('PUT', `${THINGS}/a?fieldValidation=Warn`, { body });
    expect(updated.warnings.toSorted()).toEqual(FOUND);
    const merged = await api.call('PATCH', `${THINGS}/a?fieldValidation=Warn`, { body: BODY });
    expect(merged.warnings.toSorted()).toEqual(FOUND);
    const text = '[{"op":"add","path":"/spec/list/0/c","value":1}]';
    const patched = await send('PATCH', `${THINGS}/a`, {
      query: '?fieldValidation=Warn',
      text,
      type: MEDIA_TYPE.jsonPatch,
    });
    expect(patched).toMatchObject({ code: 200, warnings: ['unknown field "spec.list[0].c"'] });
    expect(await specOf()).toEqual(KEPT);
  });

  test('with Strict is refused, and nothing is stored', async () => {
    await defineWithSchema();
    const created = await api.call('POST', `${THINGS}?fieldValidation=Strict`, { body: BODY });
    expect(created.json).toMatchObject({ code: 400, reason: 'BadRequest' });
    for (const problem of FOUND) expect(created.json.message).toContain(problem);
    expect((await api.call('GET', `${THINGS}/a`)).code).toBe(404);
    const yaml =
      'apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  a: x\n  a: z\n  free: {b: 1, b: 2}\n';
    const repeated = await send('POST', THINGS, {
      query: '?fieldValidation=Strict',
      text: yaml,
      type: MEDIA_TYPE.yaml,
    });
    expect(repeated.json.message).toBe(
      'strict decoding error: duplicate field "spec.a", duplicate field "spec.free.b"',
    );
    const text = JSON.stringify(BODY);
    const applied = await send('PATCH', `${THINGS}/a`, {
      query: '?fieldManager=one&fieldValidation=Strict',
      text,
      type: MEDIA_TYPE.applyPatch,
    });
    expect(applied.json).toMatchObject({ code: 400 });
    expect(applied.json.message).toContain('.metadata.nonsense: field not declared in schema');
  });

  test('with embedded objects warns of their unknown metadata', async () => {
    await defineWithSchema();
    const template = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', odd: 1 }, spec: { any: 1 } };
    const body = { ...BODY, metadata: { name: 'a' }, more: undefined, spec: { templates: [template] } };
    const created = await api.call('POST', `${THINGS}?fieldValidation=Warn`, { body });
    expect(created).toMatchObject({
      code: 201,
      warnings: ['unknown field "spec.templates[0].metadata.odd"'],
    });
    expect(await specOf()).toEqual({ templates: [{ ...template, metadata: { name: 'x' } }] });
  });

  test('whose definition preserves unknown fields warns of unknown metadata only', async () => {
    await define({
      preserveUnknownFields: true,
      version: 'v1',
      validation: { openAPIV3Schema: SCHEMA },
    });
    const created = await api.call('POST', `${THINGS}?fieldValidation=Warn`, { body: BODY });
    expect(created).toMatchObject({ code: 201, warnings: ['unknown field "metadata.nonsense"'] });
    expect(await specOf()).toEqual(BODY.spec);
  });
});
