import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import { GROUP } from '../../../shared/names';
import { PATIENCE_MS, eventually, patience } from '../../../shared/testing/eventually';
import { newConnectCounts } from '../../engine/proxy/connect-counts';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { AggregatedServices } from './aggregated-services';
import { newAvailabilityCounts } from './availability';

const SERVICES = `/apis/${GROUP.apiregistration}/v1/apiservices`;
const NAME = 'v1.wardle.example.com';
const ROOT = '/apis/wardle.example.com/v1';

let dir: string;
let server: Server;
let sockets: Set<Socket>;
let seen: IncomingMessage[];
let api: InProcessApi;
const counts = newConnectCounts();
const availability = newAvailabilityCounts();

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'orch-aggregation-'));
  seen = [];
  sockets = new Set();
  const files = ensureServingCertificate({ dir, hosts: ['wardle.default.svc'] });
  server = createServer({ cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) }, answer);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  api = await startInProcessApi(undefined, {
    authorizationModes: ['RBAC'],
    aggregated: { counts, availability },
  });
  await register(readFileSync(files.caFile).toString('base64'));
});
afterEach(async () => {
  await api.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  rmSync(dir, { recursive: true });
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
  response.writeHead(200, { 'content-type': 'application/json' });
  if (request.url?.includes('watch=true') === true) response.write('{"type":"ADDED","object":{}}\n');
  else response.end('{"kind":"FlunderList"}');
}

const PLACE = '/api/v1/namespaces/default';

async function create(url: string, body: object): Promise<void> {
  const { code, json } = await api.call('POST', url, { body });
  expect([code, json.message]).toEqual([201, undefined]);
}

async function register(caBundle: string): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const service = { namespace: 'default', name: 'wardle', port };
  const priorities = { groupPriorityMinimum: 100, versionPriority: 10 };
  await create(SERVICES, {
    metadata: { name: NAME },
    spec: { group: 'wardle.example.com', version: 'v1', ...priorities, service, caBundle },
  });
}

async function lead(): Promise<void> {
  await create(`${PLACE}/services`, {
    metadata: { name: 'wardle' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
}

async function becomes(reason: string, message: RegExp): Promise<void> {
  await eventually(reason, async () => {
    const { json } = await api.call('GET', `${SERVICES}/${NAME}`);
    const [condition] = json.status?.conditions ?? [];
    return condition?.reason === reason && message.test(condition.message);
  });
}

test('an unavailable extension API server is reported in its APIService, and requests get 503 at once', async () => {
  await becomes('ServiceNotFound', /^service\/wardle in "default" is not present$/);
  expect(await api.call('GET', `${ROOT}/flunders`)).toMatchObject({
    code: 503,
    text: 'service unavailable\n',
  });
  await lead();
  await becomes('Passed', /^all checks passed$/);
  expect((await api.call('GET', `${ROOT}/flunders`)).code).toBe(200);

  const { port } = server.address() as AddressInfo;
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
  await becomes('FailedDiscoveryCheck', /connection refused/);
  expect(availability.unavailable.get(NAME)).toBe(true);
  expect(await api.call('GET', `${ROOT}/flunders`)).toMatchObject({ code: 503 });

  server.listen(port, '127.0.0.1');
  await becomes('Passed', /^all checks passed$/);
  expect(availability.unavailable.get(NAME)).toBe(false);
});

test('a foreign change of the condition Available is reverted in place, and an APIService without a Service is Local', async () => {
  await becomes('ServiceNotFound', /is not present$/);
  const condition = (type: string): object => ({ type, status: 'True', reason: 'Odd', message: 'odd' });
  const status = { conditions: [condition('Available'), condition('Other')] };
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  await api.call('PATCH', `${SERVICES}/${NAME}/status`, { ...merge, body: { status } });
  await becomes('ServiceNotFound', /is not present$/);
  const types = async (): Promise<unknown> => {
    const { json } = await api.call('GET', `${SERVICES}/${NAME}`);
    return json.status.conditions.map(({ type }: { readonly type: string }) => type);
  };
  expect(await types()).toEqual(['Available', 'Other']);

  const spec = { service: null, caBundle: null };
  await api.call('PATCH', `${SERVICES}/${NAME}`, { ...merge, body: { spec } });
  await becomes('Local', /^Local APIServices are always available$/);
  expect(await types()).toEqual(['Available', 'Other']);
});

test('a changed APIService ends a wait for changes', async () => {
  const { registry, cache } = api.plane;
  const services = new AggregatedServices(registry().stored, cache);
  await api.call('DELETE', `${SERVICES}/${NAME}`);
  const isThere = (): boolean => services.find('wardle.example.com', 'v1') !== undefined;
  while (isThere()) await services.nextChange(PATIENCE_MS, patience());
  expect(isThere()).toBe(false);
});

test('a Service without the port or without ready endpoints is reported in the condition', async () => {
  await create(`${PLACE}/services`, { metadata: { name: 'wardle' }, spec: { ports: [{ port: 1 }] } });
  await becomes('ServicePortError', /^service\/wardle in "default" is not listening on port \d+$/);
  const { port } = server.address() as AddressInfo;
  await api.call('PATCH', `${PLACE}/services/wardle`, { body: { spec: { ports: [{ port }] } } });
  await becomes('EndpointsNotFound', /^cannot find endpoints for service\/wardle in "default"$/);
  await create(`${PLACE}/endpoints`, { metadata: { name: 'wardle' } });
  await becomes(
    'MissingEndpoints',
    /^endpoints for service\/wardle in "default" have no addresses with port name ""$/,
  );
  expect(seen).toEqual([]);
});

test('requests are forwarded with the authenticated user, and user headers of the client are dropped', async () => {
  await lead();
  await becomes('Passed', /passed/);
  seen = [];
  await api.call('GET', `${ROOT}/namespaces/a/flunders?limit=5`, {
    headers: {
      authorization: 'Bearer x',
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
    },
  });
  const request = seen.find(({ url }) => url?.includes('flunders'));
  expect(request).toMatchObject({ method: 'GET', url: `${ROOT}/namespaces/a/flunders?limit=5` });
  const { headers } = request ?? { headers: undefined };
  expect(headers).toMatchObject({ 'x-remote-user': 'tester' });
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('x-remote-extra-a');
});

test('a path with empty segments, in which authorization sees another group, is not forwarded', async () => {
  await lead();
  await becomes('Passed', /passed/);
  seen = [];
  for (const url of [`//apis/wardle.example.com/v1/flunders`, `/apis//wardle.example.com/v1/flunders`]) {
    expect((await api.call('GET', url)).code).toBe(404);
  }
  expect(seen.filter((each) => each.url?.includes('flunders'))).toEqual([]);
});

test('discovery lists the aggregated group in the order of its priority', async () => {
  const { json } = await api.call('GET', '/apis');
  const names: string[] = json.groups.map(({ name }: { name: string }) => name);
  expect(names.at(-1)).toBe('wardle.example.com');
  expect((await api.call('GET', '/apis/wardle.example.com')).json).toMatchObject({
    kind: 'APIGroup',
    preferredVersion: { groupVersion: 'wardle.example.com/v1', version: 'v1' },
  });
});

test('an APIService for the core group receives all of its requests', async () => {
  await lead();
  await becomes('Passed', /passed/);
  const { json } = await api.call('GET', `${SERVICES}/${NAME}`);
  const spec = { ...json.spec, group: undefined };
  await create(SERVICES, { metadata: { name: 'v1.' }, spec });
  seen = [];
  await eventually(
    'it answers',
    async () => (await api.call('GET', '/api/v1/pods')).text === '{"kind":"FlunderList"}',
  );
  await api.call('GET', '/api');
  expect(seen.map(({ url }) => url)).toEqual(expect.arrayContaining(['/api/v1', '/api/v1/pods', '/api']));
  expect((await api.call('GET', '/apis')).code).toBe(200);
});

test('a proxied watch ends when access is revoked', async () => {
  await lead();
  await becomes('Passed', /passed/);
  const rbac = `/apis/${GROUP.rbac}/v1`;
  const rules = [{ verbs: ['watch'], apiGroups: ['wardle.example.com'], resources: ['flunders'] }];
  await create(`${rbac}/clusterroles`, { metadata: { name: 'w' }, rules });
  await create(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'w' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'w' },
    subjects: [{ kind: 'User', apiGroup: GROUP.rbac, name: 'ann' }],
  });
  const events = api.watch(`${ROOT}/flunders?watch=true`, patience(), { 'impersonate-user': 'ann' });
  expect((await events.next()).value).toEqual({ type: 'ADDED', object: {} });
  const last = events.next();
  last.catch(() => undefined);
  expect((await api.call('DELETE', `${rbac}/clusterrolebindings/w`)).code).toBe(200);
  await eventually('no connection is left', () => (counts.open.get('apiservice') ?? 0) === 0);
  await expect(last).rejects.toThrow('aborted');
});

test('a proxied watch streams, and its connection closes when the client disconnects', async () => {
  await lead();
  await becomes('Passed', /passed/);
  const gone = new AbortController();
  const events = api.watch(`${ROOT}/flunders?watch=true`, gone.signal);
  expect((await events.next()).value).toEqual({ type: 'ADDED', object: {} });
  gone.abort(new Error('gone'));
  await events.return(undefined);
  await eventually('no connection is left', () => (counts.open.get('apiservice') ?? 0) === 0);
});
