import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../../../shared/testing/eventually';
import { externalAddress } from '../../../shared/testing/external-address';
import { API_SERVICE_NAME } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { newConnectCounts, openConnections } from './connect-counts';
import { Connector } from './connector';

const PODS = '/api/v1/namespaces/default/pods';
const SERVICES = '/api/v1/namespaces/default/services';
/** Proxies of nodes refuse loopback addresses. */
const ADDRESS = externalAddress ?? '127.0.0.1';
const testIfReachable = externalAddress === undefined ? test.skip : test;

let api: InProcessApi;
let agent: Server;
let seen: IncomingMessage[];
let isOwn: boolean;
const counts = newConnectCounts();

beforeEach(async () => {
  seen = [];
  isOwn = false;
  agent = createServer((request, response) => {
    seen.push(request);
    if (request.url?.startsWith('/containerLogs/default/two/b') === true) {
      response.writeHead(400).end('container "b" is waiting to start');
    } else response.writeHead(200, { 'content-type': 'text/plain' }).end('a line\n');
  });
  agent.listen(0, ADDRESS);
  await once(agent, 'listening');
  const connector = new Connector({
    agents: { scheme: 'http', port: (agent.address() as AddressInfo).port, addressTypes: ['InternalIP'] },
    agentTls: () => ({}),
    agentDialMsMax: 60_000,
    isOwnAddress: () => isOwn,
    counts,
    randomInt: () => 0,
  });
  api = await startInProcessApi(undefined, { connector, admission: ADMISSION });
  await create('/api/v1/nodes', { metadata: { name: 'n1' } });
  await status('/api/v1/nodes/n1', { addresses: [{ type: 'InternalIP', address: ADDRESS }] });
  await create(PODS, podOf('one', ['a'], { nodeName: 'n1' }));
  await create(
    PODS,
    podOf('two', ['a', 'b'], { nodeName: 'n1', initContainers: [{ name: 'i', image: 'x' }] }),
  );
  await create(PODS, podOf('waiting', ['a'], {}));
  await create(PODS, podOf('lost', ['a'], { nodeName: 'n9' }));
});
afterEach(async () => {
  await api.close();
  agent.close();
});

const ADMISSION = {
  enable: ['DenyEscalatingExec'],
  disable: ['ServiceAccount', 'StorageObjectInUseProtection'],
};

function podOf(name: string, containers: readonly string[], spec: object): object {
  return {
    metadata: { name },
    spec: { containers: containers.map((each) => ({ name: each, image: 'x' })), ...spec },
  };
}

async function create(url: string, body: object): Promise<void> {
  const reply = await api.call('POST', url, { body });
  expect([reply.code, reply.json.message]).toEqual([201, undefined]);
}

async function status(url: string, body: object): Promise<void> {
  expect((await api.call('PATCH', `${url}/status`, { body: { status: body } })).code).toBe(200);
}

test('dryRun is refused for connections and ignored for logs', async () => {
  for (const url of [
    `${PODS}/none/proxy`,
    `${PODS}/one/exec`,
    `${SERVICES}/s/proxy/x`,
    '/api/v1/nodes/n1/proxy',
  ]) {
    const reply = await api.call('POST', `${url}?dryRun=All`);
    expect([reply.code, reply.json.message]).toEqual([400, 'dryRun is not supported']);
  }
  expect((await api.call('GET', `${PODS}/one/log?dryRun=All`)).code).toBe(200);
});

describe('logs', () => {
  test('a pod with one container needs no container name, and the options reach the kubelet', async () => {
    const query = 'follow=true&tailLines=3&sinceSeconds=5&timestamps=true&limitBytes=9&previous=true';
    const reply = await api.call('GET', `${PODS}/one/log?${query}`);
    expect(reply).toMatchObject({ code: 200, text: 'a line\n', headers: { 'Content-Type': 'text/plain' } });
    expect(seen[0]?.url).toBe(
      '/containerLogs/default/one/a?follow=true&limitBytes=9&previous=true&sinceSeconds=5&tailLines=3&timestamps=true',
    );
    await eventually('its connection is gone', () => openConnections(counts) === 0);
  });

  test('container and sinceTime reach the kubelet', async () => {
    const query = 'container=i&sinceTime=2021-04-08T00:00:00Z&insecureSkipTLSVerifyBackend=true&pretty=true';
    expect(await api.call('GET', `${PODS}/two/log?${query}`)).toMatchObject({ code: 200, text: 'a line\n' });
    expect(seen[0]?.url).toBe('/containerLogs/default/two/i?sinceTime=2021-04-08T00%3A00%3A00Z');
  });

  test.each([
    [
      'two/log',
      400,
      'a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [i]',
    ],
    ['two/log?container=c', 400, 'container c is not valid for pod two'],
    ['two/log?container=b', 400, 'container "b" is waiting to start'],
    ['none/log', 404, 'pods "none" not found'],
    ['lost/log', 404, 'pods "n9" not found'],
    [
      'one/log?tailLines=-1',
      422,
      'PodLogOptions "one" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'one/log?limitBytes=0',
      422,
      'PodLogOptions "one" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    ],
    [
      'one/log?sinceSeconds=0',
      422,
      'PodLogOptions "one" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
    ],
    [
      'one/log?sinceSeconds=5&sinceTime=2021-04-08T00:00:00Z',
      422,
      'PodLogOptions "one" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['one/log?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['one/log/more', 404, 'the server could not find the requested resource'],
    ['one/exec?command=ls', 400, 'Upgrade request required'],
    ['waiting/exec?command=ls', 400, 'pod waiting does not have a host assigned'],
    ['waiting/portforward', 400, 'pod waiting does not have a host assigned'],
    ['one/proxy/x', 400, 'address not allowed'],
    ['a:b:c:d/proxy/x', 400, 'invalid pod request "a:b:c:d"'],
  ])('%s is %d', async (path, code, message) => {
    expect((await api.call('GET', `${PODS}/${path}`)).json).toMatchObject({ code, message });
  });

  test.each([
    ['x/log', 400, 'Namespace parameter required.'],
    ['x/log?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'x/log?tailLines=-1',
      422,
      'PodLogOptions "x" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['x/log/more', 404, 'the server could not find the requested resource'],
    ['x/exec?dryRun=All', 400, 'dryRun is not supported'],
    ['x/portforward', 400, 'Namespace parameter required.'],
    ['x/proxy', 400, 'Namespace parameter required.'],
    ['x/proxy/a/b', 400, 'Namespace parameter required.'],
  ])('with an empty namespace %s is %d', async (path, code, message) => {
    const reply = await api.call('GET', `/api/v1/namespaces//pods/${path}`);
    expect(reply.json).toMatchObject({ code, message });
  });

  test.each([
    ['DELETE', '/api/v1/namespaces//pods/x/exec', 405],
    ['POST', '/api/v1/namespaces//pods/x/log', 405],
    ['DELETE', '/api/v1/namespaces//services/x/proxy/a', 400],
    ['GET', '/api/v1/namespaces//nodes/n1/proxy', 404],
    ['GET', '/api/v1/namespaces/default/nodes/n1/proxy', 404],
    ['GET', '/api/v1/pods/x/proxy', 404],
    ['GET', '/api/v1/watch/namespaces//pods/x/log', 404],
  ])('%s %s is %d', async (method, path, code) => {
    expect((await api.call(method, path)).json).toMatchObject({ code });
  });

  test('an invalid pod name is 400', async () => {
    expect((await api.call('GET', `${PODS}/%2E/log`)).json).toMatchObject({
      code: 400,
      message: 'Name parameter invalid: ".": may not be \'.\'',
    });
  });

  test('the log of an unscheduled pod is empty', async () => {
    expect(await api.call('GET', `${PODS}/waiting/log`)).toMatchObject({ code: 204, text: '' });
  });
});

test('addresses of this host cannot be reached through a pod or a Service', async () => {
  const { port } = agent.address() as AddressInfo;
  await status(`${PODS}/one`, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  await create(SERVICES, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
  await create('/api/v1/namespaces/default/endpoints', {
    metadata: { name: 't' },
    subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port }] }],
  });
  expect((await api.call('GET', `${PODS}/one:${String(port)}/proxy/`)).json).toMatchObject({
    code: 400,
    message: 'address not allowed',
  });
  expect((await api.call('GET', `${SERVICES}/s:81/proxy/`)).json).toMatchObject({
    code: 503,
    message: 'no service port 81 found for service "s"',
  });
  expect((await api.call('GET', `${SERVICES}/t/proxy/`)).json).toMatchObject({
    code: 503,
    message: 'no endpoints available for service "t"',
  });
  expect(seen).toEqual([]);
});

test('a node with an address that cannot be resolved is an error', async () => {
  await create('/api/v1/nodes', { metadata: { name: 'n2' } });
  await status('/api/v1/nodes/n2', { addresses: [{ type: 'InternalIP', address: 'missing.invalid' }] });
  expect((await api.call('GET', '/api/v1/nodes/n2:1/proxy/')).json).toMatchObject({
    code: 400,
    reason: 'BadRequest',
    message: expect.stringMatching(/^lookup missing\.invalid: /),
  });
  expect((await api.call('GET', '/api/v1/nodes/n2/proxy/')).json).toMatchObject({
    code: 400,
    message: expect.stringMatching(/^lookup missing\.invalid: /),
  });
});

test.each([
  '127.0.0.1',
  'localhost',
  '2130706433',
  '::1',
  '::ffff:127.0.0.1',
  '0.0.0.0',
  '169.254.169.254',
  'fe80::1',
])('a node at %s cannot be reached by its proxy, at no port (CVE-2022-3294)', async (address) => {
  await create('/api/v1/nodes', { metadata: { name: 'evil' } });
  await status('/api/v1/nodes/evil', { addresses: [{ type: 'InternalIP', address }] });
  for (const node of ['evil', 'https:evil:', 'evil:80']) {
    const reply = await api.call('GET', `/api/v1/nodes/${node}/proxy/x`);
    expect(reply.json).toMatchObject({ code: 400, message: 'address not allowed' });
  }
});

test('a node at an address of another replica of the API cannot be reached by its proxy', async () => {
  const subsets = [{ addresses: [{ ip: '192.0.2.77' }], ports: [{ name: 'https', port: 6443 }] }];
  await create('/api/v1/namespaces/default/endpoints', { metadata: { name: API_SERVICE_NAME }, subsets });
  await create('/api/v1/nodes', { metadata: { name: 'evil' } });
  for (const address of ['192.0.2.77', '::ffff:192.0.2.77', '0:0:0:0:0:ffff:c000:24d']) {
    await status('/api/v1/nodes/evil', {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: 6443 } },
    });
    for (const node of ['evil', 'https:evil:6443']) {
      const reply = await api.call('GET', `/api/v1/nodes/${node}/proxy/api/v1/secrets`);
      expect(reply.json).toMatchObject({ code: 400, message: 'address not allowed' });
    }
  }
});

testIfReachable(
  'a node at an address of the server cannot be reached by its proxy, but its logs can',
  async () => {
    isOwn = true;
    expect((await api.call('GET', '/api/v1/nodes/n1/proxy/x')).json).toMatchObject({
      code: 400,
      message: 'address not allowed',
    });
    expect(seen).toEqual([]);
    expect(await api.call('GET', `${PODS}/one/log`)).toMatchObject({ code: 200, text: 'a line\n' });
  },
);

testIfReachable('dot segments of a path are resolved before it is proxied', async () => {
  await api.call('GET', '/api/v1/nodes/n1/proxy/a/%2e%2e/b/');
  expect(seen[0]?.url).toBe('/b/');
});

test('DenyEscalatingExec refuses commands in pods with host namespaces', async () => {
  await create(PODS, podOf('host', ['a'], { nodeName: 'n1', hostPID: true }));
  expect((await api.call('POST', `${PODS}/host/exec?command=ls`)).json).toMatchObject({
    code: 403,
    message: 'pods "host" is forbidden: cannot exec into or attach to a container using host pid',
  });
});

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '%s of a proxy path without a trailing slash is redirected',
  async (method) => {
    const { code, headers, text } = await api.call(method, '/api/v1/nodes/n1/proxy?a=b');
    const Location = '/api/v1/nodes/n1/proxy/?a=b';
    expect([code, headers, text, seen.length]).toEqual([301, expect.objectContaining({ Location }), '', 0]);
  },
);
