import { GROUP, KUBERNETES_META_GROUP, LABEL, MEDIA_TYPE } from '../../../shared/names';
import { encodeProtobuf } from '../../../shared/protobuf/encode';
import { wrapEnvelope } from '../../../shared/protobuf/envelope';
import { messageType } from '../../../shared/schema/types';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';
const TABLE = `application/json;as=Table;g=${GROUP.meta};v=v1`;
const PARTIAL = `application/json;as=PartialObjectMetadata;g=${GROUP.meta};v=v1`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

/** A document whose bytes are all ASCII, so that it can be sent as text. */
function protobuf(kind: string, message: string, object: object): string {
  const bytes = wrapEnvelope({ kind, apiVersion: 'v1', raw: encodeProtobuf(messageType(message), object) });
  expect(bytes.every((byte) => byte < 0x80)).toBe(true);
  return bytes.toString('latin1');
}

async function sendProtobuf(method: string, url: string, text: string): Promise<Reply> {
  return api.call(method, url, { text, headers: { 'content-type': MEDIA_TYPE.protobuf } });
}

function configMap(name: string): string {
  return protobuf('ConfigMap', 'core/v1.ConfigMap', { metadata: { name }, data: { k: 'v' } });
}

test('an object sent as Protobuf is created and replaced as one sent as JSON', async () => {
  const created = await sendProtobuf('POST', CMS, configMap('a'));
  expect(created.code).toBe(201);
  expect(created.json).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } });
  const replaced = await sendProtobuf('PUT', `${CMS}/a`, configMap('a'));
  expect(replaced.code).toBe(200);
  expect(replaced.json.metadata.uid).toBe(created.json.metadata.uid);
});

test('Protobuf of another kind, or none at all, is a bad request', async () => {
  const secret = protobuf('Secret', 'core/v1.Secret', { metadata: { name: 'a' } });
  expect(await sendProtobuf('POST', CMS, secret)).toMatchObject({
    code: 400,
    json: { reason: 'BadRequest' },
  });
  expect((await sendProtobuf('POST', CMS, 'garbage')).code).toBe(400);
  expect((await sendProtobuf('POST', CMS, configMap('a').slice(0, -8))).code).toBe(400);
});

test('the options of a deletion are read from Protobuf and YAML, and a precondition in them holds', async () => {
  await sendProtobuf('POST', CMS, configMap('a'));
  const options = protobuf('DeleteOptions', 'meta/v1.DeleteOptions', { preconditions: { uid: 'other' } });
  expect((await sendProtobuf('DELETE', `${CMS}/a`, options)).code).toBe(409);
  const odd = await api.call('DELETE', `${CMS}/a`, { body: { apiVersion: 'a/b/c' } });
  expect([odd.code, odd.json.message]).toEqual([400, 'unexpected GroupVersion string: a/b/c']);
  const yaml = { text: 'preconditions: {uid: other}', headers: { 'content-type': MEDIA_TYPE.yaml } };
  expect((await api.call('DELETE', `${CMS}/a`, yaml)).code).toBe(409);
  expect((await api.call('GET', `${CMS}/a`)).code).toBe(200);
});

test('an object sent as YAML is created, and answered in YAML when asked for', async () => {
  const reply = await api.call('POST', CMS, {
    text: 'metadata:\n  name: by-yaml\ndata:\n  n: "5"\n',
    headers: { 'content-type': MEDIA_TYPE.yaml, accept: MEDIA_TYPE.yaml },
  });
  expect(reply).toMatchObject({ code: 201, headers: { 'Content-Type': MEDIA_TYPE.yaml } });
  // In YAML 1.1, which is what the API speaks, a plain n is the boolean.
  expect(reply.text).toContain("data:\n  'false': '5'\n");
});

test('null is an object of which nothing is said, other values are no objects', async () => {
  expect((await api.call('POST', CMS, { text: 'null' })).json).toMatchObject({
    code: 422,
    reason: 'Invalid',
  });
  for (const text of ['[]', '"x"', '5', '']) expect((await api.call('POST', CMS, { text })).code).toBe(400);
});

test('results of writes come as Table or metadata when asked for', async () => {
  const create = { body: { metadata: { name: 't' } }, headers: { accept: TABLE } };
  const table = (await api.call('POST', CMS, create)).json;
  expect(table).toMatchObject({ kind: 'Table', rows: [{ cells: ['t', 0, expect.any(String)] }] });
  const patch = { body: { data: { x: 'y' } }, headers: { accept: PARTIAL } };
  const partial = (await api.call('PATCH', `${CMS}/t`, patch)).json;
  expect(partial).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 't' } });
  expect(partial.data).toBeUndefined();
  const gone = await api.call('DELETE', `${CMS}/t`, { headers: { accept: TABLE } });
  expect(gone).toMatchObject({ code: 200, json: { kind: 'Status', status: 'Success' } });
});

test('nothing is done for a request that accepts no answer', async () => {
  const refused = await api.call('POST', CMS, {
    body: { metadata: { name: 'z' } },
    headers: { accept: 'image/png' },
  });
  expect(refused.code).toBe(406);
  expect((await api.call('GET', `${CMS}/z`)).code).toBe(404);
});

test('a watch in YAML is not acceptable, one as Table tells the columns once', async () => {
  const yaml = await api.call('GET', `${CMS}?watch=1`, { headers: { accept: MEDIA_TYPE.yaml } });
  expect(yaml.code).toBe(406);
  await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
  await api.call('POST', CMS, { body: { metadata: { name: 'b' } } });
  const watched = await api.call('GET', `${CMS}?watch=1&timeoutSeconds=1`, { headers: { accept: TABLE } });
  const frames = watched.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame);
  expect(frames.map(({ object }) => object.rows[0]?.cells[0])).toEqual(['a', 'b']);
  expect(frames.map(({ object }) => object.columnDefinitions !== null)).toEqual([true, false]);
});

interface Frame {
  readonly object: {
    readonly rows: readonly { readonly cells: readonly unknown[] }[];
    readonly columnDefinitions: readonly object[] | null;
  };
}

test('discovery documents and errors of negotiation come in the formats of everything else', async () => {
  const groups = await api.call('GET', '/apis', { headers: { accept: MEDIA_TYPE.yaml } });
  expect(groups).toMatchObject({ code: 200, headers: { 'Content-Type': MEDIA_TYPE.yaml } });
  expect(groups.text).toContain('kind: APIGroupList\n');
  const binary = await api.call('GET', '/api/v1', { headers: { accept: MEDIA_TYPE.protobuf } });
  expect(binary).toMatchObject({ code: 200, headers: { 'Content-Type': MEDIA_TYPE.protobuf } });
  expect((await api.call('GET', '/apis', { headers: { accept: TABLE } })).code).toBe(406);
});

test('a pod that has ended says so in its row, beside the cells', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  for (const [name, phase] of [
    ['ended', 'Succeeded'],
    ['running', 'Running'],
  ] as const) {
    const body = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
    expect((await api.call('POST', pods, { body })).code).toBe(201);
    await api.call('PATCH', `${pods}/${name}/status`, { body: { status: { phase } } });
  }
  const { json } = await api.call('GET', pods, { headers: { accept: TABLE } });
  const [ended, running] = json.rows;
  expect(ended.conditions).toEqual([
    {
      type: 'Completed',
      status: 'True',
      reason: 'Succeeded',
      message: 'The pod has completed successfully.',
    },
  ]);
  expect(running).not.toHaveProperty('conditions');
});

test('the name that a namespace has as a label is in every representation of it', async () => {
  const label = { [LABEL.metadataName]: 'default' };
  const url = '/api/v1/namespaces/default';
  const plain = await api.call('GET', url);
  expect(plain.json.metadata.labels).toEqual(label);
  const table = await api.call('GET', url, { headers: { accept: TABLE } });
  expect(table.json.rows[0].object.metadata.labels).toEqual(label);
  const partial = await api.call('GET', url, { headers: { accept: PARTIAL } });
  expect(partial.json.metadata.labels).toEqual(label);
});

const PARTIAL_LIST = `application/json;as=PartialObjectMetadataList;g=${GROUP.meta};v=v1`;

describe.each(['v1', 'v1beta1'])('Tables and metadata of %s in the group of Kubernetes', (version) => {
  const apiVersion = `${KUBERNETES_META_GROUP}/${version}`;
  const accept = (kind: string, type: string = MEDIA_TYPE.json): string =>
    `${type};as=${kind};v=${version};g=${KUBERNETES_META_GROUP}`;
  const read = async (url: string, kind: string, type?: string): Promise<Reply> =>
    api.call('GET', url, { headers: { accept: accept(kind, type) } });

  test('have that group in every format, next to those of this dialect', async () => {
    await api.call('POST', CMS, { body: { metadata: { name: 'a' }, data: { k: 'v' } } });
    expect((await read(CMS, 'Table')).json).toMatchObject({
      kind: 'Table',
      apiVersion,
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['a', 1, expect.any(String)], object: { kind: 'PartialObjectMetadata', apiVersion } }],
    });
    expect((await read(`${CMS}/a`, 'PartialObjectMetadata')).json).toMatchObject({ apiVersion });
    expect((await read(CMS, 'PartialObjectMetadataList')).json).toMatchObject({
      apiVersion,
      items: [{ apiVersion }],
    });
    expect((await read(`${CMS}/a`, 'PartialObjectMetadata', MEDIA_TYPE.yaml)).text).toContain(
      `apiVersion: ${apiVersion}\n`,
    );
    expect((await read(`${CMS}/a`, 'PartialObjectMetadata', MEDIA_TYPE.protobuf)).text).toContain(apiVersion);
    const own = await api.call('GET', CMS, { headers: { accept: TABLE } });
    expect(own.json).toMatchObject({
      apiVersion: `${GROUP.meta}/v1`,
      rows: [{ object: { apiVersion: `${GROUP.meta}/v1` } }],
    });
  });

  test('have that group in watches', async () => {
    const ending = new AbortController();
    const frames = api.watch(`${CMS}?watch=1`, ending.signal, { accept: accept('Table') });
    const first = frames.next();
    await api.call('POST', CMS, { body: { metadata: { name: 'a' } } });
    expect((await first).value).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', apiVersion, rows: [{ object: { apiVersion } }] },
    });
    ending.abort();
  });
});

test('an empty list of metadata, or of a kind without columns of its own, is null', async () => {
  const listed = async (resource: string, accept: string): Promise<Reply> =>
    api.call('GET', `/api/v1/namespaces/none/${resource}`, { headers: { accept } });
  expect((await listed('configmaps', PARTIAL_LIST)).json).toMatchObject({ items: null });
  expect((await listed('configmaps', TABLE)).json).toMatchObject({ rows: [] });
  expect((await listed('limitranges', TABLE)).json).toMatchObject({ rows: null });
  const yaml = await listed('configmaps', PARTIAL_LIST.replace('json', 'yaml'));
  expect(yaml.text).toContain('items: null\n');
  expect((await listed('configmaps', 'application/json')).json).toMatchObject({ items: [] });
});

test('annotations that stand for fields are not shown with the metadata alone', async () => {
  const daemonSets = '/apis/apps/v1/namespaces/default/daemonsets';
  const object = {
    metadata: { name: 'a', annotations: { kept: 'yes' } },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const created = await api.call('POST', daemonSets, {
    body: { apiVersion: 'apps/v1', kind: 'DaemonSet', ...object },
  });
  expect(created.json.metadata.annotations).toMatchObject({
    'deprecated.daemonset.template.generation': '1',
  });
  const partial = await api.call('GET', `${daemonSets}/a`, { headers: { accept: PARTIAL } });
  expect(partial.json.metadata).toEqual({ ...created.json.metadata, annotations: { kept: 'yes' } });
  const table = await api.call('GET', daemonSets, { headers: { accept: TABLE } });
  expect(table.json).toMatchObject({ rows: [{ object: { metadata: partial.json.metadata } }] });
  const inProtobuf = await api.call('GET', `${daemonSets}/a`, {
    headers: { accept: PARTIAL.replace('application/json', MEDIA_TYPE.protobuf) },
  });
  // Owners of fields still tell of it.
  expect(inProtobuf.text).not.toMatch(/(?<!f:)deprecated\.daemonset/);
  expect(inProtobuf.text).toContain('kept');
});

test('the answer to a review can be its metadata alone', async () => {
  const review = await api.call('POST', `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`, {
    body: {
      apiVersion: `${GROUP.authorization}/v1`,
      kind: 'SelfSubjectAccessReview',
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    },
    headers: { accept: PARTIAL },
  });
  expect(review.code).toBe(201);
  expect(review.json).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: `${GROUP.meta}/v1` });
  expect(review.json).not.toHaveProperty('status');
});

test('an export is refused, and nothing else of that parameter', async () => {
  await sendProtobuf('POST', CMS, configMap('a'));
  const codes = ['?export', '?export=true', '?export=0', '?export=False', ''].map(
    async (query) => (await api.call('GET', `${CMS}/a${query}`)).code,
  );
  expect(await Promise.all(codes)).toEqual([400, 400, 200, 200, 200]);
});
