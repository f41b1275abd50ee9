import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GROUP } from '../../../shared/names';
import type { AuditedServer } from '../../testing/audit/audited-server';
import { startAuditedServer } from '../../testing/audit/audited-server';
import type { TestIssuer } from './testing/test-issuer';
import { idToken, newRsaKey, startIssuer } from './testing/test-issuer';

const key = newRsaKey('k');
let issuer: TestIssuer;
let server: AuditedServer;
let dir = '';

const webhook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const { apiVersion, spec } = JSON.parse(text) as { apiVersion: string; spec: { token: string } };
    const status = spec.token === 'opaque' ? { authenticated: true, user: { username: 'remote' } } : {};
    response.end(JSON.stringify({ apiVersion, kind: 'TokenReview', status }));
  });
});

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'remote-'));
  issuer = await startIssuer([key]);
  webhook.listen({ host: '127.0.0.1', port: 0 });
  await once(webhook, 'listening');
  const { port } = webhook.address() as AddressInfo;
  writeFileSync(path.join(dir, 'issuer.crt'), issuer.caPem);
  writeFileSync(
    path.join(dir, 'webhook'),
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
      'current-context': 'x',
    }),
  );
  server = await startAuditedServer({
    policy: { rules: [{ level: 'None' }] },
    flags: [
      '--authorization-mode=AlwaysDeny',
      `--oidc-issuer-url=${issuer.url}`,
      '--oidc-client-id=cluster',
      `--oidc-ca-file=${path.join(dir, 'issuer.crt')}`,
      '--oidc-groups-claim=groups',
      '--oidc-username-prefix=-',
      `--authentication-token-webhook-config-file=${path.join(dir, 'webhook')}`,
    ],
  });
});
afterAll(async () => {
  await server.stop();
  await issuer.stop();
  webhook.closeAllConnections();
  await new Promise((resolve) => webhook.close(resolve));
  rmSync(dir, { recursive: true });
});

function tokenWith(claims: object): string {
  return idToken(key, 'RS256', { iss: issuer.url, aud: 'cluster', exp: Date.now() / 1000 + 60, ...claims });
}

test.each<[string, () => string, number, RegExp]>([
  ['an id_token', () => tokenWith({ sub: 'ida' }), 403, /User \\"ida\\" cannot list/],
  [
    'an id_token with the superusers’ group',
    () => tokenWith({ sub: 'ida', groups: ['system:masters'] }),
    200,
    /List/,
  ],
  ['an id_token for another client', () => tokenWith({ sub: 'ida', aud: 'x' }), 401, /Unauthorized/],
  ['a token that the service knows', () => 'opaque', 403, /User \\"remote\\" cannot list/],
  ['an unknown token', () => 'unheard-of', 401, /Unauthorized/],
])('%s', async (_what, token, code, text) => {
  const reply = await server.call('GET', '/api/v1/namespaces', { token: token() });
  expect(reply.code).toBe(code);
  expect(reply.text).toMatch(text);
});

test('reviews of tokens ask the same', async () => {
  const review = async (token: string): Promise<unknown> => {
    const { text } = await server.call('POST', `/apis/${GROUP.authentication}/v1/tokenreviews`, {
      body: { apiVersion: `${GROUP.authentication}/v1`, kind: 'TokenReview', spec: { token } },
    });
    return (JSON.parse(text) as { status: unknown }).status;
  };
  expect(await review(tokenWith({ sub: 'ida', groups: ['g'] }))).toMatchObject({
    authenticated: true,
    user: { username: 'ida', groups: ['g', 'system:authenticated'] },
  });
  expect(await review('opaque')).toMatchObject({ authenticated: true, user: { username: 'remote' } });
  expect(await review(tokenWith({ sub: 'ida', exp: 1 }))).toMatchObject({
    error: '[invalid bearer token, oidc: the token has expired]',
  });
});
