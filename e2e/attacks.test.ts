import { setMaxListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { repositoryRoot } from '../deploy/local/repository';
import { makeCa } from '../shared/certs/certificate';
import { eventually } from '../shared/testing/eventually';
import { ATTACKS } from './bench/attacks/attacks';
import { fillForAttacks } from './bench/attacks/fill';
import type { SlowWebhook } from './bench/attacks/slow-webhook';
import { startSlowWebhook } from './bench/attacks/slow-webhook';
import { SMALL } from './bench/attacks/stored';
import { Victim } from './bench/attacks/victim';
import { ApiClient } from './support/client';
import { httpVersion } from './support/http-version';
import { suiteLocalServer } from './support/suite';

/**
 * Runs each attack of the security reviews, and those known for HTTP/2, once against a server with default limits. Unit tests cover each limit;
 * this suite shows that it is wired in. The flags only enable the attacked features: certificates and bootstrap tokens.
 */
const local = suiteLocalServer(
  'kubernetes',
  (dir) => {
    const file = path.join(dir, 'front-proxy.crt');
    writeFileSync(file, makeCa({ commonName: 'front-proxy', validDays: 1 }).certificatePem);
    return [
      `--requestheader-client-ca-file=${file}`,
      '--requestheader-username-headers=X-Remote-User',
      '--enable-bootstrap-token-auth',
    ];
  },
  { nodeFlags: ['--require', path.join(repositoryRoot, 'dist', 'e2e', 'support', 'hold-loop-preload.js')] },
);

let webhook: SlowWebhook;
let tokens: { readonly quiet: string; readonly noisy: string };
let quiet: ApiClient;
let victim: Victim;

beforeAll(async () => {
  const { replica, dir } = local;
  const { server, caFile } = replica;
  webhook = await startSlowWebhook(path.join(dir, 'certs'));
  tokens = await fillForAttacks(replica, webhook);
  quiet = new ApiClient({ server, caFile, token: tokens.quiet, http: httpVersion('2') });
  const made = path.join(dir, 'attacker');
  mkdirSync(made);
  victim = new Victim({ server, caFile, token: tokens.noisy }, made);
});
afterAll(async () => {
  victim.close();
  quiet.close();
  await webhook.close();
});

/** The sum of all series of these metrics. */
async function metric(...names: readonly string[]): Promise<number> {
  const { text } = await local.replica.client.get('/metrics');
  return text
    .split('\n')
    .filter((line) => names.some((name) => line.startsWith(name) && !line.startsWith(`${name}_`)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** The expected outcome of an attack. */
interface Repelled {
  /** The only status codes; 0 is a connection that was closed without a response. */
  readonly codes: readonly number[];
  /** The least and the greatest number of responses. */
  readonly times: readonly [number, number];
  /** Counters that the attack increases, and the least sum of the increases. */
  readonly grows?: readonly [counters: readonly string[], by: number];
  /** The attack does not end by itself; the test stops it when it has seen all of this. */
  readonly isEndless?: true;
}

const REQUESTS = 'apiserver_request_total';
const HELD = 'apiserver_request_memory_bytes';
const DROPPED = 'apiserver_dropped_requests_total';
const FLOODS = 'apiserver_pipeline_floods_total';
const LARGE = 'apiserver_large_requests_total';
/** The greatest number of responses to a flood before its connection is closed: far fewer than requests. */
const FEW = 200;

const HTTP2_FLOODS = 'apiserver_http2_floods_total';

/** The server closes the connection. */
const BROKEN: Repelled = { codes: [0], times: [1, 1] };
const ENDED_FLOOD: Repelled = { ...BROKEN, grows: [[HTTP2_FLOODS], 1] };

/** A refusal without credentials ends the connection, too, perhaps before the flood is counted. */
const FLOOD = (codes: readonly number[]): Repelled => ({
  codes,
  times: [0, FEW],
  grows: [[FLOODS, REQUESTS], 1],
});

const REPELLED: ReadonlyMap<string, Repelled> = new Map([
  ['F1: 20,000 × GET /livez in one go, without credentials', FLOOD([200])],
  ['F1: 5,000 × GET /healthz in one go, without credentials', FLOOD([200])],
  ['F1: 5,000 × GET /livez/ping in one go, without credentials', FLOOD([403])],
  ['F1: 5,000 × GET /readyz?verbose in one go, without credentials', FLOOD([200])],
  ['F1: 20,000 × GET /api/v1/pods in one go, without credentials', FLOOD([403])],
  ['F1: 5,000 × a made-up token in one go, without credentials', FLOOD([401])],
  ['F1: 5,000 × a guessed bootstrap token in one go, without credentials', FLOOD([401])],
  ['F1: 20 × GET of 60,000 keys as YAML in one go', { codes: [200], times: [20, 20], grows: [[LARGE], 20] }],
  [
    'F1: 2,500 × GET of 1 MB on each of 4 connections, never read',
    { codes: [], times: [0, 0], grows: [[FLOODS], 4], isEndless: true },
  ],
  [
    'F1: 150 bodies of 3 MB that do not end',
    {
      codes: [429],
      times: [100, 150],
      // So many handshakes and bytes may delay the event loop, too.
      grows: [['apiserver_request_memory_rejections_total{kind="bodies"}', DROPPED], 100],
      isEndless: true,
    },
  ],
  ['F2: JSON patch that moves 9,999 times in a list of 1,300,000', large(413)],
  ['F4: YAML of 3 MB, for a review of access', large(422)],
  ['F4: the same, strict', large(400)],
  ['F4: a pod of a million empty containers', large(422)],
  ['F4: 60,000 ownerReferences', large(201)],
  ['F4: GET of 60,000 keys as YAML', large(200)],
  [
    'F3: certificate chain of 16 authorities with one key of sect571k1, without credentials',
    { codes: [401], times: [1, 1] },
  ],
  [
    'F5: slow requests to a shared webhook are abandoned, then one that it refuses (400) is sent',
    // The webhook denies the last request without a code, although it failed to respond to so many others.
    { codes: [400, 504], times: [6, 6] },
  ],
  ['F6: role bindings to a `constructor`', { codes: [404, 422], times: [12, 12] }],
  ['flood: GET /healthz on 64 connections, without credentials', each64(200)],
  ['flood: GET /livez/ping on 64 connections, without credentials', each64(403)],
  ['flood: GET /api/v1/pods on 64 connections, without credentials', each64(403)],
  ['flood: made-up tokens on 64 connections, without credentials', each64(401)],
  ['flood: guessed bootstrap tokens on 64 connections, without credentials', each64(401)],
  ['HTTP/2: requests that are reset at once (CVE-2023-44487), of a tenant', ENDED_FLOOD],
  ['HTTP/2: requests that are reset at once (CVE-2023-44487), without credentials', ENDED_FLOOD],
  // The HTTP/2 library of Node ends these two connections without reporting a reason.
  ['HTTP/2: one head in pieces without end (CVE-2024-27316), without credentials', BROKEN],
  ['HTTP/2: PING without end (CVE-2019-9512), without credentials', ENDED_FLOOD],
  ['HTTP/2: SETTINGS without end (CVE-2019-9515), without credentials', ENDED_FLOOD],
  ['HTTP/2: empty pieces of a body (CVE-2019-9518), of a tenant', BROKEN],
  [
    'R1: 1,400 watches of one object of 900 KB, never read',
    { codes: [200], times: [1, FEW], grows: [[REQUESTS], 1], isEndless: true },
  ],
  [
    'R3: GET /version with an Accept header of 60,000 commas on 40 connections, without credentials',
    { codes: [406], times: [40, 40], grows: [[REQUESTS], 40] },
  ],
  ['R5: YAML of 480 KB by 20 service accounts, 16 each', large(422)],
  // Stopped at once: the full number is for the benchmark.
  [
    'R7: 4,000 idle connections of one address',
    { codes: [], times: [0, 0], grows: [[REQUESTS], 0], isEndless: true },
  ],
]);

/** One request, which runs on a worker thread. */
function large(code: number): Repelled {
  return { codes: [code], times: [1, 1], grows: [[LARGE], 1] };
}

/** One request on each of as many connections. */
function each64(code: number): Repelled {
  return { codes: [code], times: [64, 64], grows: [[REQUESTS], 64] };
}

test('every attack has an expected outcome', () => {
  expect([...REPELLED.keys()]).toEqual(ATTACKS.map(({ name }) => name));
});

test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (name, attack) => {
  const repelled = REPELLED.get(name);
  if (repelled === undefined) throw new Error('the attack has no expected outcome');
  const { codes, times, grows: [counters, by] = [[REQUESTS], 1], isEndless } = repelled;
  const before = await metric(...counters);
  victim.codes.clear();
  await attack.prepare?.(victim);
  const over = new AbortController();
  // Each of its requests and connections adds a listener.
  setMaxListeners(0, over.signal);
  const round = attack.round(victim, over.signal);
  if (isEndless !== true) await round;
  await eventually(
    'it is repelled',
    async () => answered() >= times[0] && (await metric(...counters)) >= before + by,
  );
  over.abort();
  await round;
  expect([...victim.codes.keys()].filter((code) => !codes.includes(code))).toEqual([]);
  expect(answered()).toBeLessThanOrEqual(times[1]);
  // Another tenant is served, and the memory of the attack is released.
  expect((await quiet.get('/api/v1/namespaces/quiet/configmaps/small')).status).toBe(200);
  await eventually('all request memory is released', async () => (await metric(HELD)) === 0);
});

function answered(): number {
  return [...victim.codes.values()].reduce((sum, each) => sum + each, 0);
}

test('a request with two Host headers is refused', async () => {
  const socket = victim.connect();
  socket.setEncoding('latin1');
  let text = '';
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  await closed(socket);
  expect(text).toMatch(/^HTTP\/1\.1 400 /u);
});

test('while the event loop is delayed, expensive requests are refused and cheap ones are not', async () => {
  const before = await metric(DROPPED);
  const { signal } = new AbortController();
  const expensive = { path: SMALL, headers: { accept: 'application/yaml' } };
  await eventually('an expensive request is refused', async () => {
    local.replica.process().signal('SIGUSR2');
    return (await victim.ask(expensive, signal)) === 429;
  });
  expect(await victim.ask({ path: SMALL }, signal)).toBe(200);
  expect(await metric(DROPPED)).toBeGreaterThan(before);
});

test('handshakes are limited for each client address', async () => {
  const rejected = 'apiserver_tls_handshakes_rejected_total';
  const { port } = new URL(local.replica.server);
  const asStranger = { host: '127.0.0.1', port: Number(port), localAddress: '127.0.0.2' };
  // So many bytes could hold a certificate chain, and count as hundreds of handshakes.
  const garbage = Buffer.alloc(64 * 1_024);
  await eventually('excess handshakes are rejected', async () => {
    const sockets = Array.from({ length: 20 }, () => connectTcp(asStranger).on('error', () => undefined));
    for (const socket of sockets) socket.end(garbage);
    await Promise.all(sockets.map(closed));
    return (await metric(rejected)) > 0;
  });
  let isSecured = false;
  const late = connectTls({ ...asStranger, rejectUnauthorized: false }, () => {
    isSecured = true;
  }).on('error', () => undefined);
  await closed(late);
  expect(isSecured).toBe(false);
  expect((await quiet.get('/livez')).status).toBe(200);
});

async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}
