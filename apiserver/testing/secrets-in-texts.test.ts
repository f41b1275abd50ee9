import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Log } from '../../shared/log/log';
import { GROUP } from '../../shared/names';
import type { AuditedServer, CallOptions, Reply } from './audit/audited-server';
import { startAuditedServer, temporaryDirectory } from './audit/audited-server';

/**
 * Sends secrets in every place in which clients and operators give them to the server, and looks for them in what others can read: log lines of all
 * levels, audit events with metadata, metrics, and error texts.
 */

/** In every secret. It is also valid base64. */
const MARK = 'hunter2hunter2hunter';
const lines: string[] = [];
let server: AuditedServer;
/** A Redis that refuses every password. */
const redisServer = createServer((socket) => {
  socket
    .on('error', () => undefined)
    .on('data', () => socket.write('-WRONGPASS invalid username-password pair\r\n'));
});

beforeAll(async () => {
  await once(redisServer.listen(0, '127.0.0.1'), 'listening');
  const { port } = redisServer.address() as AddressInfo;
  const dir = temporaryDirectory();
  const kubeconfig = path.join(dir, 'webhook.kubeconfig');
  const named = (what: string, value: object): object => [{ name: 'a', [what]: value }];
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      // No server listens on this port.
      clusters: named('cluster', { server: 'https://127.0.0.1:1' }),
      users: named('user', { token: MARK }),
      contexts: named('context', { cluster: 'a', user: 'a' }),
      'current-context': 'a',
    }),
  );
  process.env['ORCH_TEST_PASSWORD'] = MARK;
  const keyFile = path.join(dir, 'answers.key');
  writeFileSync(keyFile, `${MARK}${MARK}`);
  const note = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields, withErrors)}`);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  const redis = `redis://user:$(ORCH_TEST_PASSWORD)@127.0.0.1:${String(port)}`;
  server = await startAuditedServer(
    {
      policy: { rules: [{ level: 'Metadata' }] },
      log,
      flags: [
        '--authorization-mode=RBAC',
        '--enable-bootstrap-token-auth',
        `--authentication-token-webhook-config-file=${kubeconfig}`,
        `--shared-limits-redis=${redis}`,
        `--shared-webhook-cache-redis=${redis}`,
        `--shared-webhook-cache-key-file=${keyFile}`,
      ],
    },
    dir,
  );
});
afterAll(async () => {
  delete process.env['ORCH_TEST_PASSWORD'];
  await server.stop();
  redisServer.close();
});

function withErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { ...Object.fromEntries(Object.entries(value)), text: value.stack, cause: value.cause };
}

const SECRETS = '/api/v1/namespaces/default/secrets';
const encoded = Buffer.from(MARK).toString('base64');
const basic = Buffer.from(`user:${MARK}`).toString('base64');
const stored = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'stored' },
  immutable: true,
  data: { key: encoded },
};
const contentType = (type: string): Readonly<Record<string, string>> => ({ 'content-type': type });
const review = (kind: string, spec: object): CallOptions => ({
  body: { apiVersion: `${GROUP.authentication}/v1`, kind, spec },
});
const bound = `/apis/${GROUP.authentication}/v1/tokenreviews`;

const REQUESTS: readonly (readonly [what: string, method: string, url: string, options: CallOptions])[] = [
  ['a token in the query', 'GET', `/api/v1/pods?access_token=${MARK}&token=${MARK}`, {}],
  [
    'a password in the query of a proxied request',
    'GET',
    `${SECRETS.replace('secrets', 'pods')}/a/proxy/?password=${MARK}`,
    {},
  ],
  ['an encoded name in the query', 'GET', `/healthz?%74oken=${MARK}`, {}],
  ['an unknown bearer token', 'GET', SECRETS, { token: MARK }],
  ['a bootstrap token', 'GET', SECRETS, { token: `abcdef.${MARK.slice(0, 16)}` }],
  ['a token that resembles a JWT', 'GET', SECRETS, { token: `${encoded}.${encoded}.${MARK}` }],
  ['a password', 'GET', SECRETS, { token: '', headers: { authorization: `Basic ${basic}` } }],
  [
    'a token as a WebSocket protocol',
    'GET',
    `${SECRETS}?watch=1`,
    {
      token: '',
      headers: { 'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${encoded}` },
    },
  ],
  ['a cookie', 'GET', SECRETS, { token: '', headers: { cookie: `session=${MARK}` } }],
  ['a review of an unknown token', 'POST', bound, review('TokenReview', { token: MARK })],
  ['a Secret of another type of data', 'POST', SECRETS, { body: { ...stored, data: { key: [MARK] } } }],
  ['a Secret whose data is no base64', 'POST', SECRETS, { body: { ...stored, data: { key: `${MARK}!` } } }],
  [
    'a Secret with a number as text',
    'POST',
    SECRETS,
    { body: { ...stored, stringData: { key: { [MARK]: 1 } } } },
  ],
  ['a Secret that is no JSON', 'POST', SECRETS, { raw: `{"data": {"key": "${MARK}` }],
  [
    'a Secret that is no YAML',
    'POST',
    SECRETS,
    { raw: `data: {key: ${MARK}\n  - "`, headers: contentType('application/yaml') },
  ],
  ['a TLS Secret without its key', 'POST', SECRETS, { body: { ...stored, type: 'kubernetes.io/tls' } }],
  [
    'a registry configuration that is no JSON',
    'POST',
    SECRETS,
    { body: { ...stored, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': encoded } } },
  ],
  ['a Secret', 'POST', SECRETS, { body: stored }],
  ['a Secret that exists', 'POST', SECRETS, { body: stored }],
  [
    'a change of an immutable Secret',
    'PUT',
    `${SECRETS}/stored`,
    { body: { ...stored, data: { key: basic } } },
  ],
  [
    'a merge patch of an immutable Secret',
    'PATCH',
    `${SECRETS}/stored`,
    { body: { stringData: { key: `${MARK}2` } } },
  ],
  [
    'a JSON patch whose test fails',
    'PATCH',
    `${SECRETS}/stored`,
    {
      body: [{ op: 'test', path: '/data/key', value: MARK }],
      headers: contentType('application/json-patch+json'),
    },
  ],
  [
    'a JSON patch below a text',
    'PATCH',
    `${SECRETS}/stored`,
    {
      body: [{ op: 'add', path: '/data/key/a', value: MARK }],
      headers: contentType('application/json-patch+json'),
    },
  ],
  ['a patch that is no JSON', 'PATCH', `${SECRETS}/stored`, { raw: `{"data": "${MARK}` }],
  [
    'an apply configuration of an immutable Secret',
    'PATCH',
    `${SECRETS}/stored?fieldManager=a&force=true`,
    {
      raw: JSON.stringify({ ...stored, data: { key: basic } }),
      headers: contentType('application/apply-patch+yaml'),
    },
  ],
  ['a field selector with a value', 'GET', `${SECRETS}?fieldSelector=data.key%3D1`, {}],
];

test.each(REQUESTS)('the response to %s does not repeat it', async (_what, method, url, options) => {
  const { code, text } = await server.call(method, url, options);
  expect(leaksIn(code === 201 ? '' : text)).toEqual([]);
});

test('no log line, audit event or metric contains a secret', async () => {
  const { text: metrics } = await server.call('GET', '/metrics');
  const last = { headers: { 'audit-id': 'last' } };
  await server.call('GET', '/version', last);
  await server.untilEvents('last', 2);
  const events = server.events();
  expect(events.length).toBeGreaterThan(REQUESTS.length);
  for (const logged of [
    'the shared store does not answer',
    'authentication webhook call failed',
    'bootstrap token',
  ])
    expect(lines.join('\n')).toContain(logged);
  expect(
    [lines, metrics.split('\n'), events.map((event) => JSON.stringify(event))].map((each) =>
      each.flatMap(leaksIn),
    ),
  ).toEqual([[], [], []]);
});

test('the pages of an administrator do not show the password of Redis', async () => {
  const pages: Reply[] = [];
  for (const page of [
    '/debug/flags/v',
    '/configz',
    '/flagz',
    '/statusz',
    '/livez?verbose',
    '/debug/pprof/cmdline',
  ])
    pages.push(await server.call('GET', page));
  expect(pages.flatMap(({ text }) => leaksIn(text))).toEqual([]);
});

/** Returns the place at which a text contains a secret. */
function leaksIn(text: string): readonly string[] {
  return [MARK, encoded, basic]
    .map((secret) => text.indexOf(secret))
    .filter((index) => index >= 0)
    .map((index) => text.slice(Math.max(0, index - 200), index + 60));
}
