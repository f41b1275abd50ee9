import { NEWEST_LEVEL } from '../../../testing/kinds/newest-level';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GROUP, KUBERNETES_DISCOVERY_GROUP, MEDIA_TYPE } from '../../../../shared/names';
import { silentLog } from '../../../../shared/log/log';
import { eventually, PATIENCE_MS } from '../../../../shared/testing/eventually';
import type { OtherServer } from '../../../testing/aggregation/other-server';
import {
  leadToOtherServer,
  registerOtherServer,
  startOtherServer,
} from '../../../testing/aggregation/other-server';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import type { AggregatedService } from '../../aggregation/aggregated-services';
import type { KeepDiscoveryOptions } from './keep-discovery';
import { keepDiscovery, OtherDiscovery } from './keep-discovery';

const V2 = `;g=${KUBERNETES_DISCOVERY_GROUP};v=v2;as=APIGroupDiscoveryList`;
const BETA = V2.replace('v=v2', 'v=v2beta1');
/** The header of client-go 0.36. */
const CLIENT_GO = `${MEDIA_TYPE.json}${V2},${MEDIA_TYPE.json}${BETA},${MEDIA_TYPE.json}`;

interface Resource {
  readonly resource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly subresources?: readonly (Pick<Resource, 'responseKind' | 'verbs'> & {
    readonly subresource: string;
  })[];
}

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources?: readonly Resource[];
    readonly freshness: string;
  }[];
}

let api: InProcessApi;
let server: OtherServer;
let seen: IncomingMessage[];
let behave: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  behave = (_request, response) => response.writeHead(404).end();
  server = await startOtherServer((request, response) => {
    seen.push(request);
    behave(request, response);
  });
  api = await startInProcessApi(undefined, { aggregated: { discovers: true, documentsMs: 20 } });
  await leadToOtherServer(api);
});
afterEach(async () => {
  await api.close();
  await server.close();
});

async function groupsAt(root: string, accept = CLIENT_GO): Promise<readonly Group[]> {
  const { code, json, headers } = await api.call('GET', root, { headers: { accept } });
  expect([code, headers['Content-Type']]).toEqual([200, `${MEDIA_TYPE.json}${V2}`]);
  const apiVersion = `${KUBERNETES_DISCOVERY_GROUP}/v2`;
  expect(json).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion, metadata: {} });
  return json.items;
}

test(`at ${NEWEST_LEVEL}, the documents of client-go list exactly what plain discovery lists`, async () => {
  const [core, ...none] = await groupsAt('/api');
  expect([core?.metadata, none]).toEqual([{}, []]);
  const named = await groupsAt('/apis');
  const { json: plain } = await api.call('GET', '/apis');
  expect(named.map(({ metadata }) => metadata.name)).toEqual(
    plain.groups.map((each: { name: string }) => each.name),
  );
  let compared = 0;
  for (const { metadata, versions } of [...(core === undefined ? [] : [core]), ...named]) {
    for (const { version, resources = [], freshness } of versions) {
      const path = metadata.name === undefined ? `/api/${version}` : `/apis/${metadata.name}/${version}`;
      const listed: readonly { readonly name: string }[] = (await api.call('GET', path)).json.resources;
      expect(freshness).toBe('Current');
      expect(resources.flatMap(plainly)).toEqual(
        listed.map(({ storageVersionHash: _hash, ...each }: Record<string, unknown>) => ({
          group: '',
          version: '',
          ...each,
        })),
      );
      compared += listed.length;
    }
  }
  expect(compared).toBeGreaterThan(100);
});

/** Converts a resource and its subresources to the form of plain discovery. */
function plainly({
  resource,
  responseKind,
  scope,
  singularResource: singularName,
  verbs,
  subresources = [],
  ...names
}: Resource): object[] {
  const namespaced = scope === 'Namespaced';
  const parts = subresources.map((each) => ({
    ...each.responseKind,
    name: `${resource}/${each.subresource}`,
    namespaced,
    singularName: '',
    verbs: each.verbs,
  }));
  return [{ ...responseKind, ...names, name: resource, namespaced, singularName, verbs }, ...parts];
}

test.each([
  [
    'an unknown version, then plain JSON',
    `${MEDIA_TYPE.json}${V2.replace('v=v2', 'v=v3')},${MEDIA_TYPE.json}`,
    200,
  ],
  ['plain JSON before the document', `${MEDIA_TYPE.json},${MEDIA_TYPE.json}${V2}`, 200],
  ['v2beta1 alone', `${MEDIA_TYPE.json}${BETA}`, 406],
  ['another kind alone', `${MEDIA_TYPE.json}${V2}x`, 406],
])('an Accept header with %s is answered without the document', async (_case, accept, code) => {
  for (const [root, kind] of [
    ['/api', 'APIVersions'],
    ['/apis', 'APIGroupList'],
  ] as const) {
    const reply = await api.call('GET', root, { headers: { accept } });
    expect([reply.code, reply.json.kind, reply.headers['ETag']]).toEqual([
      code,
      code === 200 ? kind : 'Status',
      undefined,
    ]);
  }
});

test('the document has an ETag, also in YAML and Protobuf, and is 304 for a client that has it', async () => {
  const first = await api.call('GET', '/apis', { headers: { accept: CLIENT_GO } });
  const etag = String(first.headers['ETag']);
  expect(first.headers).toMatchObject({ Vary: 'Accept', 'Cache-Control': 'public' });
  expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
  const again = await api.call('GET', '/apis', { headers: { accept: CLIENT_GO, 'if-none-match': etag } });
  expect([again.code, again.text, again.headers['ETag']]).toEqual([304, '', etag]);
  const yaml = await api.call('GET', '/apis', { headers: { accept: `${MEDIA_TYPE.yaml}${V2}` } });
  expect([yaml.headers['ETag'], yaml.headers['Content-Type']]).toEqual([etag, `${MEDIA_TYPE.yaml}${V2}`]);
  expect(yaml.text).toMatch(/^apiVersion: apidiscovery.k8s.io\/v2\nitems:\n/);
  const protobuf = await api.call('GET', '/apis', { headers: { accept: `${MEDIA_TYPE.protobuf}${V2}` } });
  expect([protobuf.code, protobuf.headers['ETag'], protobuf.headers['Content-Type']]).toEqual([
    200,
    etag,
    `${MEDIA_TYPE.protobuf}${V2}`,
  ]);
  expect(protobuf.text).toMatch(/^k8s\0[^]*apidiscovery.k8s.io\/v2[^]*APIGroupDiscoveryList[^]*statefulsets/);
  const other = await api.call('GET', '/api', { headers: { accept: CLIENT_GO } });
  expect(other.headers['ETag']).not.toBe(etag);
});

test('a custom resource is listed with its group version, and changes the ETag', async () => {
  const before = await api.call('GET', '/apis', { headers: { accept: CLIENT_GO } });
  const schema = { openAPIV3Schema: { type: 'object' } };
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' },
  };
  const created = await api.call('POST', `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`, {
    body: {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources }],
      },
    },
  });
  expect(created.code).toBe(201);
  await eventually('served', async () => (await api.call('GET', '/apis/example.com/v1')).code === 200);
  const last = (await groupsAt('/apis')).at(-1);
  const responseKind = { group: 'example.com', version: 'v1', kind: 'Thing' };
  const verbs = ['get', 'patch', 'update'];
  expect(last).toMatchObject({
    metadata: { name: 'example.com' },
    versions: [
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          {
            resource: 'things',
            responseKind,
            scope: 'Cluster',
            singularResource: 'thing',
            subresources: [
              { subresource: 'status', responseKind, verbs },
              {
                subresource: 'scale',
                responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                verbs,
              },
            ],
          },
        ],
      },
    ],
  });
  const { headers } = await api.call('GET', '/apis', { headers: { accept: CLIENT_GO } });
  expect(headers['ETag']).not.toBe(before.headers['ETag']);
});

const WARDLE = 'wardle.example.com';
const FLUNDERS = {
  resource: 'flunders',
  responseKind: { group: WARDLE, version: 'v1', kind: 'Flunder' },
  scope: 'Namespaced',
  singularResource: 'flunder',
  verbs: ['get', 'list'],
};

async function wardle(): Promise<Group | undefined> {
  return (await groupsAt('/apis')).find(({ metadata }) => metadata.name === WARDLE);
}

async function untilListed(title: string, versions: readonly object[]): Promise<void> {
  await eventually(title, async () => {
    const listed = (await wardle())?.versions;
    return JSON.stringify(listed) === JSON.stringify(versions);
  });
}

test('versions of an extension API server are those of its own document, and stale when it fails', async () => {
  let isBroken = false;
  const document = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `${KUBERNETES_DISCOVERY_GROUP}/v2`,
    items: [{ metadata: { name: WARDLE }, versions: [{ version: 'v1', resources: [FLUNDERS] }] }],
  };
  behave = ({ url, headers }, response) => {
    if (url !== '/apis') response.end('{}');
    else if (isBroken) response.writeHead(503).end();
    else if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else
      response
        .writeHead(200, { 'content-type': `${MEDIA_TYPE.json}${V2}`, etag: '"1"' })
        .end(JSON.stringify(document));
  };
  for (const version of ['v1', 'v2']) await registerOtherServer(api, server, { group: WARDLE, version });
  const current = [
    { version: 'v2', freshness: 'Current' },
    { version: 'v1', resources: [FLUNDERS], freshness: 'Current' },
  ];
  await untilListed('listed', current);
  await eventually('asked by ETag', () => seen.some(({ headers }) => headers['if-none-match'] === '"1"'));
  const asked = seen.find(({ url }) => url === '/apis');
  expect(asked?.headers).toMatchObject({
    accept: `${MEDIA_TYPE.json}${V2},${MEDIA_TYPE.json}${BETA}`,
    'x-remote-user': 'system:kube-aggregator',
    'x-remote-group': 'system:masters',
  });
  isBroken = true;
  await untilListed(
    'stale',
    current.map(({ version }) => ({ version, freshness: 'Stale' })),
  );
  isBroken = false;
  await untilListed('listed again', current);
  await api.call('DELETE', `/apis/${GROUP.apiregistration}/v1/apiservices/v2.${WARDLE}`);
  await untilListed('one version left', current.slice(1));
});

test('an extension API server without the document is read version by version', async () => {
  behave = ({ url }, response) => {
    if (url === '/apis') response.setHeader('content-type', MEDIA_TYPE.json).end('{"kind":"APIGroupList"}');
    else if (url !== `/apis/${WARDLE}/v1`) response.writeHead(404).end();
    else {
      const kind = { singularName: '', namespaced: true, kind: 'Flunder', verbs: ['get'] };
      const resources = [
        { ...kind, name: 'flunders', shortNames: ['fl'] },
        { ...kind, name: 'flunders/status' },
        { ...kind, name: 'herds/scale', kind: '' },
      ];
      response.end(JSON.stringify({ kind: 'APIResourceList', groupVersion: `${WARDLE}/v1`, resources }));
    }
  };
  await registerOtherServer(api, server, { group: WARDLE, version: 'v1' });
  const none = { group: '', version: '', kind: '' };
  const responseKind = { ...none, kind: 'Flunder' };
  await untilListed('listed', [
    {
      version: 'v1',
      resources: [
        {
          resource: 'flunders',
          responseKind,
          scope: 'Namespaced',
          singularResource: '',
          verbs: ['get'],
          shortNames: ['fl'],
          subresources: [{ subresource: 'status', responseKind, verbs: ['get'] }],
        },
        {
          resource: 'herds',
          responseKind: none,
          scope: 'Namespaced',
          singularResource: '',
          verbs: null,
          subresources: [{ subresource: 'scale', responseKind: none, verbs: ['get'] }],
        },
      ],
      freshness: 'Current',
    },
  ]);
  expect(seen.some(({ url }) => url === '/apis')).toBe(true);
});

test('an APIService that stays unreadable is logged once, and so is that it is readable again', async () => {
  let isBroken = true;
  const lines: string[] = [];
  const note = (_fields: object, message: string): void => void lines.push(message);
  const service = {
    name: 'v1.wardle.example.com',
    group: WARDLE,
    version: 'v1',
    groupPriorityMinimum: 1,
    versionPriority: 1,
    isAvailable: true,
    service: { namespace: 'default', name: 'wardle', port: 443 },
    object: { metadata: { uid: 'u' }, spec: {} },
  } as unknown as AggregatedService;
  let reads = 0;
  const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'v1', resources: [] };
  const aggregator = {
    services: { all: () => [service] },
    read: async () => {
      reads += 1;
      return Promise.resolve(
        isBroken
          ? { code: 503, contentType: '', etag: '', body: Buffer.alloc(0) }
          : { code: 200, contentType: '', etag: '', body: Buffer.from(JSON.stringify(list)) },
      );
    },
  } as unknown as KeepDiscoveryOptions['aggregator'];
  const log = { ...silentLog, info: note, warn: note };
  const stop = new AbortController();
  const options = { aggregator, discovery: new OtherDiscovery(), log, refreshMs: 1 };
  const running = [
    keepDiscovery({ ...options, reportAfterMs: 0 }, stop.signal),
    // Within the grace, nothing is logged.
    keepDiscovery({ ...options, reportAfterMs: PATIENCE_MS }, stop.signal),
  ];
  await eventually('read often', () => reads > 10);
  expect(lines).toEqual(['failed to read the discovery of an APIService']);
  isBroken = false;
  await eventually('readable', () => lines.length > 1);
  stop.abort();
  await Promise.all(running);
  expect(lines).toEqual([
    'failed to read the discovery of an APIService',
    'the discovery of an APIService is readable again',
  ]);
});
