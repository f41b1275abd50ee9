import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync, writeFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { AUDIT_ANNOTATION, GROUP } from '../../../shared/names';
import type { AuditedServer, LoggedEvent } from '../../testing/audit/audited-server';
import { startAuditedServer, temporaryDirectory } from '../../testing/audit/audited-server';

const CMS = '/api/v1/namespaces/default/configmaps';
const POLICY = { rules: [{ level: 'Metadata', omitStages: ['RequestReceived'] }] };

/** A webhook that takes what comes, or what the test lets it take. */
class Receiver {
  readonly lists: LoggedEvent[] = [];
  readonly requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  code = 200;
  readonly #server: Server;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when so many requests came in, whatever they were answered. */
  async arrivals(count: number): Promise<void> {
    if (this.requests.length >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push({ count, resolve });
    });
  }

  get ids(): string[] {
    return this.lists.flatMap(({ items }) =>
      (items as LoggedEvent[]).map(({ auditID }) => auditID as string),
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (this.code === 200) this.lists.push(JSON.parse(Buffer.concat(parts).toString()));
    response.writeHead(this.code).end();
    this.requests.push({ method: request.method, url: request.url, headers: request.headers });
    for (const { count, resolve } of this.#waiting) if (this.requests.length >= count) resolve();
  }
}

let dir = '';
let receiver: Receiver;
let server: AuditedServer | undefined;
beforeEach(() => {
  dir = temporaryDirectory();
  receiver = new Receiver();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await receiver.close();
  rmSync(dir, { recursive: true, force: true });
});

async function start(port: number, flags: readonly string[], log?: Log): Promise<AuditedServer> {
  const config = path.join(dir, 'webhook.yaml');
  const cluster = { server: `http://127.0.0.1:${String(port)}/events` };
  const document = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'for-the-webhook' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(config, JSON.stringify(document));
  const all = ['--audit-log-path=', `--audit-webhook-config-file=${config}`, ...flags];
  server = await startAuditedServer({ policy: POLICY, flags: all, ...(log === undefined ? {} : { log }) });
  return server;
}

async function ask(on: AuditedServer, id: string): Promise<number> {
  return (await on.call('GET', CMS, { headers: { 'Audit-ID': id } })).code;
}

test('events are sent as lists, with the credentials of the kubeconfig, and the rest at the end', async () => {
  const port = await receiver.listen();
  const on = await start(port, ['--audit-webhook-batch-max-size=2', '--audit-webhook-batch-max-wait=1h']);
  for (const id of ['a', 'b', 'c']) await ask(on, id);
  await receiver.arrivals(1);
  expect(receiver.requests[0]).toMatchObject({
    method: 'POST',
    url: '/events',
    headers: { authorization: 'Bearer for-the-webhook', 'content-type': 'application/json' },
  });
  expect(receiver.lists[0]).toMatchObject({
    kind: 'EventList',
    apiVersion: `${GROUP.audit}/v1`,
    metadata: {},
    items: [
      { level: 'Metadata', auditID: 'a', stage: 'ResponseComplete', verb: 'list' },
      { level: 'Metadata', auditID: 'b' },
    ],
  });
  expect(receiver.lists[0].items[0]).not.toHaveProperty('kind');
  expect(receiver.ids).toEqual(['a', 'b']);
  await on.stop();
  server = undefined;
  expect(receiver.ids).toEqual(['a', 'b', 'c']);
});

test('what the webhook does not take is sent again, and not lost', async () => {
  const port = await receiver.listen();
  receiver.code = 500;
  const on = await start(port, [
    '--audit-webhook-batch-max-size=1',
    '--audit-webhook-batch-max-wait=0s',
    '--audit-webhook-initial-backoff=10ms',
  ]);
  await ask(on, 'a');
  await receiver.arrivals(2);
  receiver.code = 200;
  await receiver.arrivals(receiver.requests.length + 1);
  expect(receiver.ids).toEqual(['a']);
});

test('without the webhook requests are served as ever, what is lost is counted, and what waits is sent when it is back', async () => {
  const port = await receiver.listen();
  await receiver.close();
  const on = await start(port, [
    '--audit-webhook-batch-max-size=1',
    '--audit-webhook-batch-max-wait=0s',
    '--audit-webhook-batch-buffer-size=5',
    '--audit-webhook-initial-backoff=1h',
  ]);
  const codes = await Promise.all(Array.from({ length: 40 }, async (_each, index) => ask(on, String(index))));
  expect(new Set(codes)).toEqual(new Set([200]));
  const { text } = await on.call('GET', '/metrics');
  // Eight batches are being tried, five events wait.
  expect(text).toMatch(/^apiserver_audit_error_total\{plugin="buffered"\} 27$/m);
  expect(text).toMatch(/^apiserver_audit_event_total 40$/m);
  receiver = new Receiver();
  await receiver.listen(port);
  await on.stop();
  server = undefined;
  expect(receiver.ids).toHaveLength(13);
});

test('blocking-strict waits for the webhook, and refuses requests that it does not hear of', async () => {
  const port = await receiver.listen();
  const policy = path.join(dir, 'policy.json');
  const document = { apiVersion: `${GROUP.audit}/v1`, kind: 'Policy', rules: [{ level: 'Metadata' }] };
  writeFileSync(policy, JSON.stringify(document));
  const on = await start(port, [
    `--audit-policy-file=${policy}`,
    '--audit-webhook-mode=blocking-strict',
    '--audit-webhook-initial-backoff=1ms',
  ]);
  expect(await ask(on, 'a')).toBe(200);
  expect(receiver.ids).toEqual(['a', 'a']);
  receiver.code = 503;
  const refused = await on.call('POST', CMS, { body: { metadata: { name: 'refused' } } });
  expect(refused.code).toBe(500);
  expect(JSON.parse(refused.text)).toMatchObject({ kind: 'Status', reason: 'InternalError' });
  receiver.code = 200;
  expect((await on.call('GET', `${CMS}/refused`)).code).toBe(404);
  const { text } = await on.call('GET', '/metrics');
  expect(text).toMatch(/^apiserver_audit_requests_rejected_total 1$/m);
  expect(text).toMatch(/^apiserver_audit_error_total\{plugin="webhook"\} 1$/m);
});

test('a request that is not allowed says so in its event', async () => {
  server = await startAuditedServer({ policy: POLICY, flags: ['--authorization-mode=AlwaysDeny'] });
  const refused = await server.call('GET', CMS, { token: 'weak', headers: { 'Audit-ID': 'a' } });
  expect(refused.code).toBe(403);
  expect(server.events('a')).toMatchObject([
    {
      user: { username: 'bob', groups: ['readers', 'system:authenticated'] },
      responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
      annotations: {
        [AUDIT_ANNOTATION.authorizationDecision]: 'forbid',
        [AUDIT_ANNOTATION.authorizationReason]: expect.any(String),
      },
    },
  ]);
});

describe('the log', () => {
  test('a full disk refuses nothing in the mode blocking, and is counted and logged', async () => {
    const logged: object[] = [];
    const log: Log = { ...silentLog, error: (fields) => void logged.push(fields) };
    server = await startAuditedServer({ policy: POLICY, flags: ['--audit-log-path=/dev/full'], log });
    expect(await ask(server, 'a')).toBe(200);
    const { text } = await server.call('GET', '/metrics');
    expect(text).toMatch(/^apiserver_audit_error_total\{plugin="log"\} 1$/m);
    expect(logged).toMatchObject([{ plugin: 'log', lost: 1, error: { code: 'ENOSPC' } }]);
  });

  test('the format legacy and rotation work through the flags', async () => {
    server = await startAuditedServer({
      policy: POLICY,
      flags: ['--audit-log-format=legacy', '--audit-log-mode=batch', '--audit-log-maxbackup=1'],
    });
    await ask(server, 'a');
    const file = path.join(server.dir, 'audit.log');
    await server.untilLogged(/AUDIT: id="a" stage="ResponseComplete" .+ response="200"/);
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain('user="alice"');
  });

  test.each([
    ['a policy that cannot be used', { rules: [] }, [], 'rules: must not be empty'],
    [
      'a log that cannot be written',
      POLICY,
      ['--audit-log-path=/dev/null/audit.log'],
      '/dev/null cannot be made: it is no directory',
    ],
    [
      'a kubeconfig that is not there',
      POLICY,
      ['--audit-webhook-config-file=/nothing'],
      'cannot read /nothing',
    ],
  ])('with %s the server does not start', async (_what, policy, flags, message) => {
    await expect(startAuditedServer({ policy, flags }, dir)).rejects.toThrow(message);
  });
});
