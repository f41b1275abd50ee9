import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookServer } from '../../kubernetes/admission/webhooks/testing/webhook-server';
import {
  configurationOf,
  hookAt,
  patching,
  startWebhook,
} from '../../kubernetes/admission/webhooks/testing/webhook-server';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { newConnectCounts } from './connect-counts';
import { Connector } from './connector';

const POD = '/api/v1/namespaces/default/pods/one';

let api: InProcessApi;
let agent: Server;
let webhook: WebhookServer;
let urls: string[];

beforeEach(async () => {
  urls = [];
  agent = createServer((request, response) => {
    urls.push(request.url ?? '');
    response.end('an answer');
  });
  // Recording the upgrade request is enough.
  agent.on('upgrade', (request, socket) => {
    urls.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  });
  agent.listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const connector = new Connector({
    agents: { scheme: 'http', port: (agent.address() as AddressInfo).port, addressTypes: ['InternalIP'] },
    agentTls: () => ({}),
    agentDialMsMax: 60_000,
    isOwnAddress: () => false,
    counts: newConnectCounts(),
    randomInt: () => 0,
  });
  [api, webhook] = await Promise.all([startInProcessApi(undefined, { connector }), startWebhook()]);
  await create('/api/v1/nodes', { metadata: { name: 'n1' } });
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  await api.call('PATCH', '/api/v1/nodes/n1/status', { body: { status: { addresses } } });
  await create('/api/v1/namespaces/default/pods', {
    metadata: { name: 'one' },
    spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'x' }] },
  });
});
afterEach(async () => {
  await Promise.all([api.close(), webhook.close()]);
  agent.close();
});

async function create(url: string, body: object): Promise<void> {
  const { code, text } = await api.call('POST', url, { body });
  if (code !== 201) throw new Error(text);
}

/** Configures a webhook for all CONNECT operations. */
async function configure(type: 'Mutating' | 'Validating'): Promise<void> {
  const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['*/*'] }];
  const { path, body } = configurationOf(type, 'conf', [{ ...hookAt(webhook), rules }]);
  await create(path, body);
}

test.each([
  [
    'pods',
    'exec',
    'exec?command=ls&command=-l&stdin=true&tty=true&container=a',
    'PodExecOptions',
    { stdin: true, tty: true, container: 'a', command: ['ls', '-l'] },
  ],
  ['pods', 'attach', 'attach?stdout=true', 'PodAttachOptions', { stdout: true }],
  ['pods', 'portforward', 'portforward?ports=80&ports=81', 'PodPortForwardOptions', { ports: [80, 81] }],
  ['pods', 'proxy', 'proxy/a/b', 'PodProxyOptions', { path: '/a/b' }],
])('CONNECT to %s/%s calls webhooks with its options', async (resource, subresource, path, kind, options) => {
  await configure('Validating');
  await api.call('POST', `${POD}/${path}`, {
    upgrade: true,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
  });
  const { object, ...asked } = webhook.asked[0]?.review.request ?? {};
  expect(asked).toMatchObject({
    operation: 'CONNECT',
    kind: { group: '', version: 'v1', kind },
    resource: { group: '', version: 'v1', resource },
    subResource: subresource,
    namespace: 'default',
    name: 'one',
    userInfo: { username: 'tester' },
    oldObject: null,
    options: null,
    dryRun: false,
  });
  expect(object).toMatchObject({ kind, apiVersion: 'v1', ...options });
});

test('proxies of nodes and Services call CONNECT webhooks, and logs do not', async () => {
  await configure('Validating');
  await api.call('GET', '/api/v1/nodes/n1/proxy/metrics');
  await api.call('GET', '/api/v1/namespaces/default/services/s/proxy/x');
  await api.call('GET', `${POD}/log`);
  const asked = webhook.asked.map(({ review }) => [
    review.request.resource.resource,
    review.request.object.path,
  ]);
  expect(asked).toEqual([
    ['nodes', '/metrics'],
    ['services', '/x'],
  ]);
});

test('a request that a webhook refuses does not reach the kubelet', async () => {
  await configure('Validating');
  webhook.behave = () => ({ allowed: false, status: { code: 403, message: 'not here' } });
  const reply = await api.call('POST', `${POD}/exec?command=ls`, { upgrade: true });
  expect(reply.json).toMatchObject({
    code: 403,
    message: expect.stringContaining('denied the request: not here'),
  });
  expect(urls).toEqual([]);
});

test('the kubelet receives the options as a mutating webhook changed them', async () => {
  await configure('Mutating');
  webhook.behave = patching({ op: 'replace', path: '/command', value: ['whoami'] });
  await api.call('POST', `${POD}/exec?command=ls&stdout=true`, {
    upgrade: true,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
  });
  expect(urls).toEqual(['/exec/default/one/a?command=whoami&output=1']);
});

test('a failing webhook with failurePolicy Fail refuses the connection', async () => {
  await configure('Validating');
  webhook.behave = () => {
    throw new Error('broken');
  };
  const reply = await api.call('POST', `${POD}/exec?command=ls`, { upgrade: true });
  expect(reply).toMatchObject({ code: 500 });
  expect(urls).toEqual([]);
});
