import { MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const { jsonPatch, mergePatch, strategicMergePatch, applyPatch } = MEDIA_TYPE;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

let api: InProcessApi;
let before: string;

beforeAll(async () => {
  api = await startInProcessApi();
  const created = await api.call('POST', DEPLOYMENTS, {
    body: {
      metadata: { name: 'd', labels: { a: '1' } },
      spec: {
        selector: { matchLabels: { app: 'd' } },
        template: {
          metadata: { labels: { app: 'd' } },
          spec: { containers: [{ name: 'c', image: 'i', args: ['x'] }] },
        },
      },
    },
  });
  expect(created.code).toBe(201);
  before = created.text;
});

afterEach(async () => {
  expect((await api.call('GET', `${DEPLOYMENTS}/d`)).text).toBe(before);
  expect((await api.call('GET', DEPLOYMENTS)).json.items).toHaveLength(1);
});

afterAll(async () => {
  await api.close();
});

async function patch(type: string, text: string, query = ''): Promise<Reply> {
  const manager = type === applyPatch ? '?fieldManager=m' : '?';
  return api.call('PATCH', `${DEPLOYMENTS}/d${manager}${query}`, {
    text,
    headers: { 'content-type': type },
  });
}

test.each([
  [mergePatch, '{"apiVersion":null}'],
  [mergePatch, '{"apiVersion":"","metadata":{"labels":5}}'],
  [jsonPatch, '[{"op":"remove","path":"/apiVersion"}]'],
])('a %s that removes the apiVersion loses the name: %s', async (type, text) => {
  const { json } = await patch(type, text);
  expect([json.code, json.message]).toEqual([
    400,
    'the name of the object (d based on URL) was undeterminable: name must be provided',
  ]);
});

const containers = (...items: readonly object[]): string =>
  JSON.stringify({ spec: { template: { spec: { containers: items } } } });
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each([
  ['{"metadata":{"labels":"a"}}', 'cannot unmarshal string into field metadata.labels of type map'],
  [
    '{"metadata":{"labels":{"a":5}}}',
    'cannot unmarshal number 5 into field metadata.labels[a] of type string',
  ],
  ['{"kind":5}', 'cannot unmarshal number 5 into field kind of type string'],
  ['{"apiVersion":{}}', 'cannot unmarshal object into field apiVersion of type string'],
  ['{"spec":{"strategy":[]}}', 'cannot unmarshal array into field spec.strategy of type object'],
  [
    '{"spec":{"replicas":"a","$retainKeys":["replicas"]}}',
    'cannot unmarshal string into field spec.replicas of type int32',
  ],
])('a strategic merge patch with a wrong type is Invalid and names the field (%s)', async (text, problem) => {
  const { json } = await patch(strategicMergePatch, text);
  expect([json.code, json.reason, json.details.causes[0].field]).toEqual([422, 'Invalid', 'patch']);
  expect(json.message).toContain(problem);
  expect(json.message).toContain(JSON.stringify(text));
});

test('an integer written as a fraction is accepted in a strategic merge patch only', async () => {
  const text = '{"spec":{"replicas":3.0}}';
  const { code, json } = await patch(strategicMergePatch, text, '&dryRun=All');
  expect([code, json.spec.replicas]).toEqual([200, 3]);
  expect((await patch(mergePatch, text, '&dryRun=All')).code).toBe(422);
  expect((await patch(strategicMergePatch, '{"spec":{"replicas":3.5}}', '&dryRun=All')).code).toBe(422);
});

test.each([
  [mergePatch, '{"spec":1e400}', 422],
  [mergePatch, '{"nonsense":[-1e400]}', 422],
  [mergePatch, '1e400', 400],
  [jsonPatch, '[{"op":"add","path":"/nonsense","value":1e400}]', 422],
  [jsonPatch, '[{"op":"test","path":"/spec/replicas","value":1e400}]', 422],
])('a %s with a number out of range is refused: %s', async (type, text, code) => {
  expect((await patch(type, text)).code).toBe(code);
});

test.each([
  [mergePatch, '{"metadata":{"labels":1E2}}', 'number 1E2 into field metadata.labels of type map'],
  [mergePatch, '{"spec":{"replicas":[0.1e1]}}', 'array into field spec.replicas of type int32'],
  [mergePatch, '{"metadata":-9223372036854775809}', 'number -9223372036854775809 into field metadata'],
  [mergePatch, '{"spec":1e400}', 'a number is out of range'],
  [jsonPatch, '[{"op":"add","path":"/spec","value":1.50}]', 'number 1.50 into field spec of type object'],
])('a %s with a wrong number is Invalid and shown as sent: %s', async (type, text, problem) => {
  const { json } = await patch(type, text);
  expect([json.code, json.reason]).toEqual([422, 'Invalid']);
  expect(json.message).toContain(problem);
  expect(json.message).toContain(JSON.stringify(text));
});

test('a refusal shows the beginning of a long patch', async () => {
  const { json } = await patch(mergePatch, JSON.stringify({ spec: { paused: 'x'.repeat(10_000) } }));
  expect(json.code).toBe(422);
  expect(json.message.length).toBeLessThan(5_000);
});

test('a JSON patch may hold a temporary number that is out of range', async () => {
  const path = '/metadata/annotations';
  const operations = `[{"op":"add","path":"${path}","value":1e400},{"op":"remove","path":"${path}"}]`;
  expect((await patch(jsonPatch, operations)).code).toBe(200);
});

test('a number that is too large for a strategic merge patch is a BadRequest', async () => {
  const { json } = await patch(strategicMergePatch, '{"a":"1e500","nonsense":[2,-1E400]}');
  expect([json.code, json.reason, json.message]).toEqual([400, 'BadRequest', 'a number is out of range']);
});

test.each([
  ['[null]', 200],
  ['[{"manager":"a"},null]', 200],
  ['[]', 400],
])('managedFields of %s in an applied configuration', async (managedFields, code) => {
  const metadata = `"metadata":{"name":"d","managedFields":${managedFields}}`;
  const text = `{"apiVersion":"apps/v1","kind":"Deployment",${metadata}}`;
  expect((await patch(applyPatch, text, '&dryRun=All')).code).toBe(code);
});

test.each([[{ kind: 'Other' }], [{ apiVersion: 'v2' }], [{ apiVersion: null, kind: 'ConfigMap' }]])(
  'a strategic merge patch cannot change the kind (%j)',
  async (document) => {
    const { code, text } = await patch(strategicMergePatch, JSON.stringify(document));
    expect([code, text]).toEqual([200, before]);
  },
);

test.each([
  [mergePatch, { apiVersion: '' }],
  [mergePatch, { apiVersion: null, kind: null }],
  [jsonPatch, [{ op: 'remove', path: '/apiVersion' }]],
])('another patch that removes the apiVersion removes the name (%s)', async (type, document) => {
  const { json } = await patch(type, JSON.stringify(document));
  const why = 'the name of the object (d based on URL) was undeterminable: name must be provided';
  expect([json.code, json.reason, json.message]).toEqual([400, 'BadRequest', why]);
});

const operation = (...operations: readonly object[]): string => JSON.stringify(operations);

test.each<[what: string, type: string, text: string, code: number, reason: string]>([
  // What is no patch at all.
  ['an empty body', jsonPatch, '', 400, 'BadRequest'],
  ['an empty body', mergePatch, '', 400, 'BadRequest'],
  ['an empty body', strategicMergePatch, '', 400, 'BadRequest'],
  ['an empty body', applyPatch, '', 400, 'BadRequest'],
  ['half a document', mergePatch, '{"metadata":', 400, 'BadRequest'],
  ['half a document', strategicMergePatch, '{"metadata":', 400, 'BadRequest'],
  ['half a document', jsonPatch, '[{"op":"add"', 400, 'BadRequest'],
  ['half a document', applyPatch, 'a: [', 400, 'BadRequest'],
  ['a text', mergePatch, '"text"', 400, 'BadRequest'],
  ['a number', strategicMergePatch, '5', 400, 'BadRequest'],
  ['an object', jsonPatch, '{}', 400, 'BadRequest'],
  ['a list of numbers', jsonPatch, '[5]', 400, 'BadRequest'],
  ['a list', strategicMergePatch, '[]', 400, 'BadRequest'],
  ['a list', applyPatch, '[]', 400, 'BadRequest'],
  ['a text', applyPatch, 'text', 400, 'BadRequest'],
  ['two documents', applyPatch, 'a: 1\n---\nb: 2\n', 400, 'BadRequest'],
  ['bytes that are no UTF-8', applyPatch, 'a: "\ud800"\u0000', 400, 'BadRequest'],
  // Operations that cannot be carried out.
  ['an unknown operation', jsonPatch, operation({ op: 'explode', path: '/a' }), 422, 'Invalid'],
  ['no operation', jsonPatch, operation({ path: '/a' }), 422, 'Invalid'],
  ['no path', jsonPatch, operation({ op: 'add', value: 1 }), 422, 'Invalid'],
  ['a test that fails', jsonPatch, operation({ op: 'test', path: '/kind', value: 'Pod' }), 422, 'Invalid'],
  ['a missing place', jsonPatch, operation({ op: 'remove', path: '/metadata/none' }), 422, 'Invalid'],
  [
    'an index outside',
    jsonPatch,
    operation({ op: 'remove', path: '/spec/template/spec/containers/7' }),
    422,
    'Invalid',
  ],
  [
    'a change before one that fails',
    jsonPatch,
    operation({ op: 'add', path: '/metadata/labels/b', value: '2' }, { op: 'remove', path: '/none' }),
    422,
    'Invalid',
  ],
  [
    'a wrong type',
    jsonPatch,
    operation({ op: 'add', path: '/spec/replicas', value: 'three' }),
    422,
    'Invalid',
  ],
  [
    'copies that double the object each time',
    jsonPatch,
    JSON.stringify(
      Array.from({ length: 64 }, () => ({
        op: 'copy',
        from: '/spec/template/spec/containers',
        path: '/spec/template/spec/containers/-',
      })),
    ),
    422,
    'Invalid',
  ],
  [
    '10,001 operations',
    jsonPatch,
    JSON.stringify(
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Deployment' })),
    ),
    413,
    'RequestEntityTooLarge',
  ],
  // Strategic merge.
  ['an unknown directive', strategicMergePatch, '{"spec":{"$patch":"foo"}}', 422, 'Invalid'],
  [
    'an unknown directive in a list',
    strategicMergePatch,
    containers({ name: 'c', $patch: 'foo' }),
    422,
    'Invalid',
  ],
  ['an item without its key', strategicMergePatch, containers({ image: 'x' }), 422, 'Invalid'],
  ['a deletion without its key', strategicMergePatch, containers({ $patch: 'delete' }), 422, 'Invalid'],
  [
    'an item that is none',
    strategicMergePatch,
    '{"spec":{"template":{"spec":{"containers":[5]}}}}',
    422,
    'Invalid',
  ],
  [
    '$retainKeys that is no list',
    strategicMergePatch,
    '{"spec":{"$retainKeys":"strategy"}}',
    400,
    'BadRequest',
  ],
  [
    'an order that does not fit',
    strategicMergePatch,
    '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"x"}],"containers":[{"name":"c"}]}}}}',
    422,
    'Invalid',
  ],
  ['a wrong type', strategicMergePatch, '{"spec":{"replicas":"three"}}', 422, 'Invalid'],
  ['a wrong type', mergePatch, '{"spec":{"replicas":"three"}}', 422, 'Invalid'],
  // Documents that are too deep, whatever is in them.
  ['1,100 levels', mergePatch, nested(1_100), 400, 'BadRequest'],
  ['1,100 levels', strategicMergePatch, nested(1_100), 400, 'BadRequest'],
  ['1,100 levels', jsonPatch, `[{"op":"add","path":"/a","value":${nested(1_100)}}]`, 400, 'BadRequest'],
  ['1,100 levels', applyPatch, nested(1_100), 400, 'BadRequest'],
  ['100,000 levels', applyPatch, `a: ${'['.repeat(100_000)}`, 400, 'BadRequest'],
  ['100,000 levels', mergePatch, '['.repeat(100_000), 400, 'BadRequest'],
  // Another object than that of the path.
  ['another name', mergePatch, '{"metadata":{"name":"other"}}', 400, 'BadRequest'],
  ['another namespace', mergePatch, '{"metadata":{"namespace":"other"}}', 400, 'BadRequest'],
  ['another kind', mergePatch, '{"kind":"Pod"}', 422, 'Invalid'],
  ['another version', mergePatch, '{"apiVersion":"apps/v9"}', 422, 'Invalid'],
  ['another uid', mergePatch, '{"metadata":{"uid":"other"}}', 422, 'Invalid'],
  ['a stale version', mergePatch, '{"metadata":{"resourceVersion":"1"}}', 409, 'Conflict'],
])('%s as %s is refused and changes nothing', async (_what, type, text, code, reason) => {
  const { json } = await patch(type, text);
  expect(json).toMatchObject({ kind: 'Status', status: 'Failure', code, reason });
  expect(json.message.length).toBeLessThan(4_000);
});

const CONFIG = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } };

test.each<[what: string, config: object, code: number, why: string]>([
  ['no kind', { ...CONFIG, kind: undefined }, 400, "Object 'Kind' is missing"],
  ['no version', { ...CONFIG, apiVersion: '' }, 400, 'Incorrect version specified in apply patch'],
  ['a kind that is no text', { ...CONFIG, kind: 5 }, 400, "Object 'Kind' is missing"],
  ['another kind', { ...CONFIG, kind: 'ReplicaSet' }, 400, 'cannot be applied to a Deployment'],
  [
    'another version',
    { ...CONFIG, apiVersion: 'apps/v1beta1' },
    400,
    'Specified patch version: apps/v1beta1, expected: apps/v1',
  ],
  ['another name', { ...CONFIG, metadata: { name: 'x' } }, 400, 'does not match the name on the URL'],
  [
    'another namespace',
    { ...CONFIG, metadata: { name: 'd', namespace: 'x' } },
    400,
    'does not match the namespace',
  ],
  [
    'metadata that is a text',
    { ...CONFIG, metadata: 'd' },
    400,
    'metadata of the configuration is no object',
  ],
  [
    'managedFields',
    { ...CONFIG, metadata: { name: 'd', managedFields: [] } },
    400,
    'metadata.managedFields must be nil',
  ],
  [
    'an unknown field',
    { ...CONFIG, spec: { nonsense: 1 } },
    400,
    '.spec.nonsense: field not declared in schema',
  ],
  ['a wrong type', { ...CONFIG, spec: { template: [] } }, 400, '.spec.template: expected an object'],
  ['a wrong scalar', { ...CONFIG, spec: { replicas: 'three' } }, 400, 'spec.replicas'],
  [
    'two items of one key',
    { ...CONFIG, spec: { template: { spec: { containers: [{ name: 'c' }, { name: 'c' }] } } } },
    400,
    'duplicate entries for key [name="c"]',
  ],
  [
    'an item without its key',
    { ...CONFIG, spec: { template: { spec: { imagePullSecrets: [{}] } } } },
    400,
    'omits key field "name"',
  ],
  [
    'an item without the name that it must have',
    { ...CONFIG, spec: { template: { spec: { containers: [{ image: 'i' }] } } } },
    422,
    'spec.template.spec.containers[1].name: Required value',
  ],
  ['a stale version', { ...CONFIG, metadata: { name: 'd', resourceVersion: '1' } }, 409, 'has been modified'],
  ['an invalid result', { ...CONFIG, spec: { replicas: -1 } }, 422, 'must be greater than or equal to 0'],
])('an applied configuration with %s is refused and changes nothing', async (_what, config, code, why) => {
  const { json } = await patch(applyPatch, JSON.stringify(config), '&force=true');
  expect(json.code).toBe(code);
  expect(json.message).toContain(why);
});

test.each([
  ['an apply without a manager', applyPatch, '', 'fieldManager', 'FieldValueRequired'],
  [
    'a manager that cannot be printed',
    applyPatch,
    `fieldManager=${encodeURIComponent('a\u0007')}`,
    'fieldManager',
    'FieldValueInvalid',
  ],
  [
    'a manager that is too long',
    mergePatch,
    `fieldManager=${'a'.repeat(129)}`,
    'fieldManager',
    'FieldValueTooLong',
  ],
  ['force without apply', mergePatch, 'force=true', 'force', 'FieldValueForbidden'],
])('%s is Invalid', async (_what, type, query, field, reason) => {
  const reply = await api.call('PATCH', `${DEPLOYMENTS}/d?${query}`, {
    body: CONFIG,
    headers: { 'content-type': type },
  });
  expect(reply.json).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { kind: 'PatchOptions', causes: [{ field, reason }] },
  });
});

test('a few aliases that expand to gigabytes are refused as a configuration', async () => {
  const levels = Array.from({ length: 20 }, (_, level) => {
    const below = level === 0 ? '"lol"' : `*l${String(level - 1)}`;
    return `l${String(level)}: &l${String(level)} [${Array.from({ length: 9 }, () => below).join(', ')}]`;
  });
  const { json } = await patch(applyPatch, `${levels.join('\n')}\n`);
  expect(json).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect(json.message).toContain('excessive aliasing');
});

test('an alias that contains itself is refused', async () => {
  const { json } = await patch(applyPatch, 'a: &a [*a]\n');
  expect(json).toMatchObject({ code: 400, reason: 'BadRequest' });
});

test.each([
  ['text/plain', 415],
  ['application/json', 415],
  ['application/yaml', 415],
  ['application/apply-patch+json', 415],
  ['*/*', 415],
  ['Application/Merge-Patch+json', 415],
])('a body of type %s is no patch', async (type, code) => {
  expect((await patch(type, '{}')).json).toMatchObject({ code, reason: 'UnsupportedMediaType' });
});

test.each([
  ['a JSON patch', jsonPatch, ''],
  ['a merge patch', mergePatch, '{"a":'],
  ['a strategic merge patch', strategicMergePatch, '{"a":'],
])('%s that cannot be read is NotFound where there is no object', async (_what, type, text) => {
  const url = '/apis/apps/v1/namespaces/default/deployments/none';
  const { code } = await api.call('PATCH', url, { text, headers: { 'content-type': type } });
  expect(code).toBe(404);
});

test('a configuration of the wrong version is NotFound by a subresource of what is not there', async () => {
  const codes = ['none/status', 'none'].map(async (name) => {
    const url = `/apis/apps/v1/namespaces/default/deployments/${name}?fieldManager=a`;
    const headers = { 'content-type': applyPatch };
    return (await api.call('PATCH', url, { text: '{"metadata":{}}', headers })).code;
  });
  expect(await Promise.all(codes)).toEqual([404, 400]);
});

test('an integer with too many bits loses them in a configuration, also where others own fields in another version', async () => {
  const url = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/h?fieldManager=${version}`;
  const apply = async (version: string, spec: object): Promise<Reply> =>
    api.call('PATCH', url(version), {
      body: {
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, ...spec },
      },
      headers: { 'content-type': applyPatch },
    });
  expect((await apply('v1', { maxReplicas: 2 ** 32 + 5 })).json.spec.maxReplicas).toBe(5);
  const { code, json } = await apply('v2beta2', { maxReplicas: 5, minReplicas: 2 ** 32 + 2 });
  expect([code, json.spec.minReplicas]).toEqual([200, 2]);
});
