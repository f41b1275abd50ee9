import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { allowsOutsideOf } from '../../shared/client/allowed-addresses';
import { silentLog } from '../../shared/log/log';
import { ClientRequests } from '../../shared/metrics/rest-client';
import { GROUP } from '../../shared/names';
import { eventually } from '../../shared/testing/eventually';
import { createWebhookSink } from '../engine/audit/webhook-sink';
import type { AuditedServer, Reply } from './audit/audited-server';
import { startAuditedServer, temporaryDirectory } from './audit/audited-server';

/** Every kind of call that the server makes, against a server on this host that counts connections. */
let target: Server;
let port = 0;
let connections = 0;
let dir = '';
let server: AuditedServer;
const logged: string[] = [];

beforeAll(async () => {
  target = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  ({ port } = target.address() as AddressInfo);
  dir = temporaryDirectory();
  mkdirSync(dir, { recursive: true });
});

afterAll(() => {
  target.close();
});

afterEach(async () => {
  await server.stop();
});

function kubeconfig(name: string): string {
  const file = path.join(dir, `${name}.kubeconfig`);
  const cluster = { server: `https://localhost:${String(port)}` };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function start(...flags: readonly string[]): Promise<void> {
  logged.length = 0;
  connections = 0;
  dir = temporaryDirectory();
  const note = (fields: object, message: string): void => {
    logged.push(
      `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : value))}`,
    );
  };
  server = await startAuditedServer(
    {
      policy: { rules: [{ level: 'Metadata' }] },
      log: { ...silentLog, info: note, warn: note, error: note },
      flags: [
        '--authorization-mode=RBAC,Webhook',
        `--authorization-webhook-config-file=${kubeconfig('authorizer')}`,
        `--authentication-token-webhook-config-file=${kubeconfig('authenticator')}`,
        `--oidc-issuer-url=https://localhost:${String(port)}`,
        '--oidc-client-id=orch',
        '--enable-aggregator-routing',
        ...flags,
      ],
    },
    dir,
  );
}

async function create(url: string, body: object): Promise<Reply> {
  return server.call('POST', url, { body });
}

function webhook(url: string): object {
  return {
    name: 'a.example.com',
    clientConfig: { url },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
    timeoutSeconds: 30,
  };
}

/** Creates what makes the server call others, and returns the responses of the calls. */
async function callAll(tokens: readonly string[] = []): Promise<readonly string[]> {
  const texts: string[] = [];
  const configurations = `/apis/${GROUP.admissionregistration}/v1/validatingwebhookconfigurations`;
  for (const host of ['127.0.0.1', 'localhost']) {
    const made = await create(configurations, {
      metadata: { name: 'hook' },
      webhooks: [webhook(`https://${host}:${String(port)}/`)],
    });
    expect(made.code).toBe(201);
    texts.push(
      (await create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'a' } })).text,
    );
    await server.call('DELETE', `${configurations}/hook`);
  }
  await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await create('/api/v1/namespaces/default/pods', {
    metadata: { name: 'pod' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  await server.call('PATCH', '/api/v1/namespaces/default/pods/pod/status', {
    body: { status: { podIP: '192.0.2.1', podIPs: [{ ip: '192.0.2.1' }], phase: 'Running' } },
  });
  texts.push((await server.call('GET', '/api/v1/namespaces/default/pods/pod:1/proxy/')).text);
  for (const token of tokens) texts.push((await server.call('GET', '/api/v1/namespaces', { token })).text);
  return texts;
}

test('the server calls no address that --egress-deny-cidrs denies, by whatever name', async () => {
  await start('--egress-deny-cidrs=0.0.0.0/0,::/0');
  const [byAddress, byName, pod, token] = await callAll(['unknown']);
  expect(byAddress).toContain('address not allowed');
  expect(byName).toContain('address not allowed');
  expect(pod).toContain('address not allowed');
  expect(JSON.parse(token ?? '')).toMatchObject({ code: 401 });
  const found = await create('/api/v1/namespaces/default/services', {
    metadata: { name: 'extension' },
    spec: { ports: [{ port: 443, name: 'https' }], type: 'ClusterIP' },
  });
  expect(found.code).toBe(201);
  await create('/api/v1/namespaces/default/endpoints', {
    metadata: { name: 'extension' },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 443, name: 'https' }] }],
  });
  await create(`/apis/${GROUP.apiregistration}/v1/apiservices`, {
    metadata: { name: 'v1.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { namespace: 'default', name: 'extension' },
    },
  });
  await eventually('the extension API server is refused', async () => {
    const { text } = await server.call('GET', `/apis/${GROUP.apiregistration}/v1/apiservices/v1.example.com`);
    return text.includes('address not allowed');
  });
  // The log has the errors of reviews and of the keys of the issuer.
  await eventually('the issuer is refused', () =>
    Promise.resolve(isLogged(/openid-configuration.*address not allowed/u)),
  );
  await eventually('the token webhook is refused', () =>
    Promise.resolve(isLogged(/token.*address not allowed/iu)),
  );
  expect(connections).toBe(0);
});

test('audit events are sent to no address that the policy denies', async () => {
  await start('--egress-deny-cidrs=127.0.0.0/8,::1/128');
  const sink = createWebhookSink({
    configFile: kubeconfig('audit'),
    version: 'v1',
    initialBackoffMs: 1,
    requests: new ClientRequests(allowsOutsideOf(['127.0.0.0/8', '::1/128'])),
  });
  await expect(sink.write([], new AbortController().signal)).rejects.toThrow('address not allowed');
  await sink.close();
  expect(connections).toBe(0);
});

test('by default loopback addresses are called', async () => {
  await start();
  const [byAddress, byName] = await callAll();
  expect(`${String(byAddress)}${String(byName)}`).not.toContain('address not allowed');
  expect(connections).toBeGreaterThan(0);
});

function isLogged(pattern: RegExp): boolean {
  return logged.some((line) => pattern.test(line));
}
