import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { patience } from '../shared/testing/eventually';
import type { ApiClient } from './support/client';
import type { LocalServer } from './support/local-server';
import { startLocalServer } from './support/local-server';
import { pod } from './support/objects';
import { externalAddress } from '../shared/testing/external-address';
import { explained } from './support/workspace';

const PODS = '/api/v1/namespaces/default/pods';
const SERVICES = '/api/v1/namespaces/default/services';
const PAGE = '<a href="/other">there</a><a href="near">near</a><a href="https://example.com/">far</a>';

/** The proxy refuses loopback addresses. */
const address = externalAddress;
const describeIfReachable = address === undefined ? describe.skip : describe;

let local: LocalServer;
let client: ApiClient;
let server: Server;
let port: number;
let seen: IncomingMessage[];

beforeAll(
  explained(async () => {
    if (address === undefined) return;
    server = createServer((request, response) => {
      seen.push(request);
      const [at] = (request.url ?? '').split('?');
      if (at === '/moved') response.writeHead(302, { location: '/page?a=1' }).end();
      else if (at === '/away') response.writeHead(302, { location: 'https://example.com/' }).end();
      else if (at === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      else if (at === '/missing') response.writeHead(404, { 'x-own': 'kept' }).end('no such page');
      else {
        response.writeHead(200, { 'x-method': request.method, 'x-url': request.url });
        request.pipe(response);
      }
    });
    server.on('upgrade', (request, socket: Socket) => {
      seen.push(request);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    server.listen(0, address);
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    local = await startLocalServer('kubernetes');
    ({ client } = local.replica);
    await client.create(PODS, pod('web'));
    await client.mergePatch(`${PODS}/web/status`, {
      status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }] },
    });
    await client.create(SERVICES, {
      metadata: { name: 'web' },
      spec: { ports: [{ name: 'http', port: 80 }] },
    });
    await client.create('/api/v1/namespaces/default/endpoints', {
      metadata: { name: 'web' },
      subsets: [
        {
          addresses: [{ ip: address, targetRef: { kind: 'Pod', name: 'web', namespace: 'default' } }],
          ports: [{ name: 'http', port }],
        },
      ],
    });
  }),
);

afterAll(async () => {
  await local?.stop();
  server?.close();
});

beforeEach(() => {
  seen = [];
});

describeIfReachable.each([
  ['a pod', () => `${PODS}/web:${String(port)}/proxy`],
  ['a Service', () => `${SERVICES}/web:http/proxy`],
])('the proxy of %s', (_what, root) => {
  test('forwards the method, the query and the body, and returns the response', async () => {
    const got = await client.get(`${root()}/a/b%20c?x=1&y=%2F`);
    expect(got).toMatchObject({ status: 200, headers: { 'x-method': 'GET', 'x-url': '/a/b%20c?x=1&y=%2F' } });
    const body = Buffer.alloc(1024 * 1024, 'x');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const echoed = await client.request({ method, path: `${root()}/echo?z=2`, body });
      expect(echoed).toMatchObject({ status: 200, headers: { 'x-method': method, 'x-url': '/echo?z=2' } });
      expect(echoed.bytes.equals(body)).toBe(true);
    }
  });

  test('forwards the address of the client without its credentials', async () => {
    await client.get(`${root()}/echo`);
    const [{ headers } = {}] = seen;
    expect(headers?.authorization).toBeUndefined();
    expect(headers?.['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers?.['x-forwarded-uri']).toBe(`${root()}/echo`);
  });

  test('rewrites redirects and links to the same backend, and no others', async () => {
    expect((await client.get(`${root()}/moved`)).headers.location).toBe(`${root()}/page?a=1`);
    expect((await client.get(`${root()}/away`)).headers.location).toBe('https://example.com/');
    const page = await client.get(`${root()}/page`);
    expect(page.text).toBe(
      `<a href="${root()}/other">there</a><a href="near">near</a><a href="https://example.com/">far</a>`,
    );
    expect(await client.get(root())).toMatchObject({ status: 301, headers: { location: `${root()}/` } });
  });

  test('returns an error response of the backend unchanged', async () => {
    expect(await client.get(`${root()}/missing`)).toMatchObject({
      status: 404,
      text: 'no such page',
      headers: { 'x-own': 'kept' },
    });
  });

  test('connects an upgraded connection with that of the client', async () => {
    const { server: url, caFile } = local.replica;
    const { hostname, port: at } = new URL(url);
    const token = readFileSync(path.join(local.dir, 'tokens.csv'), 'utf8').split(',')[0] ?? '';
    const socket = connectTls({ host: hostname, port: Number(at), ca: readFileSync(caFile) });
    await once(socket, 'secureConnect', { signal: patience() });
    socket.write(
      `GET ${root()}/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data', { signal: patience() })) as [Buffer];
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /u);
    socket.write('over there');
    let echoed = '';
    while (echoed !== 'over there') {
      const [piece] = (await once(socket, 'data', { signal: patience() })) as [Buffer];
      echoed += piece.toString('latin1');
    }
    expect(seen.at(-1)).toMatchObject({ url: '/live', headers: { upgrade: 'echo' } });
    socket.destroy();
  });
});
