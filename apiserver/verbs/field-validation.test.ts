import { MEDIA_TYPE } from '../../shared/names';
import type { InProcessApi, Reply } from '../testing/in-process-api';
import { startInProcessApi } from '../testing/in-process-api';

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
const PROBLEMS = ['duplicate field "data.x"', 'unknown field "metadata.nonsense"'];

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

describe.each(WAYS)('%s', (_what, sendIt) => {
  test.each(['', '?fieldValidation=', '?fieldValidation=Ignore'])(
    'with the query %j drops and takes what it finds, and says nothing',
    async (query) => {
      const { code, warnings } = await sendIt(query);
      expect([200, 201]).toContain(code);
      expect(warnings).toEqual([]);
      expect(await dataOf()).toEqual({ x: '2' });
    },
  );

  test('with Warn does the same, and names everything once', async () => {
    const { code, warnings } = await sendIt('?fieldValidation=Warn');
    expect([200, 201]).toContain(code);
    expect(warnings).toEqual(PROBLEMS);
    expect(await dataOf()).toEqual({ x: '2' });
  });

  test('with Strict is refused, with everything in one message, and stores nothing', async () => {
    const { json } = await sendIt('?fieldValidation=Strict');
    expect(json).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: `strict decoding error: ${PROBLEMS.join(', ')}`,
    });
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

test('an unknown field that a JSON patch adds is found in what it makes', async () => {
  const text = '[{"op":"add","path":"/metadata/nonsense","value":1}]';
  const strict = await patch('?fieldValidation=Strict', text, MEDIA_TYPE.jsonPatch);
  expect(strict.json).toMatchObject({
    code: 400,
    message: 'strict decoding error: unknown field "metadata.nonsense"',
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

  test('with a repeated key is taken, warned of, or refused', async () => {
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

  test('in JSON is looked at in the same way', async () => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}';
    const { json } = await applyText('&fieldValidation=Strict', text);
    expect(json.message).toBe('strict decoding error: duplicate field "data.x"');
  });

  test('with an unknown field is a BadRequest in any case, because nobody could own it', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, nonsense: 1}\n';
    const ignored = await applyText('', text);
    expect(ignored.json).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(ignored.json.message).toContain('.metadata.nonsense: field not declared in schema');
    const strict = await applyText('&fieldValidation=Strict', text);
    expect(strict.json.message).toBe('strict decoding error: unknown field "metadata.nonsense"');
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(404);
  });
});

test('the path of a problem names items of lists and keys below them', async () => {
  const text = `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80},{"port":81,"nonsense":1,"port":82,"name":"b"}]}}`;
  const { json } = await api.call('POST', `${SERVICES}?fieldValidation=Strict`, { text });
  expect(json.message).toBe(
    'strict decoding error: duplicate field "spec.ports[1].port", unknown field "spec.ports[1].nonsense"',
  );
});

test('a patch that is made again because another writer was faster warns once', async () => {
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
