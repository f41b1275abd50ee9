import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NAMESPACE, SECRET_TYPE } from '../../../shared/names';
import type { AuditedServer } from '../../testing/audit/audited-server';
import { startAuditedServer } from '../../testing/audit/audited-server';
import type { TestCertificate } from '../../../shared/certs/testing/test-certificates';
import { CLIENT_AUTH, testAuthority, testCertificate } from '../../../shared/certs/testing/test-certificates';

const clients = testAuthority({ commonName: 'clients' });
const middle = testAuthority({ commonName: 'middle', issuer: clients });
const proxies = testAuthority({ commonName: 'proxies' });
const usages = { extendedUsages: [CLIENT_AUTH] };
const alice = testCertificate({
  ...usages,
  commonName: 'alice',
  organizations: ['g1', 'g2'],
  issuer: middle,
});
const nameless = testCertificate({ ...usages, organizations: ['g1'], issuer: clients });
const expired = testCertificate({
  ...usages,
  commonName: 'old',
  issuer: clients,
  notAfterMs: Date.now() - 1_000,
});
const stranger = testCertificate({ ...usages, commonName: 'stranger', issuer: testAuthority() });
const proxy = testCertificate({ ...usages, commonName: 'front', issuer: proxies });
const otherProxy = testCertificate({ ...usages, commonName: 'back', issuer: proxies });

let server: AuditedServer;
let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'authn-'));
  writeFileSync(path.join(dir, 'clients.crt'), clients.pem);
  writeFileSync(path.join(dir, 'proxies.crt'), proxies.pem);
  server = await startAuditedServer({
    policy: { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] },
    flags: [
      '--authorization-mode=AlwaysDeny',
      `--client-ca-file=${path.join(dir, 'clients.crt')}`,
      `--requestheader-client-ca-file=${path.join(dir, 'proxies.crt')}`,
      '--requestheader-allowed-names=front',
      '--requestheader-username-headers=X-Remote-User,X-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--enable-bootstrap-token-auth',
    ],
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true });
});

interface Asked {
  readonly shown?: readonly TestCertificate[];
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Sends a request that no user may make: the refusal names the user. */
async function whoIs({ shown = [], headers = {} }: Asked): Promise<string> {
  const { code, text } = await send('/api/v1/pods', { shown, headers });
  if (code === 200) return 'superuser';
  const { message } = JSON.parse(text) as { message: string };
  return code === 403
    ? (/^pods is forbidden: User "(.*)" cannot/.exec(message)?.[1] ?? message)
    : `${String(code)} ${message}`;
}

async function send(
  url: string,
  { shown = [], headers = {} }: Asked,
): Promise<{ code: number; text: string }> {
  const [own] = shown;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: server.port,
        path: url,
        agent: false,
        rejectUnauthorized: false,
        headers: headers as Record<string, string | string[]>,
        ...(own === undefined ? {} : { key: own.keyPem, cert: shown.map(({ pem }) => pem).join('') }),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => {
          resolve({ code: response.statusCode ?? 0, text });
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

const UNAUTHORIZED = '401 Unauthorized';

test.each<[string, Asked, string]>([
  ['nothing is anonymous', {}, 'system:anonymous'],
  ['a certificate is its common name', { shown: [alice, middle] }, 'alice'],
  ['a certificate without the link to its authority is refused', { shown: [alice] }, UNAUTHORIZED],
  [
    'a certificate without a common name identifies no user and no proxy',
    { shown: [nameless] },
    UNAUTHORIZED,
  ],
  ['an expired certificate is refused', { shown: [expired] }, UNAUTHORIZED],
  ['a certificate of others is refused', { shown: [stranger] }, UNAUTHORIZED],
  [
    'a token counts where a certificate does not',
    { shown: [stranger], headers: { authorization: 'Bearer weak' } },
    'bob',
  ],
  [
    'a certificate counts where a token does not',
    { shown: [alice, middle], headers: { authorization: 'Bearer wrong' } },
    'alice',
  ],
  ['a wrong token is refused', { headers: { authorization: 'Bearer wrong' } }, UNAUTHORIZED],
  ['a proxy says who it is', { shown: [proxy], headers: { 'x-remote-user': 'carol' } }, 'carol'],
  [
    'the first header with a value counts',
    { shown: [proxy], headers: { 'X-Remote-User': '', 'X-User': 'dave' } },
    'dave',
  ],
  ['a proxy without a user is refused, as it is no client', { shown: [proxy] }, UNAUTHORIZED],
  [
    'a proxy of another name is not believed',
    { shown: [otherProxy], headers: { 'x-remote-user': 'carol' } },
    UNAUTHORIZED,
  ],
  ['a client is no proxy', { shown: [alice, middle], headers: { 'x-remote-user': 'carol' } }, 'alice'],
  ['headers alone are not believed', { headers: { 'x-remote-user': 'carol' } }, 'system:anonymous'],
  [
    'groups come from the proxy, of all headers',
    { shown: [proxy], headers: { 'x-remote-user': 'carol', 'x-remote-group': ['a', 'system:masters'] } },
    'superuser',
  ],
])('%s', async (_what, asked, expected) => {
  expect(await whoIs(asked)).toBe(expected);
});

test('the user is all that the proxy says', async () => {
  const headers = {
    'audit-id': 'by-proxy',
    'x-remote-user': 'carol',
    'x-remote-group': ['a', '', 'b'],
    'x-remote-extra-Acme%2fTeam': ['x', 'y'],
  };
  expect(await whoIs({ shown: [proxy], headers })).toBe('carol');
  const [event] = await server.untilEvents('by-proxy', 1);
  expect(event).toMatchObject({
    user: {
      username: 'carol',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'acme/team': ['x', 'y'] },
    },
  });
});

test('extension API servers find the client authorities in the ConfigMap', async () => {
  const list = `/api/v1/namespaces/${NAMESPACE.system}/configmaps?watch=1&fieldSelector=metadata.name%3Dextension-apiserver-authentication`;
  const watch = await server.open('GET', list);
  const [first] = (await once(watch, 'data')) as [Buffer];
  watch.destroy();
  expect(JSON.parse(first.toString())).toMatchObject({
    type: 'ADDED',
    object: {
      data: {
        'client-ca-file': clients.pem,
        'requestheader-client-ca-file': proxies.pem,
        'requestheader-allowed-names': '["front"]',
      },
    },
  });
});

test('a bootstrap token is good as long as its Secret is there', async () => {
  const secrets = `/api/v1/namespaces/${NAMESPACE.system}/secrets`;
  const headers = { authorization: 'Bearer abc123.0123456789abcdef' };
  expect(await whoIs({ headers })).toBe(UNAUTHORIZED);
  const made = await server.call('POST', secrets, {
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-abc123' },
      type: SECRET_TYPE.bootstrapToken,
      stringData: {
        'token-id': 'abc123',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    },
  });
  expect(made.code).toBe(201);
  expect(await whoIs({ headers })).toBe('system:bootstrap:abc123');
  expect((await server.call('DELETE', `${secrets}/bootstrap-token-abc123`)).code).toBe(200);
  expect(await whoIs({ headers })).toBe(UNAUTHORIZED);
});

test('metrics tell how authentication ended, and what is left of certificates', async () => {
  await whoIs({ shown: [alice, middle] });
  await whoIs({ headers: { authorization: 'Bearer wrong' } });
  const { text } = await server.call('GET', '/metrics');
  expect(text).toMatch(/^authentication_attempts\{result="success"\} [1-9]/m);
  expect(text).toMatch(/^authentication_attempts\{result="error"\} [1-9]/m);
  expect(text).toMatch(/^authenticated_user_requests\{username="other"\} [1-9]/m);
  expect(text).toMatch(/^apiserver_client_certificate_expiration_seconds_bucket\{le="3600"\} [1-9]/m);
});

describe('signatures are checked under both authorities together', () => {
  let verify: jest.SpyInstance;
  beforeEach(() => {
    verify = jest.spyOn(X509Certificate.prototype, 'verify');
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('never with the keys of strangers, though many of them have issued each other', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'sect571k1' });
    const sent = Array.from({ length: 16 }, () => testAuthority({ commonName: 'X', keys }));
    const [issuer = clients] = sent;
    const shown = [testCertificate({ ...usages, commonName: 'leaf', issuer }), ...sent];
    expect(await whoIs({ shown })).toBe(UNAUTHORIZED);
    expect(verify).toHaveBeenCalledTimes(0);
  });

  test('32 times at most, for a chain that takes the names of both, and not again for the same chain', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const sent = ['clients', 'proxies'].flatMap((commonName) =>
      Array.from({ length: 8 }, () => testAuthority({ commonName, keys })),
    );
    const [issuer = clients] = sent;
    const shown = [testCertificate({ ...usages, commonName: 'leaf', issuer }), ...sent];
    expect(await whoIs({ shown })).toBe(UNAUTHORIZED);
    const times = verify.mock.calls.length;
    expect(times).toBeGreaterThan(0);
    expect(times).toBeLessThanOrEqual(2 * 16);
    expect(await whoIs({ shown })).toBe(UNAUTHORIZED);
    expect(verify).toHaveBeenCalledTimes(times);
  });
});
