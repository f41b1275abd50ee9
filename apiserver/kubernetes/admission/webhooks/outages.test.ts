import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeCa } from '../../../../shared/certs/certificate';
import { GROUP } from '../../../../shared/names';
import { eventually, PATIENCE_MS } from '../../../../shared/testing/eventually';
import type { AdmissionOptions } from '../../../compose/control-plane';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import type { CallLimits } from './call';
import { DEFAULT_CALL_LIMITS } from './call';
import type { Behaviour, WebhookServer } from './testing/webhook-server';
import { allow, authority, client, configurationOf, hookAt, startWebhook } from './testing/webhook-server';

let api: InProcessApi;
let webhook: WebhookServer;

async function start(
  limits: Partial<CallLimits> = {},
  admission: Partial<AdmissionOptions> = {},
): Promise<void> {
  api = await startInProcessApi(undefined, {
    admission: { ...admission, webhookCalls: { ...DEFAULT_CALL_LIMITS, ...limits } },
  });
}

beforeEach(async () => {
  webhook = await startWebhook();
});
afterEach(async () => {
  await Promise.all([api.close(), webhook.close()]);
});

const MAPS = '/api/v1/namespaces/default/configmaps';
const URL = 'https://127.0.0.1:';

async function configure(hook: object, type: 'Mutating' | 'Validating' = 'Validating'): Promise<void> {
  const { path: at, body } = configurationOf(type, 'conf', [hook]);
  const { code, text } = await api.call('POST', at, { body });
  if (code !== 201) throw new Error(text);
}

/** The default code of a refusal without a status. */
const DENIED = 400;

let maps = 0;

async function createMap(signal?: AbortSignal): Promise<Reply> {
  maps += 1;
  const body = { metadata: { name: `m${String(maps)}` } };
  return api.call('POST', MAPS, { body, ...(signal === undefined ? {} : { signal }) });
}

test('a webhook whose calls cause calls to itself without end has a bounded number of them, and holds up no other request', async () => {
  await start({ callsMax: 3, waitingMax: 2 });
  await configure(hookAt(webhook, { timeoutSeconds: 1 }));
  let calls = 0;
  let most = 0;
  webhook.behave = async () => {
    calls += 1;
    most = Math.max(most, calls);
    const { code } = await createMap();
    calls -= 1;
    return { allowed: code === 201 };
  };
  const creating = createMap();
  await webhook.askedTimes(2);
  const secret = { metadata: { name: 'other' } };
  expect((await api.call('POST', '/api/v1/namespaces/default/secrets', { body: secret })).code).toBe(201);
  expect((await creating).code).toBeGreaterThanOrEqual(400);
  webhook.behave = allow;
  await eventually('the webhook serves again', async () => (await createMap()).code === 201);
  expect(most).toBeGreaterThan(1);
  // A call that has timed out is over for the server before the webhook has ended it.
  expect(most).toBeLessThanOrEqual(2 * 3);
});

/** Returns the message without its common prefix. */
function why({ code, json }: Reply): string {
  const head = 'Internal error occurred: failed calling webhook "a.example.org": ';
  expect({ code, reason: json.reason }).toEqual({ code: 500, reason: 'InternalError' });
  expect(json.message.slice(0, head.length)).toBe(head);
  return String(json.message).slice(head.length);
}

async function metric(name: string): Promise<string[]> {
  const { text } = await api.call('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith(`apiserver_admission_webhook_${name}`));
}

const hang: Behaviour = () => undefined;
/** Fails at once without a retry, unlike a closed connection. */
const noHttp: Behaviour = (_asked, { request }) => {
  request.socket.end('no HTTP\r\n\r\n');
  return undefined;
};
const say =
  (text: string, code = 200): Behaviour =>
  (_asked, { response }) => {
    response.writeHead(code).end(text);
    return undefined;
  };

describe('a webhook that cannot be called fails the request with the reason:', () => {
  test.each<[string, Behaviour, RegExp]>([
    ['no JSON', say('garbage'), /^couldn't get version\/kind; json parse error: /],
    ['no object', say('[]'), /^cannot unmarshal array /],
    [
      'a field of another type',
      () => ({ allowed: 'yes' }),
      /^cannot unmarshal string into field response.allowed /,
    ],
    [
      'warnings that are no list',
      () => ({ allowed: true, warnings: 'x' }),
      /^cannot unmarshal string into field response.warnings /,
    ],
    ['no response', say('{}'), /^webhook response was absent$/],
    ['another uid', () => ({ uid: 'x', allowed: true }), /^expected response.uid="[0-9a-f-]{36}", got "x"$/],
    [
      'no kind',
      ({ review }, { response }) => {
        response.end(JSON.stringify({ response: { uid: review.request.uid, allowed: true } }));
        return undefined;
      },
      /^expected webhook response of admission.*\/v1, Kind=AdmissionReview, got \/, Kind=$/,
    ],
    [
      'a patch where none may be',
      () => ({ allowed: true, patch: 'e30=' }),
      /^validating webhook may not return response.patch$/,
    ],
    ['500', say('oh', 500), /^an error on the server \("oh"\) has prevented the request from succeeding$/],
    ['404', say('', 404), /^the server could not find the requested resource$/],
    ['503', say('', 503), /^the server is currently unable to handle the request$/],
    ['a redirect', say('', 302), /redirects are not followed$/],
    ['a Status', say(JSON.stringify({ kind: 'Status', message: 'go away' }), 403), /^go away$/],
    [
      'a cut connection',
      (_asked, { request }) => {
        request.socket.destroy();
        return undefined;
      },
      /^Post "https:.*\/review\?timeout=10s": /,
    ],
    ['nothing in time', hang, /^Post "https:.*\/review\?timeout=1s": context deadline exceeded$/],
    [
      'half of an answer',
      (_asked, { response }) => {
        response.write('{"response":');
        return undefined;
      },
      /: context deadline exceeded$/,
    ],
    [
      'too much',
      (_asked, { response }) => {
        response.end(' '.repeat(9 * 1024 * 1024));
        return undefined;
      },
      /: the answer is longer than 8388608 bytes$/,
    ],
  ])('%s', async (what, behave, text) => {
    await start();
    const isSlow = what.startsWith('nothing') || what.startsWith('half');
    await configure(hookAt(webhook, isSlow ? { timeoutSeconds: 1 } : {}));
    webhook.behave = behave;
    expect(why(await createMap())).toMatch(text);
    const labels = 'name="a.example.org",type="validating",operation="CREATE"';
    expect(await metric('rejection_count')).toEqual([
      `apiserver_admission_webhook_rejection_count{${labels},error_type="calling_webhook_error",rejection_code="0"} 1`,
    ]);
  });

  test('connection refused', async () => {
    await start();
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const url = `${URL}${String(port)}/x`;
    await configure(hookAt({ ...webhook, url }));
    expect(why(await createMap())).toBe(
      `Post "${url}?timeout=10s": dial tcp 127.0.0.1:${String(port)}: connect: connection refused`,
    );
  });

  test('a certificate of another authority, or for another name', async () => {
    await start();
    const stranger = makeCa({ commonName: 'stranger', validDays: 1 });
    const caBundle = Buffer.from(stranger.certificatePem).toString('base64');
    await configure(hookAt({ ...webhook, caBundle }));
    expect(why(await createMap())).toMatch(/: x509: certificate signed by unknown authority$/);
    await configure(hookAt({ ...webhook, url: webhook.url.replace('127.0.0.1', 'localhost') }), 'Mutating');
    expect(why(await createMap())).toMatch(
      /: x509: certificate is not valid for any names, but wanted to match localhost$/,
    );
  });

  test('an invalid patch', async () => {
    await start();
    await configure(hookAt(webhook), 'Mutating');
    const outcomes: string[] = [];
    for (const answer of [
      { patch: 'e30=' },
      { patchType: 'JSONPatch' },
      { patchType: 'MergePatch', patch: base64([{ op: 'add', path: '/data', value: {} }]) },
      { patchType: 'MergePatch', patch: 'e30=' },
      { patchType: 'JSONPatch', patch: base64(7) },
      { patchType: 'JSONPatch', patch: 'W3s=' },
      { patchType: 'JSONPatch', patch: '???' },
    ]) {
      webhook.behave = () => ({ allowed: true, ...answer });
      outcomes.push(why(await createMap()));
    }
    expect(outcomes).toEqual([
      'webhook returned response.patch but not response.patchType',
      'webhook returned response.patchType but not response.patch',
      'unsupported patch type "MergePatch"',
      'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
      'received undecodable patch in webhook response: json: cannot unmarshal number into Go value of type jsonpatch.Patch',
      expect.stringMatching(/^received undecodable patch in webhook response: /),
      'response.patch: illegal base64 data',
    ]);
  });
});

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

describe('a webhook with failurePolicy Ignore', () => {
  const outcomesOf = async (
    answers: Readonly<Record<string, Behaviour>>,
  ): Promise<Record<string, number>> => {
    await start();
    await configure(hookAt(webhook, { failurePolicy: 'Ignore' }), 'Mutating');
    const codes: Record<string, number> = {};
    for (const [what, behave] of Object.entries(answers)) {
      webhook.behave = behave;
      codes[what] = (await createMap()).code;
    }
    return codes;
  };
  const withPatch =
    (patch: string, fields: object = {}): Behaviour =>
    () => ({ allowed: true, patchType: 'JSONPatch', patch, ...fields });

  test('is ignored for an unusable answer, and bypassed requests are counted', async () => {
    const answers = {
      'an error': say('', 500),
      'a redirect': say('', 307),
      'half of an answer': say('{"response":'),
      'no response': say('{}'),
      'another uid': () => ({ uid: 'x', allowed: true }),
      'a field of another type': () => ({ allowed: 'yes' }),
      'no patch type': withPatch(base64([]), { patchType: undefined }),
      'no patch': withPatch(''),
      'an unknown patch type': withPatch(base64([{ op: 'test' }]), { patchType: 'MergePatch' }),
      'a patch that is not base64': withPatch('???'),
      'a patch that is not JSON': withPatch('W3s='),
      'a patch that is no list': withPatch(base64({})),
      'an operation that is no object': withPatch(base64([1])),
    } as const;
    const codes = await outcomesOf(answers);
    expect(codes).toEqual(Object.fromEntries(Object.keys(answers).map((what) => [what, 201])));
    const count = String(Object.keys(answers).length);
    expect(await metric('fail_open_count')).toEqual([
      `apiserver_admission_webhook_fail_open_count{name="a.example.org",type="admit"} ${count}`,
    ]);
    expect(await metric('rejection_count')).toEqual([]);
  });

  test('is not ignored for a patch that cannot be applied, nor for a refusal', async () => {
    const codes = await outcomesOf({
      'a missing target': withPatch(base64([{ op: 'remove', path: '/spec' }])),
      'an unknown operation': withPatch(base64([{ op: 'x' }])),
      'another kind': withPatch(base64([{ op: 'add', path: '/kind', value: 'Foo' }])),
      'a refusal': withPatch('e30=', { allowed: false, patchType: 'MergePatch' }),
    });
    expect(codes).toEqual({
      'a missing target': 500,
      'an unknown operation': 500,
      'another kind': 500,
      'a refusal': DENIED,
    });
  });
});

describe('an outage', () => {
  const refuse = async (): Promise<string> => why(await createMap());

  test('costs later requests no time', async () => {
    await start({ failuresMax: 2, pauseMs: PATIENCE_MS });
    await configure(hookAt(webhook, { timeoutSeconds: 30 }));
    webhook.behave = noHttp;
    expect(await Promise.all([refuse(), refuse()])).toEqual([
      expect.stringMatching(/^Post/),
      expect.stringMatching(/^Post/),
    ]);
    expect(await refuse()).toMatch(
      /^it has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ and is not asked until it answers again \(2 calls in a row failed, the last one with: Post "https:.*": .+\)$/,
    );
    expect(webhook.asked).toHaveLength(2);
    expect(await metric('outage')).toEqual([
      'apiserver_admission_webhook_outage{name="a.example.org",configuration="conf",type="validating"} 1',
    ]);
  });

  test('ends with the first answer to a probe', async () => {
    await start({ failuresMax: 1, pauseMs: 1 });
    await configure(hookAt(webhook));
    webhook.behave = noHttp;
    await refuse();
    expect(await metric('outage')).toEqual([expect.stringMatching(/ 1$/)]);
    webhook.behave = allow;
    await eventually('the webhook is asked again', async () => (await createMap()).code === 201);
    expect((await createMap()).code).toBe(201);
    expect(await metric('outage')).toEqual([expect.stringMatching(/ 0$/)]);
  });

  test("bypasses a webhook with failurePolicy Ignore only after the request's own wait", async () => {
    await start({ failuresMax: 1, pauseMs: PATIENCE_MS });
    await configure(hookAt(webhook, { timeoutSeconds: 30, failurePolicy: 'Ignore' }));
    webhook.behave = noHttp;
    expect((await createMap()).code).toBe(201);
    // The wait is a second instead of the webhook's 30.
    webhook.behave = hang;
    const codes = (await Promise.all([1, 2, 3].map(async () => createMap()))).map(({ code }) => code);
    expect(codes).toEqual([201, 201, 201]);
    webhook.behave = () => ({ allowed: false });
    await eventually('the webhook is asked', async () => (await createMap()).code === DENIED);
    expect((await createMap()).code).toBe(DENIED);
    expect(await metric('outage')).toEqual([expect.stringMatching(/ 0$/)]);
  });

  test('is visible on the debug page', async () => {
    await start({ failuresMax: 2, pauseMs: PATIENCE_MS });
    await configure(hookAt(webhook));
    webhook.behave = noHttp;
    for (let times = 0; times < 3; times += 1) await refuse();
    const { json } = await api.call('GET', '/debug/webhooks');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown;
    expect(json.webhooks).toEqual([
      {
        type: 'validating',
        configuration: 'conf',
        name: 'a.example.org',
        failurePolicy: 'Fail',
        state: 'open',
        since: time,
        consecutiveFailures: 2,
        nextProbeInMs: expect.any(Number),
        executing: 0,
        waiting: 0,
        failures: { protocol: 2, outage: 1 },
        lastFailure: {
          at: time,
          reason: 'outage',
          error: expect.stringContaining('it has not answered since'),
        },
      },
    ]);
    const labels = 'name="a.example.org",configuration="conf",type="validating"';
    expect(await metric('call_failures_total')).toEqual([
      `apiserver_admission_webhook_call_failures_total{${labels},reason="protocol"} 2`,
      `apiserver_admission_webhook_call_failures_total{${labels},reason="outage"} 1`,
    ]);
  });

  test('does not begin while there are answers, even unusable ones', async () => {
    await start({ failuresMax: 1 });
    await configure(hookAt(webhook));
    webhook.behave = say('', 500);
    await refuse();
    await refuse();
    expect(webhook.asked).toHaveLength(2);
  });

  test('is not detected when the breaker is disabled', async () => {
    await start({ failuresMax: 0 });
    await configure(hookAt(webhook, { timeoutSeconds: 1 }));
    webhook.behave = hang;
    await Promise.all([refuse(), refuse()]);
    expect(await refuse()).toMatch(/deadline/);
    expect(webhook.asked).toHaveLength(3);
  });

  test('ends when the configuration is deleted or corrected', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    await start({ failuresMax: 1, pauseMs: PATIENCE_MS });
    await configure(hookAt(webhook, { timeoutSeconds: 1, rules }));
    webhook.behave = hang;
    await refuse();
    const { path: at } = configurationOf('Validating', '', []);
    webhook.behave = allow;
    const mended = [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 30 }];
    const headers = { 'content-type': 'application/json-patch+json' };
    expect((await api.call('PATCH', `${at}/conf`, { body: mended, headers })).code).toBe(200);
    expect((await createMap()).code).toBe(201);
    webhook.behave = noHttp;
    await refuse();
    expect((await api.call('DELETE', `${at}/conf`)).code).toBe(200);
    expect((await createMap()).code).toBe(201);
  });
});

describe('an aborted request', () => {
  /** Denies objects named evil, and answers slowly for objects named slow. */
  const evaluateAfter =
    (thought: Promise<void>): Behaviour =>
    async ({ review }) => {
      const { name } = review.request;
      if (name.startsWith('slow')) await thought;
      return { allowed: !name.startsWith('evil') };
    };
  const create = async (name: string, query = '', signal?: AbortSignal): Promise<Reply> =>
    api.call('POST', MAPS + query, {
      body: { metadata: { name } },
      ...(signal === undefined ? {} : { signal }),
    });

  test.each(['Ignore', 'Fail'])(
    'by its client or its own deadline is no outage and changes nothing for others: %s',
    async (failurePolicy) => {
      await start({ failuresMax: 1, pauseMs: PATIENCE_MS });
      await configure(hookAt(webhook, { timeoutSeconds: 30, failurePolicy }));
      let think: () => void = () => undefined;
      webhook.behave = evaluateAfter(
        new Promise((resolve) => {
          think = resolve;
        }),
      );
      const gone = new AbortController();
      const left = create('slow0', '', gone.signal).catch((error: unknown) => error);
      await webhook.askedTimes(1);
      // Longer than two seconds, which used to count as a failure.
      const late = await create('slow1', '?timeout=2200ms');
      gone.abort();
      await left;
      expect(late.code).toBe(504);
      await eventually('both are known to be given up', async () => {
        const { json } = await api.call('GET', '/debug/webhooks');
        return json.webhooks[0].failures.abandoned === 2 && json.webhooks[0].state === 'closed';
      });
      expect((await create('evil')).code).toBe(DENIED);
      expect((await create('good')).code).toBe(201);
      think();
    },
  );
});

describe('too many requests', () => {
  test.each(['Fail', 'Ignore'])('are limited at a slow webhook: %s', async (failurePolicy) => {
    await start({ callsMax: 2, waitingMax: 1 });
    await configure(hookAt(webhook, { failurePolicy }));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    webhook.behave = async () => {
      await released;
      return { allowed: true };
    };
    const under = [createMap(), createMap(), createMap()];
    await webhook.askedTimes(2);
    // No request bypasses it because of others.
    const { code, json } = await createMap();
    expect({ code, reason: json.reason, details: json.details }).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
    });
    expect(json.message).toMatch(/too many calls: 1 calls wait for it already$/);
    expect(webhook.asked).toHaveLength(2);
    release();
    expect((await Promise.all(under)).map((reply) => reply.code)).toEqual([201, 201, 201]);
  });

  test('leave their slot when they are aborted', async () => {
    await start({ callsMax: 1 });
    await configure(hookAt(webhook));
    webhook.behave = hang;
    const gone = new AbortController();
    const hanging = createMap(gone.signal);
    await webhook.askedTimes(1);
    const waiting = createMap();
    webhook.behave = allow;
    gone.abort(new Error('gone'));
    await expect(hanging).rejects.toThrow('gone');
    expect((await waiting).code).toBe(201);
  });
});

describe('a keep-alive connection of a webhook', () => {
  test('is reused, also after the webhook has closed it', async () => {
    await start();
    await configure(hookAt(webhook));
    const sockets = new Set<Socket>();
    webhook.behave = (_asked, { request }) => {
      sockets.add(request.socket);
      return { allowed: true };
    };
    await createMap();
    await createMap();
    const [socket] = sockets;
    socket?.destroy();
    expect((await createMap()).code).toBe(201);
    expect(sockets.size).toBe(2);
  });

  test('is not used if another one has turned out to be stale', async () => {
    await start();
    await configure(hookAt(webhook));
    const stale = new Set<Socket>();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    webhook.behave = async (_asked, { request: { socket } }) => {
      if (stale.has(socket)) {
        socket.destroy();
        return undefined;
      }
      stale.add(socket);
      await released;
      return { allowed: true };
    };
    const parallel = [createMap(), createMap(), createMap()];
    await webhook.askedTimes(3);
    release();
    await Promise.all(parallel);
    expect((await createMap()).code).toBe(201);
    expect(webhook.asked).toHaveLength(5);
  });
});

test("a webhook behind a Service is called by the Service's DNS name", async () => {
  await webhook.close();
  webhook = await startWebhook(allow, { hosts: ['hook.default.svc'] });
  await start();
  const service = { name: 'hook', namespace: 'default', port: webhook.port, path: '/validate' };
  const hook = { ...hookAt(webhook), clientConfig: { service, caBundle: webhook.caBundle } };
  await configure(hook);
  expect(why(await createMap())).toBe(
    `Post "https://hook.default.svc:${String(webhook.port)}/validate?timeout=10s": service "hook" not found`,
  );
  await api.call('POST', '/api/v1/namespaces/default/services', {
    body: { metadata: { name: 'hook' }, spec: { type: 'ExternalName', externalName: 'localhost' } },
  });
  expect((await createMap()).code).toBe(201);
  expect(webhook.asked[0]).toMatchObject({
    url: '/validate?timeout=10s',
    host: `hook.default.svc:${String(webhook.port)}`,
  });
});

test('the server authenticates to webhooks as configured for the plugin', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'webhooks-'));
  try {
    writeFileSync(path.join(dir, 'own.crt'), client.certificatePem);
    writeFileSync(path.join(dir, 'own.key'), client.privateKeyPem);
    const users = [
      { name: '*', user: { token: 'for-all' } },
      {
        name: `127.0.0.1:${String(webhook.port)}`,
        user: { 'client-certificate': 'own.crt', 'client-key': 'own.key' },
      },
    ];
    const kubeConfigFile = path.join(dir, 'config');
    writeFileSync(kubeConfigFile, JSON.stringify({ users }));
    const configuration = {
      kind: 'WebhookAdmissionConfiguration',
      apiVersion: `${GROUP.apiserverConfig}/v1`,
      kubeConfigFile,
    };
    await start({}, { configurations: new Map([['ValidatingAdmissionWebhook', configuration]]) });
    await configure(hookAt(webhook));
    await createMap();
    expect(webhook.asked[0]).toMatchObject({ client: 'apiserver', authorization: '' });
    expect(authority.certificatePem).toContain('CERTIFICATE');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('a call in flight when its webhook gets another timeout is answered and made once', async () => {
  await start();
  let letGo: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  webhook.behave = async ({ review }) => {
    if (review.request.name === 'm-slow') await held;
    return { allowed: true };
  };
  await configure(hookAt(webhook, { timeoutSeconds: 20 }));
  const slow = api.call('POST', MAPS, { body: { metadata: { name: 'm-slow' } } });
  await webhook.askedTimes(1);
  const { path: at, body } = configurationOf('Validating', 'conf', [hookAt(webhook, { timeoutSeconds: 21 })]);
  const { code } = await api.call('PATCH', `${at}/conf`, { body });
  expect(code).toBe(200);
  expect((await createMap()).code).toBe(201);
  letGo?.();
  expect(await slow).toMatchObject({ code: 201 });
  expect(webhook.asked.filter(({ review }) => review.request.name === 'm-slow')).toHaveLength(1);
});
