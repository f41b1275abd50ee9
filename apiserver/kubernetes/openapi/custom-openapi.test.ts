import type { Exchange } from '../../engine/request/exchange';
import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { eventually } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { defined } from '../../../shared/defined';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import type { DocumentSet } from './document-set';
import { createDocumentSets } from './document-set';
import { definitionName } from './names';

// eslint-disable-next-line typescript/no-explicit-any -- documents are walked freely
type AnyJson = any;

const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;
const KIND = 'com.example.stable.v1.CronTab';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => api.close());

function version(name: string, schema: object, more: object = {}): object {
  return { name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: schema }, ...more };
}

const SPEC = {
  type: 'object',
  description: 'What runs when.',
  properties: {
    spec: {
      type: 'object',
      required: ['cron'],
      properties: {
        cron: { type: 'string', description: 'When it runs.', pattern: '^[0-9* ]+$', maxLength: 20 },
        replicas: { type: 'integer', minimum: 0, maximum: 10, default: 1 },
        mode: { type: 'string', enum: ['a', 'b'] },
        port: { 'x-kubernetes-int-or-string': true },
        labels: { type: 'object', additionalProperties: true },
        limit: { type: 'integer', format: 'int64', enum: [9_007_199_254_740_992] },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const SUBRESOURCES = {
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
};

async function define(plural: string, spec: object): Promise<void> {
  const name = `${plural}.stable.example.com`;
  const body = {
    metadata: { name },
    spec: { group: 'stable.example.com', scope: 'Namespaced', ...spec },
  };
  expect(await api.call('POST', DEFINITIONS, { body })).toMatchObject({ code: 201 });
  await served(`/apis/stable.example.com/v1/${plural}`, 200);
}

async function defineCronTabs(schema: object = SPEC): Promise<void> {
  await define('crontabs', {
    names: { plural: 'crontabs', kind: 'CronTab' },
    versions: [version('v1', schema, SUBRESOURCES)],
  });
}

/** The served resources follow the definitions at once, but the established condition takes a write of the server. */
async function served(path: string, code: number): Promise<void> {
  await eventually(
    `${path} answers ${String(code)}`,
    async () => (await api.call('GET', path)).code === code,
  );
}

async function document(path: string): Promise<AnyJson> {
  const reply = await api.call('GET', path);
  expect({ path, code: reply.code }).toEqual({ path, code: 200 });
  return reply.json;
}

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string') yield each;
    else yield* references(each);
  }
}

describe('the v2 document', () => {
  test('has a custom resource and its list besides the built-in API, and every reference resolves', async () => {
    const before = await document('/openapi/v2');
    await defineCronTabs();
    const after = await document('/openapi/v2');
    const own = Object.keys(after.definitions).filter((name) => name.startsWith('com.example.'));
    expect(own).toEqual([KIND, `${KIND}List`]);
    const { [KIND]: kind, [`${KIND}List`]: list, ...others } = after.definitions;
    expect(others).toEqual(before.definitions);
    expect(kind).toMatchObject({
      type: 'object',
      description: 'What runs when.',
      'x-kubernetes-group-version-kind': [{ group: 'stable.example.com', kind: 'CronTab', version: 'v1' }],
    });
    expect(kind.properties.spec).toMatchObject({
      required: ['cron'],
      properties: {
        cron: { description: 'When it runs.', pattern: '^[0-9* ]+$' },
        replicas: { type: 'integer', minimum: 0, maximum: 10 },
        port: { 'x-kubernetes-int-or-string': true },
      },
    });
    expect(kind.properties.spec.properties.replicas).not.toHaveProperty('default');
    expect(list.properties.items.items).toEqual({ $ref: `#/definitions/${KIND}` });
    expect(list['x-kubernetes-group-version-kind'][0].kind).toBe('CronTabList');
    const missing = [...references(after)].filter(
      (each) => after.definitions[each.replace('#/definitions/', '')] === undefined,
    );
    expect(missing).toEqual([]);
  });

  test('has the operations of a custom resource, with its media types', async () => {
    const before = await document('/openapi/v2');
    await defineCronTabs();
    const { paths } = await document('/openapi/v2');
    const root = '/apis/stable.example.com/v1';
    const one = `${root}/namespaces/{namespace}/crontabs/{name}`;
    const added = Object.keys(paths).filter((path) => before.paths[path] === undefined);
    expect(added.toSorted()).toEqual([
      `${root}/crontabs`,
      `${root}/namespaces/{namespace}/crontabs`,
      one,
      `${one}/scale`,
      `${one}/status`,
    ]);
    expect(paths[one].patch).toMatchObject({
      operationId: 'patchStableExampleComV1NamespacedCronTab',
      tags: ['stableExampleCom_v1'],
      consumes: [MEDIA_TYPE.jsonPatch, MEDIA_TYPE.mergePatch, MEDIA_TYPE.applyPatch],
      produces: [MEDIA_TYPE.json, MEDIA_TYPE.yaml],
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'stable.example.com', kind: 'CronTab', version: 'v1' },
    });
    expect(paths[one].put.consumes).toEqual([MEDIA_TYPE.json, MEDIA_TYPE.yaml]);
    expect(paths[one].get.responses[200].schema).toEqual({ $ref: `#/definitions/${KIND}` });
    expect(paths[`${root}/crontabs`].get.responses[200].schema).toEqual({
      $ref: `#/definitions/${KIND}List`,
    });
    expect(paths[`${one}/status`].put.responses[200].schema).toEqual({ $ref: `#/definitions/${KIND}` });
    expect(paths[`${one}/scale`].put.responses[200].schema).toEqual({
      $ref: `#/definitions/${definitionName('autoscaling/v1.Scale')}`,
    });
  });

  test('follows the definitions, and equals the original when they are removed', async () => {
    const etag = async (): Promise<unknown> => (await api.call('GET', '/openapi/v2')).headers['ETag'];
    const none = await etag();
    await defineCronTabs();
    const first = await etag();
    expect(first).not.toBe(none);
    expect(await etag()).toBe(first);
    const versions = [version('v1', { type: 'object', description: 'Another text.' })];
    const name = `${DEFINITIONS}/crontabs.stable.example.com`;
    expect(await api.call('PATCH', name, { body: { spec: { versions } } })).toMatchObject({ code: 200 });
    expect((await document('/openapi/v2')).definitions[KIND].description).toBe('Another text.');
    expect(await etag()).not.toBe(first);
    await api.call('DELETE', name);
    await served('/apis/stable.example.com/v1/crontabs', 404);
    expect(await etag()).toBe(none);
  });

  test('describes a resource that preserves unknown fields as any object', async () => {
    await defineCronTabs({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
    const { definitions } = await document('/openapi/v2');
    expect(definitions[KIND]).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [expect.anything()],
    });
  });

  test('has the same names in Protobuf', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const before = await api.call('GET', '/openapi/v2', { headers: { accept } });
    await defineCronTabs();
    const after = await api.call('GET', '/openapi/v2', { headers: { accept } });
    expect(before.text).not.toContain(KIND);
    for (const text of [
      `${KIND}List`,
      'patchStableExampleComV1NamespacedCronTab',
      '^[0-9* ]+$',
      'When it runs.',
    ]) {
      expect(after.text).toContain(text);
    }
  });
});

describe('the v3 documents', () => {
  test('exist per group version of custom resources, each self-contained', async () => {
    await defineCronTabs();
    await define('others', {
      names: { plural: 'others', kind: 'Other' },
      versions: [version('v1', { type: 'object' }), version('v2', { type: 'object' })],
    });
    const { paths } = await document('/openapi/v3');
    expect(Object.keys(paths).filter((each) => each.includes('example.com'))).toEqual([
      'apis/stable.example.com/v1',
      'apis/stable.example.com/v2',
    ]);
    const v1 = await document(paths['apis/stable.example.com/v1'].serverRelativeURL);
    const { schemas } = v1.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([KIND, 'com.example.stable.v1.OtherList', definitionName('meta/v1.ObjectMeta')]),
    );
    expect(schemas[KIND].properties.spec.properties).toMatchObject({
      replicas: { default: 1 },
      port: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      limit: { enum: [9_007_199_254_740_992] },
    });
    const missing = [...references(v1)].filter(
      (each) => schemas[each.replace('#/components/schemas/', '')] === undefined,
    );
    expect(missing).toEqual([]);
    const v2 = await document(paths['apis/stable.example.com/v2'].serverRelativeURL);
    expect(Object.keys(v2.components.schemas).filter((each) => each.startsWith('com.'))).toEqual([
      'com.example.stable.v2.Other',
      'com.example.stable.v2.OtherList',
    ]);
  });

  test('are removed with their definitions, and change only with them', async () => {
    await defineCronTabs();
    const hashes = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        Object.entries<AnyJson>((await document('/openapi/v3')).paths).map(([name, each]) => [
          name,
          each.serverRelativeURL as string,
        ]),
      );
    const { 'apis/stable.example.com/v1': first, ...others } = await hashes();
    const name = `${DEFINITIONS}/crontabs.stable.example.com`;
    await api.call('PATCH', name, { body: { spec: { versions: [version('v1', { type: 'object' })] } } });
    const { 'apis/stable.example.com/v1': second, ...othersAfter } = await hashes();
    expect(second).toEqual(expect.stringContaining('hash='));
    expect(second).not.toBe(first);
    expect(othersAfter).toEqual(others);
    await api.call('DELETE', name);
    await served('/openapi/v3/apis/stable.example.com/v1', 404);
    expect(await hashes()).toEqual(others);
  });
});

test('built-in and unchanged documents are built once for all registries of a process', async () => {
  const sets = createDocumentSets({ version: '1', serverSideApply: true, enums: false });
  const [bare] = (await sets(api.plane.registry()).swagger('json')).pieces;
  await defineCronTabs();
  const one = sets(api.plane.registry());
  await define('others', {
    names: { plural: 'others', kind: 'Other' },
    versions: [version('v1', { type: 'object' })],
  });
  const two = sets(api.plane.registry());
  const pieces = [(await one.swagger('json')).pieces, (await two.swagger('json')).pieces] as const;
  const [shared, fresh] = pieces[1].reduce<[number, number]>(
    ([kept, added], piece) => {
      const isKept = piece.buffer === bare?.buffer || pieces[0].includes(piece);
      return isKept ? [kept + piece.length, added] : [kept, added + piece.length];
    },
    [0, 0],
  );
  expect(shared).toBeGreaterThan(1_000_000);
  expect(fresh).toBeLessThan(50_000);
  expect(Buffer.concat(pieces[1]).toString()).toContain('com.example.stable.v1.OtherList');
});

test('while the code is identified, the index is made without the documents, and has their hashes', async () => {
  const registry = api.plane.registry();
  const setOf = (commit?: string, enums = false): DocumentSet =>
    createDocumentSets({ version: '1', serverSideApply: true, enums, ...defined({ commit }) })(registry);
  const hashIn = async (set: DocumentSet): Promise<string | undefined> => {
    const { paths }: AnyJson = JSON.parse(Buffer.concat((await set.index()).pieces).toString());
    return (paths['apis/apps/v1'].serverRelativeURL as string).split('hash=').at(-1);
  };
  const set = setOf('c');
  const hash = await hashIn(set);
  const part = await set.part('apis/apps/v1');
  expect(part.hash).toBe(hash);
  expect(Buffer.concat(part.pieces)).toEqual(Buffer.concat((await setOf().part('apis/apps/v1')).pieces));
  expect(await hashIn(setOf('c'))).toBe(hash);
  expect(await hashIn(setOf('d'))).not.toBe(hash);
  expect(await hashIn(setOf('c', true))).not.toBe(hash);
});

test('while the code is identified, a part has another hash if a feature gate switches a subresource', async () => {
  const hashWith = async (ephemeralContainers: boolean): Promise<string> => {
    const kindSettings = { ...DEFAULT_KIND_SETTINGS, ephemeralContainers };
    const server = await startInProcessApi(undefined, { kindSettings });
    try {
      const options = { version: '1', commit: 'c', serverSideApply: true, enums: false };
      const { hash, pieces } = await createDocumentSets(options)(server.plane.registry()).part('api/v1');
      expect(Buffer.concat(pieces).includes('/{name}/ephemeralcontainers')).toBe(ephemeralContainers);
      return hash;
    } finally {
      await server.close();
    }
  };
  expect(await hashWith(true)).not.toBe(await hashWith(false));
});

test('a document of several chunks is streamed, and can be compressed', async () => {
  await defineCronTabs();
  const plain = await api.call('GET', '/openapi/v2');
  const headers: Exchange['headers'] = { 'accept-encoding': 'gzip' };
  const zipped = await api.call('GET', '/openapi/v2', { headers });
  expect(zipped.headers).toMatchObject({ 'Content-Encoding': 'gzip', ETag: plain.headers['ETag'] });
  const again = await api.call('GET', '/openapi/v2', {
    headers: { 'if-none-match': String(plain.headers['ETag']) },
  });
  expect([again.code, again.text]).toEqual([304, '']);
});
