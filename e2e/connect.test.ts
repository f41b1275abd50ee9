import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer, get as httpGet } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { ensureCredentials } from '../deploy/local/credentials';
import { issueCertificate } from '../shared/certs/certificate';
import { forEachLimited } from '../shared/concurrency/for-each-limited';
import { eventually, patience } from '../shared/testing/eventually';
import type { ApiClient } from './support/client';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, followKubectl, runKubectl } from './support/kubectl';
import type { LocalServer } from './support/local-server';
import { startLocalServer } from './support/local-server';
import { pod } from './support/objects';
import { sized } from './support/scale';
import type { StreamAgent } from './support/stream-agent/stream-agent';
import { AGENT_ADDRESS, startStreamAgent } from './support/stream-agent/stream-agent';
import { explained } from './support/workspace';

const POD = 'web';
const CONTAINER = 'main';
const NODE = 'n1';
/** Concurrent streams through one server. */
const STREAMS = sized({ small: 50, full: 1_000 });
/** The agent runs a process for each stream on the same processors as the test. */
const OPENED_AT_ONCE = 16;

const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'Metadata', resources: [{ group: '', resources: ['pods/exec', 'nodes/proxy'] }] },
    { level: 'None' },
  ],
};

let local: LocalServer;
let agent: StreamAgent;
let client: ApiClient;

beforeAll(
  explained(async () => {
    local = await startLocalServer('kubernetes', async (dir) => {
      const { signingAuthority } = ensureCredentials(dir);
      agent = await startStreamAgent({ dir, clientCaFile: signingAuthority.certFile });
      const authority = {
        certificatePem: readFileSync(signingAuthority.certFile, 'utf8'),
        privateKeyPem: readFileSync(signingAuthority.keyFile, 'utf8'),
      };
      const issued = issueCertificate(authority, {
        commonName: 'kube-apiserver-kubelet-client',
        usages: ['client'],
        validDays: 1,
      });
      const [certFile, keyFile] = [path.join(dir, 'agent-client.crt'), path.join(dir, 'agent-client.key')];
      writeFileSync(certFile, issued.certificatePem);
      writeFileSync(keyFile, issued.privateKeyPem);
      const policyFile = path.join(dir, 'audit-policy.json');
      writeFileSync(policyFile, JSON.stringify(AUDIT_POLICY));
      return [
        `--audit-policy-file=${policyFile}`,
        `--audit-log-path=${path.join(dir, 'audit.log')}`,
        `--kubelet-client-certificate=${certFile}`,
        `--kubelet-client-key=${keyFile}`,
        `--kubelet-certificate-authority=${agent.caFile}`,
        // The agent shares its processors with the test.
        '--kubelet-timeout=3m',
      ];
    });
    ({ client } = local.replica);
    await client.create('/api/v1/nodes', { metadata: { name: NODE } });
    await client.mergePatch(`/api/v1/nodes/${NODE}/status`, {
      status: {
        addresses: [{ type: 'InternalIP', address: AGENT_ADDRESS }],
        daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
      },
    });
    await client.create('/api/v1/namespaces/default/pods', {
      ...pod(POD),
      spec: { nodeName: NODE, containers: [{ name: CONTAINER, image: 'x' }] },
    });
    await client.mergePatch(`/api/v1/namespaces/default/pods/${POD}/status`, {
      status: { phase: 'Running' },
    });
  }),
);

afterAll(async () => {
  await local?.stop();
  await agent?.stop();
});

/** The open streams by the metric of the server. */
async function openStreams(): Promise<number> {
  const { text } = await client.get('/metrics');
  const found = [...text.matchAll(/^apiserver_backend_connections\{[^}]*\} (\d+)$/gmu)];
  return found.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function nothingIsLeft(): Promise<void> {
  await eventually('every connection to the agent is closed', async () => agent.connections() === 0);
  await eventually('the server counts no stream', async () => (await openStreams()) === 0);
}

const OVER: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
  ['WebSocket where it knows that', {}],
];

for (const { title, program } of findKubectls()) {
  const describeIfFound = program === undefined ? describe.skip : describe;
  describeIfFound.each(OVER)(`${title} over %s`, (_over, env) => {
    const found = program ?? '';
    const options = (): { kubeconfig: string; home: string; env: Readonly<Record<string, string>> } => {
      const home = path.join(local.dir, 'home');
      mkdirSync(home, { recursive: true });
      return { kubeconfig: local.replica.kubeconfig, home, env };
    };
    const kubectl = async (args: readonly string[], input = ''): Promise<KubectlResult> =>
      runKubectl(found, args, { ...options(), input });

    test('exec passes the input to the command, and returns both outputs and the exit code', async () => {
      expect(await kubectl(['exec', '-i', POD, '--', 'cat'], 'to the container\n')).toEqual({
        exitCode: 0,
        stdout: 'to the container\n',
        stderr: '',
      });
      const failed = await kubectl(['exec', POD, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
      expect(failed).toMatchObject({ exitCode: 3, stdout: 'out\n' });
      expect(failed.stderr).toContain('err\n');
      await nothingIsLeft();
    });

    test('exec carries a megabyte in both directions unchanged', async () => {
      const text = `${'0123456789abcdef'.repeat(64)}\n`.repeat(1_024);
      const echoed = await kubectl(['exec', '-i', POD, '--', 'cat'], text);
      expect(echoed.exitCode).toBe(0);
      expect(echoed.stdout === text).toBe(true);
    });

    test('attach connects to the streams of the running command', async () => {
      const attached = await kubectl(['attach', '-i', POD], 'hello\n');
      expect(attached.stdout).toContain('hello\n');
    });

    test('cp copies a folder in both directions', async () => {
      const folder = path.join(local.dir, 'copied');
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'a.txt'), 'A'.repeat(100_000));
      const there = await kubectl(['cp', folder, `${POD}:there`]);
      expect(there).toMatchObject({ exitCode: 0 });
      const back = path.join(local.dir, 'back');
      expect(await kubectl(['cp', `${POD}:there`, back])).toMatchObject({ exitCode: 0 });
      expect(readFileSync(path.join(back, 'a.txt'), 'utf8')).toBe('A'.repeat(100_000));
    });

    test('logs prints the end of a log and follows it', async () => {
      for (const line of ['one', 'two', 'three']) agent.say('default', POD, CONTAINER, line);
      const tail = await kubectl(['logs', POD, '--tail=2', '--timestamps']);
      expect(tail.stdout).toBe('2021-04-08T00:00:00Z two\n2021-04-08T00:00:00Z three\n');
      const following = followKubectl(found, ['logs', '-f', '--tail=1', POD], options());
      expect((await following.lines.next()).value).toBe('three');
      agent.say('default', POD, CONTAINER, 'four');
      expect((await following.lines.next()).value).toBe('four');
      following.stop();
      await nothingIsLeft();
    });

    test('port-forward connects to the port of the pod', async () => {
      const server = await startPage('from the pod');
      const { port } = server.address() as AddressInfo;
      const forwarding = followKubectl(found, ['port-forward', POD, `:${String(port)}`], options());
      const { value } = await forwarding.lines.next();
      const here = /127\.0\.0\.1:(\d+)/u.exec(String(value))?.[1] ?? '';
      expect(await pageAt(`http://127.0.0.1:${here}/`)).toBe('from the pod');
      expect(await pageAt(`http://127.0.0.1:${here}/`)).toBe('from the pod');
      forwarding.stop();
      await nothingIsLeft();
      server.close();
    });

    test('proxy serves the pages of the node', async () => {
      const proxying = followKubectl(found, ['proxy', '--port=0'], options());
      const { value } = await proxying.lines.next();
      const here = /127\.0\.0\.1:\d+/u.exec(String(value))?.[0] ?? '';
      const page = await pageAt(`http://${here}/api/v1/nodes/${NODE}/proxy/page`);
      expect(page).toContain(`href="/api/v1/nodes/${NODE}/proxy/other"`);
      proxying.stop();
    });
  });
}

test('the agent sees the certificate of the server, and no credential of the client', async () => {
  await client.get(`/api/v1/nodes/${NODE}/proxy/page?a=1`);
  const seen = agent.seen.at(-1);
  expect(seen).toMatchObject({ user: 'kube-apiserver-kubelet-client', url: '/page?a=1', method: 'GET' });
  expect(seen?.headers.authorization).toBeUndefined();
  expect(seen?.headers['x-forwarded-for']).toBe('127.0.0.1');
});

test('a proxy carries every method, redirects and links, and bodies of any size', async () => {
  const at = `/api/v1/nodes/${NODE}/proxy`;
  const body = Buffer.alloc(8 * 1024 * 1024, 'x');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const echoed = await client.request({ method, path: `${at}/echo`, body });
    expect(echoed.headers['x-method']).toBe(method);
    expect(echoed.bytes.equals(body)).toBe(true);
  }
  const moved = await client.get(`${at}/moved`);
  expect(moved).toMatchObject({ status: 302, headers: { location: `${at}/page` } });
  expect((await client.get(`${at}/page`)).text).toBe(
    `<a href="${at}/other">there</a><a href="near">near</a><a href="https://example.com/">far</a>`,
  );
  expect((await client.get(at)).headers.location).toBe(`${at}/`);
  expect((await client.get(`${at}/nowhere`)).text).toBe('no such page');
});

test('concurrent streams carry their own data, and those of a killed client are closed', async () => {
  const streams: Upgraded[] = [];
  await forEachLimited(Array.from({ length: STREAMS }).keys(), OPENED_AT_ONCE, async (at) => {
    streams.push(await openExec(`stream ${String(at)}`));
  });
  expect(await openStreams()).toBe(STREAMS);
  for (const { socket } of streams.slice(0, STREAMS / 2)) socket.destroy();
  await eventually('half of the streams are closed', async () => (await openStreams()) === STREAMS / 2);
  for (const { socket } of streams) socket.end();
  await nothingIsLeft();
});

test('an upgrade without the right to it is refused', async () => {
  const refused = await upgrade('Bearer unknown');
  expect(refused.head).toMatch(/^HTTP\/1\.1 401 /u);
  const plain = await client.create(
    `/api/v1/namespaces/default/pods/${POD}/exec?command=ls&stdout=1`,
    undefined,
  );
  expect(plain.body).toMatchObject({ code: 400, message: 'Upgrade request required' });
});

test('the audit log records every connection with its upgrade and its end', async () => {
  const { socket } = await openExec('for the record');
  const events = (): readonly AuditEvent[] =>
    readFileSync(path.join(local.dir, 'audit.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent);
  const started = (): AuditEvent | undefined =>
    events().findLast(
      ({ stage, objectRef }) => stage === 'ResponseStarted' && objectRef?.subresource === 'exec',
    );
  await eventually('the audit log records the upgrade', () => started() !== undefined);
  expect(started()).toMatchObject({
    level: 'Metadata',
    verb: 'get',
    user: { username: 'admin' },
    objectRef: { resource: 'pods', subresource: 'exec', name: POD, namespace: 'default', apiVersion: 'v1' },
    requestURI: `/api/v1/namespaces/default/pods/${POD}/exec?command=cat&stdin=1&stdout=1`,
    responseStatus: { code: 101 },
  });
  const { auditID } = started() ?? {};
  socket.destroy();
  await eventually('the audit log records the end', () =>
    events().some((event) => event.stage === 'ResponseComplete' && event.auditID === auditID),
  );
  await client.get(`/api/v1/nodes/${NODE}/proxy/page`);
  await eventually('the audit log records the proxy', () =>
    events().some(({ objectRef, verb }) => objectRef?.subresource === 'proxy' && verb === 'get'),
  );
});

test('an unreachable agent is reported as in v1.21', async () => {
  await client.create('/api/v1/nodes', { metadata: { name: 'gone' } });
  await client.mergePatch('/api/v1/nodes/gone/status', {
    status: {
      addresses: [{ type: 'InternalIP', address: AGENT_ADDRESS }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
    },
  });
  expect((await client.get('/api/v1/nodes/gone/proxy/metrics')).body).toMatchObject({
    code: 503,
    reason: 'ServiceUnavailable',
    message: `error trying to reach service: dial tcp ${AGENT_ADDRESS}:1: connect: connection refused`,
  });
});

async function startPage(text: string): Promise<Server> {
  const server = createServer((_request, response) => response.end(text));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function pageAt(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent: false, signal: patience() }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve(Buffer.concat(pieces).toString()));
      response.on('error', reject);
    }).on('error', reject);
  });
}

interface AuditEvent {
  readonly stage: string;
  readonly auditID: string;
  readonly verb: string;
  readonly objectRef?: { readonly subresource?: string };
}

interface Upgraded {
  readonly socket: Socket;
  readonly head: string;
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** A hand-written WebSocket client, so that no library corrects the server. */
async function upgrade(authorization: string): Promise<Upgraded> {
  const { server, caFile } = local.replica;
  const { hostname, port } = new URL(server);
  const socket = connectTls({ host: hostname, port: Number(port), ca: readFileSync(caFile) });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect', { signal: patience() });
  const query = 'command=cat&stdin=1&stdout=1';
  socket.write(
    `GET /api/v1/namespaces/default/pods/${POD}/exec?${query} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n` +
      `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n` +
      'Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n',
  );
  const [head] = (await once(socket, 'data', { signal: patience() })) as [Buffer];
  return { socket, head: head.toString('latin1') };
}

/** Starts an exec that echoes its input, and waits for the first echo. */
async function openExec(text: string): Promise<Upgraded> {
  const token = readFileSync(path.join(local.dir, 'tokens.csv'), 'utf8').split(',')[0] ?? '';
  const opened = await upgrade(`Bearer ${token}`);
  expect(opened.head).toMatch(/^HTTP\/1\.1 101 /u);
  const payload = Buffer.from(`\u0000${text}`);
  const mask = Buffer.alloc(4);
  opened.socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | payload.length]), mask, payload]));
  let echoed = '';
  while (!echoed.includes(`\u0001${text}`)) {
    const [piece] = (await once(opened.socket, 'data', { signal: patience() })) as [Buffer];
    echoed += piece.toString('latin1');
  }
  return opened;
}
