import { readFileSync } from 'node:fs';
import { ensureCredentials } from '../deploy/local/credentials';
import { issueCertificate } from '../shared/certs/certificate';
import { eventually } from '../shared/testing/eventually';
import type { LocalServer } from './support/local-server';
import { startLocalServer } from './support/local-server';
import { configMap, pod } from './support/objects';
import type { Call, OpenCall, Reply, WireOptions } from './support/wire';
import { Wire } from './support/wire';
import { explained } from './support/workspace';

/** Edge cases of HTTP with one contract for both versions; `protocols.test.ts` covers usual requests. */

const NAMESPACE = '/api/v1/namespaces/default';
const MAPS = `${NAMESPACE}/configmaps`;
const STREAMS_MAX = 200;
const JSON_TYPE = { 'content-type': 'application/json' };
const FLAGS = [`--http2-max-streams-per-connection=${String(STREAMS_MAX)}`];

/** A request of the administrator with a token. */
function withToken({ dir }: LocalServer, call: Call): Call {
  const { adminToken } = ensureCredentials(dir);
  return { ...call, headers: { authorization: `Bearer ${adminToken}`, ...call.headers } };
}

function wireTo({ replica }: LocalServer, options: Omit<WireOptions, 'server' | 'ca'>): Wire {
  return new Wire({ server: replica.server, ca: readFileSync(replica.caFile), ...options });
}

describe.each(['1.1', '2'] as const)('over HTTP/%s', (http) => {
  let local: LocalServer;
  let wire: Wire;
  beforeAll(
    explained(async () => {
      local = await startLocalServer('kubernetes', () => FLAGS);
      wire = wireTo(local, { http });
    }),
  );
  afterAll(async () => {
    wire.close();
    await local.stop();
  });

  const open = (call: Call): OpenCall => wire.open(withToken(local, call));
  const send = async (call: Call, body?: unknown): Promise<Reply> =>
    wire.send(withToken(local, call), body === undefined ? undefined : JSON.stringify(body));
  const create = (headers: Call['headers'] = {}): Call => ({
    method: 'POST',
    path: MAPS,
    headers: { ...JSON_TYPE, ...headers },
  });
  const metric = async (line: RegExp): Promise<number> => {
    const { text } = await send({ path: '/metrics' });
    return Number(line.exec(text)?.[1] ?? 0);
  };

  test('429 has Retry-After', async () => {
    const budget = {
      metadata: { name: 'never-looked-at' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'evicted' } } },
    };
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    expect((await send({ method: 'POST', path: budgets, headers: JSON_TYPE }, budget)).status).toBe(201);
    expect(
      (await send({ method: 'POST', path: `${NAMESPACE}/pods`, headers: JSON_TYPE }, pod('evicted'))).status,
    ).toBe(201);
    // Requests that do not run yet are not counted.
    const patched = await send(
      {
        method: 'PATCH',
        path: `${NAMESPACE}/pods/evicted/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
      },
      { status: { phase: 'Running' } },
    );
    expect(patched.status).toBe(200);
    const refused = await send(
      { method: 'POST', path: `${NAMESPACE}/pods/evicted/eviction`, headers: JSON_TYPE },
      { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'evicted' } },
    );
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
  });

  test.each<[code: number, what: string, call: Call]>([
    [414, 'a path over 32 KiB', { path: `/${'a'.repeat(40_000)}` }],
    [431, 'a header over 64 KiB', { path: '/version', headers: { 'x-large': 'a'.repeat(70_000) } }],
    [
      431,
      'many headers of 64 KiB together',
      {
        path: '/version',
        headers: Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`x-${at}`, 'a'.repeat(100)])),
      },
    ],
  ])('%d is the answer to %s, and others go on', async (code, _what, call) => {
    expect((await send(call)).status).toBe(code);
    expect((await send({ path: '/version' })).status).toBe(200);
  });

  test('900 small headers are accepted', async () => {
    const headers = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`x-${at}`, 'a']));
    expect((await send({ path: '/version', headers })).status).toBe(200);
  });

  test('trailers of a request are accepted and ignored', async () => {
    const posting = open(create({ trailer: 'impersonate-user' }));
    posting.write(JSON.stringify(configMap('with-trailers')));
    posting.end(undefined, { 'impersonate-user': 'someone' });
    expect((await posting.reply).status).toBe(201);
  });

  test('a client certificate authenticates its client', async () => {
    const { certFile, keyFile } = ensureCredentials(local.dir).signingAuthority;
    const authority = {
      certificatePem: readFileSync(certFile, 'utf8'),
      privateKeyPem: readFileSync(keyFile, 'utf8'),
    };
    const { certificatePem: cert, privateKeyPem: key } = issueCertificate(authority, {
      commonName: 'jane',
      organizations: ['dev'],
      usages: ['client'],
      validDays: 1,
    });
    const jane = wireTo(local, { http, cert, key });
    try {
      for (const _time of [1, 2]) {
        const refused = await jane.send({ path: MAPS });
        expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('User \\"jane\\"') });
      }
    } finally {
      jane.close();
    }
  });

  test('a truncated body creates no object and leaves no request in flight', async () => {
    const whole = JSON.stringify(configMap('cut'));
    for (const from of [1, whole.length - 1]) {
      const posting = open(create({ 'content-length': whole.length }));
      posting.write(whole.slice(0, from));
      await eventually('the request is in flight', async () => (await underWay('mutating')) > 0);
      posting.cut();
      await eventually('no request is in flight', async () => (await underWay('mutating')) === 0);
    }
    expect((await send({ path: `${MAPS}/cut` })).status).toBe(404);
  });

  const underWay = async (kind: string): Promise<number> =>
    metric(new RegExp(`^apiserver_current_inflight_requests\\{request_kind="${kind}"\\} (\\d+)$`, 'mu'));

  test('Expect: 100-continue gets 100 or a refusal', async () => {
    const asking = open(create({ expect: '100-continue' }));
    await asking.continued;
    asking.end(JSON.stringify(configMap('asked')));
    expect((await asking.reply).status).toBe(201);
    const refused = open(create({ expect: '100-continue', 'content-length': 4 * 1_024 * 1_024 }));
    expect((await refused.head).status).toBe(413);
    refused.cut();
  });

  test('HEAD returns the headers of GET without a body', async () => {
    const got = await send({ path: '/livez' });
    const head = await send({ method: 'HEAD', path: '/livez' });
    expect(got).toMatchObject({ status: 200, text: 'ok' });
    expect(head).toMatchObject({ status: got.status, text: '' });
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
    expect(head.headers['content-type']).toBe(got.headers['content-type']);
  });

  test('a watch that its client ends leaves the gauge and increases the counter', async () => {
    const gauge = /^apiserver_longrunning_gauge\{verb="WATCH",[^\n]*resource="endpoints"[^\n]*\} (\d+)$/mu;
    const total =
      /^apiserver_request_total\{verb="WATCH",[^\n]*resource="endpoints"[^\n]*code="200"\} (\d+)$/mu;
    const watching = open({ path: `${NAMESPACE}/endpoints?watch=1` });
    watching.end();
    await watching.head;
    await eventually('the gauge counts the watch', async () => (await metric(gauge)) === 1);
    watching.cut();
    await eventually('the gauge does not count the watch any more', async () => (await metric(gauge)) === 0);
    expect(await metric(total)).toBe(1);
  });

  test('many watches and requests run concurrently', async () => {
    const watches = Array.from({ length: STREAMS_MAX - 20 }, () => {
      const watching = open({ path: `${MAPS}?watch=1&fieldSelector=metadata.name%3Dshared` });
      watching.end();
      return watching;
    });
    for (const { head } of watches) expect((await head).status).toBe(200);
    const gets = Array.from({ length: 300 }, async () => send({ path: NAMESPACE }));
    for (const got of await Promise.all(gets)) expect(got.status).toBe(200);
    expect((await send(create(), configMap('shared'))).status).toBe(201);
    await eventually('each watch has the event', async () =>
      watches.every(({ text }) => text().includes('"ADDED"')),
    );
    for (const { cut } of watches) cut();
  });

  if (http === '2') {
    test('a Host header that differs from :authority is refused', async () => {
      const { host } = new URL(local.replica.server);
      const other = wireTo(local, { http });
      const version = (headers: Call['headers']): Call =>
        withToken(local, { path: '/version', headers: headers ?? {} });
      try {
        expect((await other.send(version({ ':authority': host, host }))).status).toBe(200);
        expect((await other.send(version({ ':authority': host, host: 'b.example' }))).status).toBe(400);
      } finally {
        other.close();
      }
    });

    test('a connection has at most the concurrent requests of the flag', async () => {
      expect(wire.session.remoteSettings.maxConcurrentStreams).toBe(STREAMS_MAX);
    });
  }

  test('graceful shutdown finishes requests in flight, ends watches and closes connections', async () => {
    const leaving = await startLocalServer('kubernetes', () => FLAGS);
    const last = wireTo(leaving, { http });
    try {
      const watching = last.open(withToken(leaving, { path: `${MAPS}?watch=1` }));
      watching.end();
      await watching.head;
      const posting = last.open(withToken(leaving, create()));
      const body = JSON.stringify(configMap('last'));
      posting.write(body.slice(0, 5));
      const other = await leaving.replica.client.get('/metrics');
      expect(other.status).toBe(200);
      leaving.replica.process().signal('SIGTERM');
      // The watch ends cleanly: neither truncated nor reset.
      await watching.reply;
      posting.end(body.slice(5));
      const { status, headers } = await posting.reply;
      expect(status).toBe(201);
      const hasGoAway = (): boolean =>
        http === '1.1' ? headers.connection === 'close' : last.session.closed;
      await eventually('the client gets GOAWAY or Connection: close', async () => hasGoAway());
      await leaving.replica.process().exited;
    } finally {
      last.close();
      await leaving.stop();
    }
  });
});
