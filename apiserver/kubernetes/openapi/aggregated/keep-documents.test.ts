import type { IncomingMessage, ServerResponse } from 'node:http';
import { GROUP } from '../../../../shared/names';
import { eventually } from '../../../../shared/testing/eventually';
import type { OtherServer } from '../../../testing/aggregation/other-server';
import {
  leadToOtherServer,
  registerOtherServer,
  startOtherServer,
} from '../../../testing/aggregation/other-server';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { definitionName } from '../names';

const GROUP_NAME = 'wardle.example.com';
const FLUNDER = 'com.example.wardle.v1.Flunder';
const STATUS = definitionName('meta/v1.Status');
const OBJECT_META = definitionName('meta/v1.ObjectMeta');
const REFRESH_MS = 20;

let api: InProcessApi;
let server: OtherServer;
let seen: IncomingMessage[];
/** Bodies by path; an absent path is 404. */
let documents: Map<string, string>;
/** ETags by path. */
let tags: Map<string, string>;

beforeEach(async () => {
  seen = [];
  documents = new Map([['/openapi/v2', JSON.stringify(swagger())]]);
  tags = new Map();
  server = await startOtherServer(answer);
  api = await startInProcessApi(undefined, { aggregated: { documentsMs: REFRESH_MS } });
  await leadToOtherServer(api);
});
afterEach(async () => {
  await api.close();
  await server.close();
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
  const { url = '' } = request;
  const document = url.startsWith('/apis/') ? '{}' : documents.get(url);
  const tag = tags.get(url);
  if (document === undefined) response.writeHead(404).end('no');
  else if (tag !== undefined && request.headers['if-none-match'] === tag) response.writeHead(304).end();
  else response.writeHead(200, tag === undefined ? {} : { etag: tag }).end(document);
}

/** The document of an extension API server. */
function swagger(description = 'What swims.'): object {
  const operation = {
    description: 'read the flunder',
    operationId: 'readFlunder',
    parameters: [
      { in: 'body', name: 'body', schema: { $ref: `#/definitions/${FLUNDER}` } },
      { in: 'query', name: 'pretty', type: 'string', uniqueItems: true },
      { in: 'header', name: 'odd', type: 'string' },
    ],
    responses: { 200: { description: 'OK', schema: { $ref: `#/definitions/${FLUNDER}` } } },
    'x-kubernetes-group-version-kind': { group: GROUP_NAME, version: 'v1', kind: 'Flunder' },
  };
  return {
    swagger: '2.0',
    info: { title: 'wardle', version: 'v0' },
    paths: {
      '/apis/': { get: { responses: { 200: { description: 'its own groups' } } } },
      '/healthz': { get: { responses: { 200: { description: 'its own health' } } } },
      [`/apis/${GROUP_NAME}/v1/flunders/{name}`]: { get: operation },
    },
    definitions: {
      [FLUNDER]: {
        description,
        type: 'object',
        unheardOf: true,
        properties: {
          metadata: { $ref: `#/definitions/${OBJECT_META}`, description: 'What all have.' },
          size: { type: 'integer', format: 'int32', description: 'In metres.' },
          parts: { type: 'array', items: { $ref: '#/definitions/nowhere' } },
        },
        'x-kubernetes-group-version-kind': [{ group: GROUP_NAME, version: 'v1', kind: 'Flunder' }],
      },
      [OBJECT_META]: { type: 'object', description: 'Another one.' },
      unused: { type: 'string' },
    },
  };
}

// eslint-disable-next-line typescript/no-explicit-any -- documents are walked freely
async function swaggerOfOurs(): Promise<any> {
  const { code, json } = await api.call('GET', '/openapi/v2');
  expect(code).toBe(200);
  return json;
}

async function untilPublished(description: string | undefined): Promise<void> {
  await eventually(`published: ${String(description)}`, async () => {
    const { definitions } = await swaggerOfOurs();
    return definitions[FLUNDER]?.description === description;
  });
}

test("an extension API server's paths are merged into the document, and conflicting definitions are renamed", async () => {
  const before = await swaggerOfOurs();
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await untilPublished('What swims.');
  const { paths, definitions } = await swaggerOfOurs();
  expect(paths['/apis/']).toEqual(before.paths['/apis/']);
  expect(paths).not.toHaveProperty('/healthz');
  expect(paths[`/apis/${GROUP_NAME}/v1/flunders/{name}`].get.operationId).toBe('readFlunder');
  expect(definitions[OBJECT_META]).toEqual(before.definitions[OBJECT_META]);
  expect(definitions[`${OBJECT_META}_v2`]).toEqual({ type: 'object', description: 'Another one.' });
  expect(definitions[FLUNDER].properties.metadata.$ref).toBe(`#/definitions/${OBJECT_META}_v2`);
  // A dangling reference would keep clients from parsing the rest.
  expect(definitions[FLUNDER].properties.parts).toEqual({ type: 'array', items: {} });
  expect(definitions).not.toHaveProperty('unused');
  expect(Object.keys(definitions)).toHaveLength(Object.keys(before.definitions).length + 2);
  const asked = seen.find(({ url }) => url === '/openapi/v2');
  expect(asked?.headers).toMatchObject({ accept: 'application/json', 'x-remote-user': 'system:aggregator' });
});

test('the Protobuf form has the merged paths, and identical definitions are shared', async () => {
  const own = await swaggerOfOurs();
  const same = {
    ...swagger(),
    definitions: { ...own.definitions, [FLUNDER]: { $ref: `#/definitions/${STATUS}` } },
  };
  documents.set('/openapi/v2', JSON.stringify(same));
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await eventually('merged', async () => FLUNDER in (await swaggerOfOurs()).definitions);
  const { definitions } = await swaggerOfOurs();
  expect(definitions[FLUNDER]).toEqual({ $ref: `#/definitions/${STATUS}` });
  expect(Object.keys(definitions)).toHaveLength(Object.keys(own.definitions).length + 1);
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const { code, text } = await api.call('GET', '/openapi/v2', { headers: { accept } });
  expect(code).toBe(200);
  expect(text).toContain(FLUNDER);
});

test('the document is refreshed by its ETag if there is one, and is removed with the APIService', async () => {
  tags.set('/openapi/v2', '"1"');
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await untilPublished('What swims.');
  await eventually('asked by the tag', () => seen.some(({ headers }) => headers['if-none-match'] === '"1"'));
  documents.set('/openapi/v2', JSON.stringify(swagger('What swims far.')));
  tags.set('/openapi/v2', '"2"');
  await untilPublished('What swims far.');

  // An invalid response keeps the previous document.
  const at = seen.length;
  tags.clear();
  documents.set('/openapi/v2', '{"swagger":"2.0","paths":');
  await eventually('asked', () => seen.slice(at).some(({ url }) => url === '/openapi/v2'));
  await untilPublished('What swims far.');

  await api.call('DELETE', `/apis/${GROUP.apiregistration}/v1/apiservices/v1.${GROUP_NAME}`);
  await untilPublished(undefined);
  expect((await swaggerOfOurs()).paths).not.toHaveProperty(`/apis/${GROUP_NAME}/v1/flunders/{name}`);
});

test('a server whose document is removed loses it, and is polled further', async () => {
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await untilPublished('What swims.');
  documents.clear();
  await untilPublished(undefined);
  expect((await swaggerOfOurs()).definitions).not.toHaveProperty([FLUNDER]);
  documents.set('/openapi/v2', JSON.stringify(swagger('What swims again.')));
  await untilPublished('What swims again.');
});

test('if two servers define one name differently, the server with the higher priority keeps it', async () => {
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1', priority: 10 });
  await untilPublished('What swims.');
  const other = await startOtherServer((request, response) => {
    const text = JSON.stringify(swagger('What flies.')).replaceAll(
      `/apis/${GROUP_NAME}/`,
      '/apis/second.example.com/',
    );
    if (request.url === '/openapi/v3') response.writeHead(404);
    response.end(request.url?.startsWith('/apis/') === true ? '{}' : text);
  });
  await registerOtherServer(api, other, { group: 'second.example.com', version: 'v1', priority: 20 });
  await untilPublished('What flies.');
  const { definitions, paths } = await swaggerOfOurs();
  expect(definitions[`${FLUNDER}_v2`].description).toBe('What swims.');
  expect(paths[`/apis/${GROUP_NAME}/v1/flunders/{name}`].get.parameters[0].schema.$ref).toBe(
    `#/definitions/${FLUNDER}_v2`,
  );
  // Both have the same definition of ObjectMeta.
  expect(definitions).not.toHaveProperty(`${OBJECT_META}_v3`);
  await other.close();
});

test('v3 has the group version, converted from v2 if the server has no v3 document', async () => {
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await untilPublished('What swims.');
  const { json: index } = await api.call('GET', '/openapi/v3');
  const url = index.paths[`apis/${GROUP_NAME}/v1`].serverRelativeURL as string;
  const { json } = await api.call('GET', url);
  expect(json).toMatchObject({
    openapi: '3.0.0',
    paths: {
      [`/apis/${GROUP_NAME}/v1/flunders/{name}`]: {
        get: {
          parameters: [{ in: 'query', name: 'pretty', schema: { type: 'string', uniqueItems: true } }],
          requestBody: { content: { '*/*': { schema: { $ref: `#/components/schemas/${FLUNDER}` } } } },
        },
      },
    },
  });
  expect(Object.keys(json.components.schemas)).toEqual([FLUNDER, OBJECT_META]);
  expect(json.components.schemas[FLUNDER].properties.metadata).toEqual({
    description: 'What all have.',
    allOf: [{ $ref: `#/components/schemas/${OBJECT_META}` }],
  });
});

test("v3 has the server's own v3 document", async () => {
  const part = '{"openapi":"3.0.0","paths":{},"components":{}}';
  documents.set(
    '/openapi/v3',
    `{"paths":{"apis/${GROUP_NAME}/v1":{"serverRelativeURL":"/openapi/v3/x?hash=1"}}}`,
  );
  documents.set('/openapi/v3/x?hash=1', part);
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await untilPublished('What swims.');
  expect(await api.call('GET', `/openapi/v3/apis/${GROUP_NAME}/v1`)).toMatchObject({ code: 200, text: part });
});

test.each([
  ['is no document', '[]'],
  ['is of another version', '{"swagger":"1.2"}'],
  [
    'is nested beyond all measure',
    `{"swagger":"2.0","definitions":{"x":${'{"items":'.repeat(5_000)}{}${'}'.repeat(5_000)}}}`,
  ],
])('%s of an extension API server is omitted, and the rest is unchanged', async (_what, text) => {
  const before = await api.call('GET', '/openapi/v2');
  documents.set('/openapi/v2', text);
  await registerOtherServer(api, server, { group: GROUP_NAME, version: 'v1' });
  await eventually('asked twice', () => seen.filter(({ url }) => url === '/openapi/v2').length > 1);
  expect((await api.call('GET', '/openapi/v2')).text).toBe(before.text);
});
