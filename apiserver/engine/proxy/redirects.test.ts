import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BackendAnswer, BackendCall } from './backend-call';
import { callBackend } from './backend-call';
import { newConnectCounts } from './connect-counts';
import type { RedirectRules } from './redirects';
import { DEFAULT_REDIRECTS, followRedirects } from './redirects';

/** Redirect targets by path; other paths upgrade. */
const LEADS = new Map<string, string>([
  ['/exec?a=1', '/there?b=2'],
  ['/relative', 'there'],
  ['/around', '/around'],
  ['/elsewhere', 'http://localhost:PORT/there'],
  ['/other-port', 'http://127.0.0.1:PORT/there'],
  ['/nowhere', ''],
  ['/odd', 'ftp://127.0.0.1/there'],
]);

let agent: Server;
let port: number;
let seen: string[];

beforeEach(async () => {
  seen = [];
  agent = createServer((_request, response) => void response.writeHead(403).end('no'));
  agent.on('upgrade', (request, socket) => {
    const { url = '', method = '', headers } = request;
    seen.push(
      `${method} ${url} ${headers.upgrade ?? ''} ${(headers.host ?? '').replace(String(port), 'PORT')}`,
    );
    const location = LEADS.get(url);
    if (location === undefined) {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      return;
    }
    const header = location === '' ? '' : `Location: ${location.replace('PORT', String(port))}\r\n`;
    socket.end(`HTTP/1.1 302 Found\r\n${header}Content-Length: 0\r\nConnection: close\r\n\r\n`);
  });
  agent.listen(0, '127.0.0.1');
  await once(agent, 'listening');
  ({ port } = agent.address() as AddressInfo);
});
afterEach(() => {
  agent.close();
});

async function ask(target: string, rules: RedirectRules = DEFAULT_REDIRECTS): Promise<BackendAnswer> {
  const call: BackendCall = {
    scheme: 'http',
    host: '127.0.0.1',
    port,
    tls: {},
    method: 'POST',
    target,
    headers: { host: 'client.example', connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    upgrade: true,
    dialMsMax: 60_000,
    purpose: 'exec',
  };
  const { signal } = new AbortController();
  const answer = await followRedirects(call, rules, async (each) =>
    callBackend(each, newConnectCounts(), signal),
  );
  answer.end();
  return answer;
}

test('a redirected upgrade is repeated by GET with the host of the target', async () => {
  expect(await ask('/exec?a=1')).toMatchObject({ is: 'upgraded' });
  expect(seen).toEqual(['POST /exec?a=1 SPDY/3.1 client.example', 'GET /there?b=2 SPDY/3.1 127.0.0.1:PORT']);
  expect(await ask('/relative')).toMatchObject({ is: 'upgraded' });
  expect(await ask('/other-port')).toMatchObject({ is: 'upgraded' });
});

test.each([
  ['/elsewhere', 'hostname mismatch: expected 127.0.0.1, found localhost'],
  ['/nowhere', '302 response missing Location header'],
  ['/odd', 'malformed Location header: "ftp://127.0.0.1/there"'],
  ['/around', 'too many redirects (10)'],
])('a redirect of %s is refused: %s', async (target, message) => {
  await expect(ask(target)).rejects.toThrow(message);
});

test('the tenth redirect is refused', async () => {
  await expect(ask('/around')).rejects.toThrow('too many');
  expect(seen).toHaveLength(10);
});

test('without ValidateProxyRedirects a redirect to another host is followed', async () => {
  expect(await ask('/elsewhere', { areFollowed: true, isHostKept: false })).toMatchObject({ is: 'upgraded' });
  expect(seen.at(-1)).toContain('localhost:PORT');
});

test('without StreamingProxyRedirects no redirect is followed', async () => {
  expect(await ask('/exec?a=1', { areFollowed: false, isHostKept: true })).toMatchObject({ code: 302 });
  expect(seen).toHaveLength(1);
});
